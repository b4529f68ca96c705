"""LP: labels spread along the edges while those that are known stay: F ← α·P·F + (1−α)·Y with P = D⁻¹A, then F = Y on
the training nodes. With α = 1 its limit is the harmonic function, whose value is the mean over the neighbours.

Zhu, Ghahramani & Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.classical import classes, labels, operator
from panconv.paper.zoo.stack import How, Seeds, Tell, silent


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    P = operator(data, "D⁻¹A", how["normalize"])
    nodes, hot = labels(data)
    return classes(propagated(P, hot, nodes, how["steps"], how["alpha"]), len(seeds))


def propagated(P: sp.csr_matrix, hot: np.ndarray, nodes: np.ndarray, steps: int, alpha: float) -> np.ndarray:
    """The scores of each class after so many steps, (N, C), with the rows of `nodes` held."""
    scores = hot
    for _ in range(steps):
        scores = alpha * (P @ scores) + (1 - alpha) * hot
        scores[nodes] = hot[nodes]
    return scores
