"""S²GC: logistic regression on the mean of the features after 1, …, K averages over the neighbours,

    softmax((α·X + (1 − α)/K · Σₖ Âᵏ·X)·W).

Zhu & Koniusz, Simple spectral graph convolution, ICLR 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import Tell, fitted_alone


def averaged(matrix: tuple[CSR, CSR], x: Tensor, K: int, alpha: float) -> Tensor:
    """α·X + (1 − α)/K · Σₖ Âᵏ·X, for k = 1 … K."""
    power, total = x, alpha * x
    for _ in range(K):
        power = spmm(*matrix, power)
        total = total + (1 - alpha) / K * power
    return total


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    z = averaged(renormalized(data, how, device), data.x.float().to(device), how["K"], how["alpha"])
    return fitted_alone(Blind, z, data, how, seeds, device, tell)
