"""MLP: two layers that see a node's own features and no edges, softmax(ReLU(X·W₀)·W₁).

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, table 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import Linear

from panconv.paper.zoo.stack import Layers, trained_by_fit


class Blind(Linear):  # type: ignore[misc]
    """A linear map that is handed the edges and takes no notice."""

    def forward(self, x: Tensor, *edges: Any) -> Tensor:
        return super().forward(x)


def network(how: Mapping[str, Any], inputs: int, classes: int) -> nn.Module:
    sizes = (inputs, how["hidden"]), (how["hidden"], classes)
    first, second = (Blind(*size, weight_initializer="glorot", bias_initializer="zeros") for size in sizes)
    return Layers(first, second, how["dropout"])


train = trained_by_fit(network)
