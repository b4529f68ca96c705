"""MLP: two layers that see a node's own features and no edges, softmax(ReLU(X·W₀)·W₁).

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, table 2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor
from torch_geometric.nn import Linear

from panconv.paper.zoo.stack import trained_in_two_layers


class Blind(Linear):  # type: ignore[misc]
    """A linear map that may be handed the edges and takes no notice."""

    def forward(self, x: Tensor, *edges: Any) -> Tensor:
        return super().forward(x)


blind = partial(Blind, weight_initializer="glorot", bias_initializer="zeros")
train = trained_in_two_layers(lambda data, how, device: blind)
