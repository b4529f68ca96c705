"""S²GC: logistic regression on the mean of the features after 1, …, K averages over the neighbours,

    softmax((α·X + (1 − α)/K · Σₖ Âᵏ·X)·W).

Zhu & Koniusz, Simple spectral graph convolution, ICLR 2021.
"""

from __future__ import annotations

from itertools import islice

from torch import Tensor
from torch_geometric.data import Data

from panconv.graph.csr import CSR
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import powers, renormalized
from panconv.paper.zoo.stack import How, Seeds, Tell, fitted_alone, silent


def averaged(matrix: tuple[CSR, CSR], x: Tensor, K: int, alpha: float) -> Tensor:
    """α·X + (1 − α)/K · Σₖ Âᵏ·X, for k = 1 … K."""
    total = alpha * x
    for power in islice(powers(matrix, x, K), 1, None):
        total = total + (1 - alpha) / K * power
    return total


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    z = averaged(renormalized(data, how, device), data.x.float().to(device), how["K"], how["alpha"])
    return fitted_alone(Blind, z, data, how, seeds, device, tell)
