"""High temperature: two layers of the paper's prototype of its hot limit, X' = (I + ψ₁ψ₁ᵀ)·X·W, in which a
node has its own features and those of its whole component, by the Perron vector ψ₁ of A; trained as GCN is.

Ma, Li & Wang, PAN: path integral based convolution for deep graph neural networks, 2019, Section 3.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.graph import Adjacency
from panconv.nn import HighTemperatureConv
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.stack import How, Layers, trained_by_fit
from panconv.paper.zoo.symmetric import undirected
from panconv.spectral import perron


class Hot(Layers):
    """Two layers on a graph whose Perron vector is known."""

    def __init__(self, how: How, inputs: int, classes: int, adj: Adjacency) -> None:
        first, second = HighTemperatureConv(inputs, how["hidden"]), HighTemperatureConv(how["hidden"], classes)
        super().__init__(first, second, how["dropout"])
        self._adj = adj

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        x = F.relu(self.first(self.drop_input(x), self._adj))
        return self.second(self.drop_hidden(x), self._adj)


def known(data: Data, how: How, device: str) -> tuple[Adjacency]:
    """The graph, without directions, and the Perron vector kept on it: found here once for all trials and epochs."""
    adj = undirected(graph(data, device))
    perron(adj)
    return (adj,)


train = trained_by_fit(Hot, known)
