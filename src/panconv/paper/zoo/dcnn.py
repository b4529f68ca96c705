"""DCNN: features diffuse over the graph, each hop and feature has a weight of its own, a dense layer reads them all:

    softmax(W^d · tanh(W^c ⊙ [X, P·X, …, P^H·X])),   P = D⁻¹A.

Atwood & Towsley, Diffusion-convolutional neural networks, NIPS 2016.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import Linear

from panconv.nn import Dropout
from panconv.paper.zoo.operator import operands, powers
from panconv.paper.zoo.stack import How, Seeds, Tell, fitted_alone, silent


class Diffusion(nn.Module):
    """The diffusion-convolution and the dense layer of one trial, on diffused features z (n, (H+1)·F)."""

    def __init__(self, width: int, classes: int, p: float) -> None:
        super().__init__()
        self.hop_weight = nn.Parameter(torch.empty(width).normal_())  # W^c, of each hop and feature
        self.dense = Linear(width, classes, weight_initializer="glorot")
        self.dropout = Dropout(p)

    def forward(self, z: Tensor, *edges: Any) -> Tensor:
        return self.dense(self.dropout(torch.tanh(self.hop_weight * z)))


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    z = torch.cat([*powers(operands(data, how, "D⁻¹A", device), data.x.float().to(device), how["hops"])], dim=-1)
    return fitted_alone(partial(Diffusion, p=how["dropout"]), z, data, how, seeds, device, tell)
