"""Undirected graphs for hypothesis, and their Perron vectors by dense algebra."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import torch
from graphs import Graph, graphs
from hypothesis import strategies as st
from torch import Tensor

from panconv import Adjacency


@dataclass
class Undirected(Graph):
    def adjacency(self) -> Adjacency:
        return Adjacency.from_edge_index(self.edge_index, self.edge_weight, self.num_nodes)

    def has_edges(self) -> bool:
        return bool((self.dense() > 0).any())


@st.composite
def undirected(draw, edges: bool = False, **options) -> Undirected:
    """Weighted or not, with isolated nodes, self-loops, edges of weight 0; with `edges`, at least one that carries."""
    graph = draw(graphs(**options))
    weight = None if graph.edge_weight is None else graph.edge_weight.repeat(2)
    made = Undirected(torch.cat([graph.edge_index, graph.edge_index.flip(0)], 1), weight, graph.num_nodes)
    if edges and not made.has_edges():
        N = max(made.num_nodes, 2)
        made = Undirected(torch.tensor([[0, N - 1], [N - 1, 0]]), None, N)
    return made


def components(A: Tensor) -> list[list[int]]:
    return [sorted(c) for c in nx.connected_components(nx.from_numpy_array(A.numpy()))]


def dense_perron(A: Tensor) -> tuple[Tensor, Tensor]:
    """The positive unit eigenvector of each component and its eigenvalue, both (N,)."""
    psi, value = torch.ones(len(A), dtype=A.dtype), torch.zeros(len(A), dtype=A.dtype)
    for nodes in components(A):
        values, vectors = torch.linalg.eigh(A[nodes][:, nodes])
        if values[-1] > 0:
            psi[nodes], value[nodes] = vectors[:, -1].abs(), values[-1]
    return psi, value


def undirected_edges(graph: nx.Graph) -> Tensor:
    """Both directions of a networkx graph's edges, (2, E)."""
    edges = torch.tensor(list(graph.edges)).T
    return torch.cat([edges, edges.flip(0)], 1)
