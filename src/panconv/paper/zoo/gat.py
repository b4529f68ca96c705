"""GAT: a node weighs its neighbours by a trained score, hᵢ = Σⱼ αᵢⱼ·W·xⱼ, αᵢⱼ ∝ exp(LeakyReLU(aᵀ[W·xᵢ ‖ W·xⱼ])).

Several such heads stand side by side, joined in the first layer and averaged in the second. Veličković et al., Graph
attention networks, ICLR 2018.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from panconv.compute.features import SparseRows
from panconv.nn import Dropout
from panconv.paper.zoo.operator import with_loops
from panconv.paper.zoo.stack import How, Layers, trained_by_fit


class Attention(GATConv):  # type: ignore[misc]
    """PyG's layer, on edges that have the self-loops already, with a dropout of the coefficients that is keyed."""

    def __init__(self, inputs: int, outputs: int, heads: int, p: float, *, concat: bool) -> None:
        super().__init__(inputs, outputs, heads, concat=concat, add_self_loops=False)
        self.drop = Dropout(p)

    def forward(self, x: Tensor | SparseRows, *edges: Any) -> Tensor:
        return super().forward((x, x) if isinstance(x, SparseRows) else x, *edges)  # PyG asks only tensors for a shape

    def message(self, x_j: Tensor, alpha: Tensor) -> Tensor:
        return super().message(x_j, self.drop(alpha))


def network(how: How, inputs: int, classes: int) -> nn.Module:
    hidden, heads, p = how["hidden"], how["heads"], how["dropout"]
    first = Attention(inputs, hidden, heads, p, concat=True)
    second = Attention(heads * hidden, classes, how["out_heads"], p, concat=False)
    return Layers(first, second, p, activation=F.elu)


train = trained_by_fit(network, shown=lambda data, how: with_loops(data))
