"""GAT: a node weighs its neighbours by a trained score, hᵢ = Σⱼ αᵢⱼ·W·xⱼ, αᵢⱼ ∝ exp(LeakyReLU(aᵀ[W·xᵢ ‖ W·xⱼ])).

Several such heads stand side by side, joined in the first layer and averaged in the second. Veličković et al., Graph
attention networks, ICLR 2018.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.paper.zoo.convs import GAT, Pattern, plus
from panconv.paper.zoo.operator import graph, with_loops
from panconv.paper.zoo.stack import How, Layers, trained_by_fit


class Averaged(GAT):
    """A layer whose heads are averaged, each as wide as the output."""

    def __init__(self, inputs: int, outputs: int, pattern: Pattern, heads: int, p: Any) -> None:
        super().__init__(inputs, heads * outputs, pattern, heads, bias=False, p=p)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return plus(torch.stack(self._heads(x)).mean(0), self.bias)


def network(how: How, inputs: int, classes: int, pattern: Pattern) -> nn.Module:
    """Two layers on a graph with its self-loops."""
    width, heads, p = how["heads"] * how["hidden"], how["heads"], how["dropout"]
    first = GAT(inputs, width, pattern, heads, p=p)
    return Layers(first, Averaged(width, classes, pattern, how["out_heads"], p), p, activation=F.elu)


def pattern(data: Data, how: How, device: str) -> tuple[Pattern]:
    return (Pattern.of(graph(with_loops(data), device)),)


train = trained_by_fit(network, pattern)
