"""A graph as a pool is handed it, an edge_index with weights or an `Adjacency`, and what is left of it, as the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.graph.induced import induced, induced_edges
from panconv.graph.reading import checked_edges, checked_weights
from panconv.met import MET
from panconv.met.entries import among

Left = tuple[Any, Tensor | None]  # the second and third of what PyG's pools return


class Handed(NamedTuple):
    """An edge_index (2, E) with weights (E,) or none; or in its place an `Adjacency`."""

    edges: Tensor | Adjacency
    weight: Tensor | None = None

    @staticmethod
    def is_edge_index(graph: Any) -> bool:
        """Whether a graph is an edge_index, and so comes back as one."""
        return isinstance(graph, (Tensor, np.ndarray)) and getattr(graph, "layout", torch.strided) == torch.strided

    @staticmethod
    def of_edges(edge_index: Any, edge_weight: Any, num_nodes: int) -> Handed:
        """Edges as they were given, in their order, none of them joined."""
        edges, _ = checked_edges(edge_index, num_nodes)
        if edge_weight is not None:
            weight = checked_weights(edge_weight, edges.size(1), validate=False)
            edge_weight = edge_weight if isinstance(edge_weight, Tensor) else weight
        return Handed(edges, edge_weight)

    def induced(self, nodes: Tensor, num_nodes: int) -> Left:
        """The edges with both ends among the nodes (K,), which are numbered as they come."""
        if isinstance(self.edges, Adjacency):
            return induced(self.edges, nodes), None
        return induced_edges(self.edges, self.weight, nodes, num_nodes)

    def paths(self, M: MET, nodes: Tensor, group: Tensor, dtype: torch.dtype) -> Left:
        """The entries of M between the nodes, as edges from senders to receivers and what they weigh."""
        row, col, value = among(M, nodes, group, remedy="use edges='induced' or a smaller L, or keep fewer nodes")
        edges, weight = torch.stack([col, row]), value.to(dtype)
        if not isinstance(self.edges, Adjacency):
            return edges, weight
        return Adjacency.from_edge_index(edges, weight, nodes.numel(), loops=self.edges.loops), None
