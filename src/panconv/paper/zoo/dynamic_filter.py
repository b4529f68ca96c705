"""DynamicFilter: which of H filters a neighbour meets is decided by the features of both ends of the edge,

    x'_i = b + 1/|N_i| · Σ_{j ∈ N_i} Σ_h q_h(x_i, x_j)·W_h·x_j,   q = softmax_h(u_h·(x_j − x_i) + c_h).

Verma, Boyer & Verbeek, FeaStNet: feature-steered graph convolutions for 3D shape analysis, CVPR 2018.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import FeaStConv

from panconv.graph import Adjacency
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.stack import How, Make, edges, trained_in_two_layers


class Steered(FeaStConv):  # type: ignore[misc]
    """PyG's layer on one graph, with W·x and u·x made per node, not per edge: the same sum, a tenth of the time.

    Args:
        inputs, outputs: of the layer.
        heads: H.
        loops: the graph with its self-loops.
    """

    propagate_type = {"z": Tensor, "s": Tensor}  # noqa: RUF012 (what PyG reads to make `propagate`)

    def __init__(self, inputs: int, outputs: int, heads: int, loops: Adjacency) -> None:
        super().__init__(inputs, outputs, heads, add_self_loops=False)
        self._edge_index = edges(loops)[0]

    def forward(self, x: Tensor) -> Tensor:
        return self.propagate(self._edge_index, z=self.lin(x), s=self.u(x)) + self.bias

    def message(self, z_j: Tensor, s_i: Tensor, s_j: Tensor) -> Tensor:
        q = (s_j - s_i + self.c).softmax(dim=-1)  # (E, H)
        return (z_j.unflatten(-1, (self.heads, -1)) * q.unsqueeze(-1)).sum(dim=1)


def layer(data: Data, how: How, device: str) -> Make:
    return partial(Steered, heads=how["heads"], loops=graph(data, device).base("A+I"))


train = trained_in_two_layers(layer)
