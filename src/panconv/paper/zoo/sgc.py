"""SGC: logistic regression on features that were averaged K times over the neighbours, softmax(Âᴷ·X·W).

Wu et al., Simplifying graph convolutional networks, ICML 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import SGConv

from panconv.graph import Adjacency
from panconv.paper.zoo.stack import edges, trained_by_fit


class OnOperator(SGConv):  # type: ignore[misc]
    """PyG's layer with the edge weights as they stand in place of Â; where there are none, they are 1."""

    _cached_x: Tensor | None

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if self._cached_x is None:
            edge_weight = x.new_ones(edge_index.size(1)) if edge_weight is None else edge_weight
            for _ in range(self.K):
                x = self.propagate(edge_index, x=x, edge_weight=edge_weight)
            self._cached_x = x
        return super().forward(x, edge_index, edge_weight)


class Regression(nn.Module):
    """The one layer; it keeps Âᴷ·X."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        return self.layer(x, *edges(adj))


def network(how: Mapping[str, Any], inputs: int, classes: int) -> nn.Module:
    return Regression((SGConv if how["normalize"] else OnOperator)(inputs, classes, how["K"], cached=True))


train = trained_by_fit(network)
