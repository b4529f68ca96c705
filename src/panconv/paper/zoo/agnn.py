"""AGNN: H = ReLU(X·W₀), then propagation H ← P·H by attention of one number β per layer, then softmax(H·W₁).

Pᵢⱼ ∝ exp(β·cos(hᵢ, hⱼ)) over the neighbours j of i and i itself. Thekumparampil, Wang, Oh & Li, Attention-based graph
neural network for semi-supervised learning, 2018.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import AGNNConv

from panconv.graph import Adjacency
from panconv.paper.zoo.mlp import blind
from panconv.paper.zoo.operator import with_loops
from panconv.paper.zoo.stack import How, Layers, edges, trained_by_fit


class Attentive(Layers):
    """A linear map, layers of propagation, a linear map, with dropout before each map.

    Args:
        how: hidden, dropout, layers (of propagation), and fixed: how many of them, from the first, have a β of 0 that
            is not trained: a mean over the neighbours.
        inputs, classes: the numbers of features and classes.
    """

    def __init__(self, how: How, inputs: int, classes: int) -> None:
        layers, fixed = how["layers"], how["fixed"]
        if fixed > layers:
            raise ValueError(f"fixed must be at most layers, got fixed = {fixed} and layers = {layers}")
        super().__init__(blind(inputs, how["hidden"]), blind(how["hidden"], classes), how["dropout"])
        self.propagations = nn.ModuleList(
            AGNNConv(requires_grad=layer >= fixed, add_self_loops=False) for layer in range(layers)
        )
        for layer in range(fixed):
            self.propagations[layer].beta.zero_()  # type: ignore[operator]

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        x = self.first(self.drop_input(x)).relu()
        for propagation in self.propagations:
            x = propagation(x, edges(adj)[0])
        return self.second(self.drop_hidden(x))


train = trained_by_fit(Attentive, shown=lambda data, how: with_loops(data))
