"""APPNP: a network predicts from a node's own features, H = MLP(X), and what it predicts is then propagated,

    Z ← (1 − α)·Â·Z + α·H,   K times from Z = H.

Klicpera, Bojchevski & Günnemann, Predict then propagate: graph neural networks meet personalized PageRank, ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import Layers, Tell, fitted


class Propagated(Layers):
    """The network of two layers, and K steps behind it.

    Args:
        first, second: its layers, which see no edges.
        p: of the dropout before each of them.
        matrix: Â and its transpose.
        K: steps.
        alpha: how much of the prediction comes back at each.
    """

    def __init__(
        self, first: nn.Module, second: nn.Module, p: float, matrix: tuple[CSR, CSR], K: int, alpha: float
    ) -> None:
        super().__init__(first, second, p)
        self._matrix, self.K, self.alpha = matrix, K, alpha

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        z = predicted = super().forward(x, adj)
        for _ in range(self.K):
            z = (1 - self.alpha) * spmm(*self._matrix, z) + self.alpha * predicted
        return z


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    matrix, hidden = renormalized(data, how, device), how["hidden"]

    def make(inputs: int, classes: int) -> nn.Module:
        first, second = Blind(inputs, hidden), Blind(hidden, classes)
        return Propagated(first, second, how["dropout"], matrix, how["K"], how["alpha"])

    return fitted(make, data, how, seeds, device, tell)
