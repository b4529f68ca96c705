"""MLP: two layers that see a node's own features and no edges, softmax(ReLU(X·W₀)·W₁).

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, table 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import Linear

from panconv.zoo.stack import Layers, Tell, fitted


class Blind(Linear):  # type: ignore[misc]
    """A linear map that is handed the edges and takes no notice."""

    def forward(self, x: Tensor, *edges: Any) -> Tensor:
        return super().forward(x)


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    hidden = how["hidden"]

    def make(inputs: int, classes: int) -> nn.Module:
        first, second = (Blind(*sizes, weight_initializer="glorot") for sizes in ((inputs, hidden), (hidden, classes)))
        return Layers(first, second, how["dropout"])

    return fitted(make, data, how, seeds, device, tell)
