"""ChebNet: a layer is a polynomial of the Laplacian, Σₖ Tₖ(L̃)·X·Θₖ, with Chebyshev's Tₖ and L̃ = 2L/λ − I.

Defferrard, Bresson & Vandergheynst, Convolutional neural networks on graphs with fast localized spectral filtering,
NIPS 2016; in two layers as Kipf & Welling, ICLR 2017, measured it.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import ChebConv

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo.convs import plus
from panconv.paper.zoo.operator import operator
from panconv.paper.zoo.stack import How, trained_by_fit, two_layers

_STEPS = 100  # of the power iteration: the scale of a polynomial's argument need not be exact


class Filter(ChebConv):  # type: ignore[misc]
    """PyG's layer on L̃ and its transpose, summed by Clenshaw's scheme.

    That puts the products with L̃ behind those with Θₖ, where a row has the width of the output and not that of a
    dictionary: for K matrices K − 1 products, as ever.
    """

    def __init__(self, inputs: int, outputs: int, K: int, a: CSR, a_t: CSR) -> None:
        super().__init__(inputs, outputs, K)
        self._matrix = a, a_t

    def forward(self, x: Tensor) -> Tensor:
        maps = list(self.lins)
        later, last = None, maps.pop()(x)
        while maps:  # bₖ = X·Θₖ + 2·L̃·bₖ₊₁ − bₖ₊₂, and at the end, for k = 0, L̃·b₁ once
            term, product = maps.pop()(x), spmm(*self._matrix, last)
            term = term + (2 * product if maps else product)
            later, last = last, term if later is None else term - later
        return plus(last, self.bias)


def network(how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> nn.Module:
    return two_layers(how, inputs, classes, partial(Filter, K=how["K"], a=a, a_t=a_t))


def scaled(data: Data, how: How, device: str = "cpu") -> tuple[CSR, CSR]:
    """L̃ and its transpose, for L = I − P, or with M in place of P for L = I − M/ρ(M): at λ = 2 that is −P, and
    −M/ρ(M)."""
    adj = operator(data, how, "D^−½AD^−½", device)
    scale = -1 if how["normalize"] else -1 / radius(adj)
    a, a_t = adj.operands(torch.float32)
    return a._replace(value=scale * a.value), a_t._replace(value=scale * a_t.value)


def radius(adj: Adjacency) -> Tensor:
    """The spectral radius of |M|, at least that of M, by products with it."""
    a, a_t = (part._replace(value=part.value.abs()) for part in adj.operands(torch.float64))
    v = torch.ones(adj.num_nodes, 1, dtype=torch.float64, device=adj.device)
    largest = v.new_ones(())
    for _ in range(_STEPS):
        v = spmm(a, a_t, v)
        largest = v.max().clamp(min=torch.finfo(v.dtype).tiny)
        v = v / largest
    return largest


train = trained_by_fit(network, scaled)
