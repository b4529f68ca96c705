"""MoNet: the filter of an edge is a mixture of Gaussians in pseudo-coordinates u_ij = (deg_i^−½, deg_j^−½) of its ends,

    x'_i = b + Σ_{j ∈ N_i} a_ij Σ_k exp(−½ ‖(ũ_ij − μ_k) / σ_k‖²)·x_j·W_k,   ũ = tanh(B·u + c).

Monti et al., Geometric deep learning on graphs and manifolds using mixture model CNNs, CVPR 2017.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GMMConv

from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.paper.zoo.operator import operator
from panconv.paper.zoo.stack import How, Make, edges, trained_in_two_layers


class Patches(NamedTuple):
    """The neighbourhoods, and where in them each neighbour lies."""

    edge_index: Tensor  # (2, E)
    place: Tensor  # (E, 2), the pseudo-coordinates
    weight: Tensor  # (E,)

    @staticmethod
    def of(adj: Adjacency, mean: bool) -> Patches:
        """Of a graph. Its degrees are weighted where it is; `mean` divides the weights by their sum in a patch."""
        a, _ = adj.operands(torch.float32)
        value, degree = a.value, a.row_sums()
        root = torch.where(degree > 0, degree.clamp(min=1e-12).rsqrt(), 0)
        place = torch.stack([root[adj.row], root[adj.col]], dim=-1)
        return Patches(edges(adj)[0], place, value / degree[adj.row] if mean else value)


class Mixture(GMMConv):  # type: ignore[misc]
    """PyG's layer on the patches of one graph, with the pseudo-coordinates trained as the paper has them.

    Args:
        inputs, outputs: of the layer.
        kernels: K.
        patches: of the graph.
    """

    def __init__(self, inputs: int, outputs: int, kernels: int, patches: Patches) -> None:
        super().__init__(inputs, outputs, dim=2, kernel_size=kernels, aggr="add", root_weight=False)
        self.root = None  # the layer looks for it though it was told that there is none
        self.coordinates = nn.Linear(2, 2)
        self._patches = patches
        nn.init.ones_(self.sigma)  # Glorot's start has some Gaussians so narrow that no edge is in them

    def forward(self, x: Tensor | SparseRows) -> Tensor:
        edge_index, place, weight = self._patches
        described = torch.cat([torch.tanh(self.coordinates(place)), weight.unsqueeze(-1)], dim=-1)  # (E, 3)
        return super().forward((x, None) if isinstance(x, SparseRows) else x, edge_index, described)

    def message(self, x_j: Tensor, edge_attr: Tensor) -> Tensor:
        return super().message(x_j, edge_attr[:, :2]) * edge_attr[:, 2:]


def layer(data: Data, how: How, device: str) -> Make:
    patches = Patches.of(operator(data, how, "A+I", device), mean=how["mean"] and how["normalize"])
    return partial(Mixture, kernels=how["kernels"], patches=patches)


train = trained_in_two_layers(layer)
