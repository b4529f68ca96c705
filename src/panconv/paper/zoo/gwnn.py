"""GWNN: a spectral convolution in the basis of graph wavelets, X' = ReLU(ψ·F·ψ⁻¹·X·W), with F diagonal and trained.

ψ = U·exp(−sΛ)·Uᵀ and ψ⁻¹ = U·exp(sΛ)·Uᵀ are local and sparse, unlike the eigenvectors U of the Laplacian.
Xu, Shen, Cao, Qiu & Cheng, Graph wavelet neural network, ICLR 2019.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import Linear

from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.stack import How, Make, trained_in_two_layers
from panconv.paper.zoo.symmetric import symmetric
from panconv.paper.zoo.wavelets import Wavelets, wavelets


class WaveletConv(nn.Module):
    """ψ·F·ψ⁻¹·X·W, where F has one number for each wavelet, that is for each node."""

    def __init__(self, inputs: int, outputs: int, psi: Wavelets, inverse: Wavelets) -> None:
        super().__init__()
        self.psi, self.inverse = psi, inverse
        self.lin = Linear(inputs, outputs, bias=False, weight_initializer="glorot")
        self.filter = nn.Parameter(torch.ones(psi.scale.size(0), 1))  # (N, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.psi @ (self.filter * (self.inverse @ self.lin(x)))


def layer(data: Data, how: How, device: str) -> Make:
    M = symmetric(graph(data, device), "D^−½AD^−½" if how["normalize"] else None)
    psi, inverse = wavelets(M, how["s"], how["threshold"], how["order"], how["rows"])
    return partial(WaveletConv, psi=psi, inverse=inverse)


train = trained_in_two_layers(layer)
