"""AGNN: H = ReLU(X·W₀), then propagation H ← P·H by attention of one number β per layer, then softmax(H·W₁).

Pᵢⱼ ∝ exp(β·cos(hᵢ, hⱼ)) over the neighbours j of i and i itself. Thekumparampil, Wang, Oh & Li, Attention-based graph
neural network for semi-supervised learning, 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import AGNNConv, Linear

from panconv.graph import Adjacency
from panconv.nn import Dropout
from panconv.paper.zoo.loops import with_loops
from panconv.paper.zoo.stack import edges, trained_by_fit


class Attentive(nn.Module):
    """A linear map, layers of propagation, a linear map.

    Args:
        inputs, hidden, classes: widths.
        layers: of propagation.
        fixed: how many of them, from the first, have a β of 0 that is not trained: a mean over the neighbours.
        p: of the dropout, before each linear map.
    """

    def __init__(self, inputs: int, hidden: int, classes: int, layers: int, fixed: int, p: float) -> None:
        super().__init__()
        if fixed > layers:
            raise ValueError(f"fixed must be at most layers, got fixed = {fixed} and layers = {layers}")
        self.first, self.second = (
            Linear(*sizes, weight_initializer="glorot", bias_initializer="zeros")
            for sizes in ((inputs, hidden), (hidden, classes))
        )
        self.propagations = nn.ModuleList(
            AGNNConv(requires_grad=layer >= fixed, add_self_loops=False) for layer in range(layers)
        )
        for layer in range(fixed):
            self.propagations[layer].beta.zero_()  # type: ignore[operator]
        self.drop_input, self.drop_hidden = Dropout(p), Dropout(p)

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        x = self.first(self.drop_input(x)).relu()
        for propagation in self.propagations:
            x = propagation(x, edges(adj)[0])
        return self.second(self.drop_hidden(x))


def network(how: Mapping[str, Any], inputs: int, classes: int) -> nn.Module:
    return Attentive(inputs, how["hidden"], classes, how["layers"], how["fixed"], how["dropout"])


train = trained_by_fit(network, lambda data, how: with_loops(data))
