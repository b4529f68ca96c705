"""Graph-CNN: a filter of the vertices for each pair of features in and out, H = h₀·I + h₁·A, so that a layer is

    V' = Σ_c (h₀^(c)·I + h₁^(c)·A)·V^(c) + b = V·W₀ + A·V·W₁ + b.

Such et al., Robust spatial filtering with graph convolutional neural networks, IEEE JSTSP 2017.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn.inits import glorot

from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR
from panconv.paper.zoo.operator import operands
from panconv.paper.zoo.stack import How, Make, trained_in_two_layers


class VertexFilter(nn.Module):
    """Filters of the first order, one for each pair of features: x (N, F) → (N, O).

    Args:
        inputs, outputs: F and O.
        matrix: A and its transpose.
    """

    def __init__(self, inputs: int, outputs: int, matrix: tuple[CSR, CSR]) -> None:
        super().__init__()
        self._matrix = matrix
        self.taps = nn.Parameter(torch.empty(inputs, 2 * outputs))  # h₀ and h₁
        self.bias = nn.Parameter(torch.zeros(outputs))
        glorot(self.taps)

    def forward(self, x: Tensor) -> Tensor:
        own, sent = (x @ self.taps).chunk(2, dim=-1)  # (N, O) each: fewer columns to send than x has
        return own + spmm(*self._matrix, sent) + self.bias


def layer(data: Data, how: How, device: str) -> Make:
    return partial(VertexFilter, matrix=operands(data, how, how["base"], device))


train = trained_in_two_layers(layer)
