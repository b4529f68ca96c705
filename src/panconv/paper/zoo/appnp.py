"""APPNP: a network predicts from a node's own features, H = MLP(X), and what it predicts is then propagated,

    Z ← (1 − α)·Â·Z + α·H,   K times from Z = H.

Klicpera, Bojchevski & Günnemann, Predict then propagate: graph neural networks meet personalized PageRank, ICLR 2019.
"""

from __future__ import annotations

from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import How, Layers, trained_by_fit


class Propagated(Layers):
    """Two layers that see no edges, and K steps behind them.

    Args:
        how: hidden, dropout, K, and alpha: how much of the prediction comes back at each step.
        inputs, classes: the numbers of features and classes.
        a, a_t: Â and its transpose.
    """

    def __init__(self, how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> None:
        super().__init__(Blind(inputs, how["hidden"]), Blind(how["hidden"], classes), how["dropout"])
        self._matrix, self.K, self.alpha = (a, a_t), how["K"], how["alpha"]

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        z = predicted = super().forward(x, adj)
        for _ in range(self.K):
            z = (1 - self.alpha) * spmm(*self._matrix, z) + self.alpha * predicted
        return z


train = trained_by_fit(Propagated, renormalized)
