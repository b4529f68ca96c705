"""GCNII: a deep GCN whose every layer comes back to the input, and changes little by its own matrix,

    Z = (1 − α)·Â·H + α·H₀,   H ← ReLU((1 − βₗ)·Z + βₗ·Z·Wₗ),   βₗ = log(θ/l + 1),   H₀ = ReLU(X·W₀ + b).

Chen, Wei, Huang, Ding & Li, Simple and deep graph convolutional networks, ICML 2020.
"""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch_geometric.nn import Linear

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.nn import Dropout
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import How, trained_by_fit


class Residual(nn.Module):
    """Layers of one width between a linear map in front and one behind, with dropout before each of them.

    Args:
        how: hidden, layers, dropout, share (α, of the input), and identity (θ: the larger, the more a layer's own
            matrix counts).
        inputs, classes: the numbers of features and classes.
        a, a_t: Â and its transpose.
    """

    def __init__(self, how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> None:
        super().__init__()
        width, layers = how["hidden"], how["layers"]
        self._matrix, self.share = (a, a_t), how["share"]
        self.betas = [math.log(how["identity"] / layer + 1) for layer in range(1, layers + 1)]
        self.first, self.last = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.convs = nn.ModuleList(Linear(width, width, bias=False, weight_initializer="glorot") for _ in self.betas)
        self.drops = nn.ModuleList(Dropout(how["dropout"]) for _ in range(layers + 2))

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        h = start = self.first(self.drops[0](x)).relu()
        for conv, beta, drop in zip(self.convs, self.betas, self.drops[1:-1], strict=True):
            z = (1 - self.share) * spmm(*self._matrix, drop(h)) + self.share * start
            h = ((1 - beta) * z + beta * conv(z)).relu()
        return self.last(self.drops[-1](h))


train = trained_by_fit(Residual, renormalized)
