"""LP: labels spread along the edges while those that are known stay: F ← α·P·F + (1−α)·Y with P = D⁻¹A, then F = Y on
the training nodes, for so many steps. It is a damped propagation cut short, and no harmonic function: that is its limit
at α = 1, which `panconv.paper.zoo.harmonic` solves for.

The walk and the held labels are those of Zhu & Ghahramani, Learning from labeled and unlabeled data with label
propagation, 2002; the damping is that of Zhou et al., Learning with local and global consistency, NIPS 2003, who have
D^−½AD^−½ and hold no label. What the paper cites is Zhu, Ghahramani & Lafferty, ICML 2003.
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
