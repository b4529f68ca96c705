"""Random graphs for hypothesis, and the dense references that the package is held against."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, permutations

import networkx as nx
import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from panconv import METHODS

# torch's own compiler wants a C++ compiler at run time; the tracing before it does not.
_no_compiler = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="no C++ compiler"
)
COMPILERS = ["aot_eager", pytest.param("inductor", marks=_no_compiler)]


@dataclass
class Graph:
    edge_index: Tensor  # (2, E)
    edge_weight: Tensor | None  # (E,)
    num_nodes: int

    def dense(self) -> Tensor:
        """A[receiver, sender], edge by edge: repeated edges are one edge, or add where they are weighted."""
        A = torch.zeros(self.num_nodes, self.num_nodes, dtype=torch.float64)
        for e, (source, target) in enumerate(self.edge_index.T.tolist()):
            if self.edge_weight is None:
                A[target, source] = 1
            else:
                A[target, source] += self.edge_weight[e]
        return A


@st.composite
def graphs(draw, min_nodes: int = 0, max_nodes: int = 7, weighted: bool | None = None, zeros: bool = True) -> Graph:
    """Directed or undirected, weighted or not, with isolated nodes, self-loops, repeated edges; empty, one node.

    With `zeros`, a weight may be 0: an edge that is stored and carries nothing. There Z and D_n may be 0, where 1/0 is
    0 and no derivative exists, so gradients are checked without.
    """
    N = draw(st.integers(min_nodes, max_nodes))
    node = st.integers(0, max(N - 1, 0))
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * N)) if N else []
    if draw(st.booleans()):
        pairs += [(b, a) for a, b in pairs]
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        numbers = st.floats(0.125, 4, width=32) | st.just(0.0) if zeros else st.floats(0.125, 4, width=32)
        weight = torch.tensor([draw(numbers) for _ in pairs], dtype=torch.float64)
    return Graph(torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T, weight, N)


def inverse(v: Tensor, power: float) -> Tensor:
    """v^−power, where 1/0 is 0."""
    return torch.where(v == 0, 0.0, v.abs().clamp(min=1e-300) ** -power)


def dense_base(A: Tensor, base: str) -> Tensor:
    if base == "D⁻¹A":
        return inverse(A.sum(1), 1)[:, None] * A
    B = A + torch.eye(len(A), dtype=A.dtype) if base in ("A+I", "Â") else A
    root = inverse(B.sum(1), 0.5)
    return root[:, None] * B * root[None, :] if base in ("Â", "D^−½AD^−½") else B


def powers(B: Tensor, L: int) -> list[Tensor]:
    """G(n) of walks."""
    return [torch.linalg.matrix_power(B, n) for n in range(L + 1)]


def enumerated(B: Tensor, L: int, kind: str) -> list[Tensor]:
    """G(n) of shortest or self-avoiding paths, path by path."""
    N = len(B)
    graph = nx.DiGraph([(j, i) for i, j in B.nonzero().tolist() if i != j])  # an edge from its sender to its receiver
    graph.add_nodes_from(range(N))
    G = [torch.eye(N, dtype=B.dtype), *(torch.zeros_like(B) for _ in range(L))]
    for i, j in permutations(range(N), 2):
        if kind == "shortest":
            found = nx.all_shortest_paths(graph, j, i) if nx.has_path(graph, j, i) else []
        else:
            found = nx.all_simple_paths(graph, j, i, cutoff=L) if L else []
        for path in found:
            if len(path) <= L + 1:
                G[len(path) - 1][i, j] += math.prod(float(B[to, of]) for of, to in pairwise(path))
    return G


def dense_met(A: Tensor, w: Tensor, method: int, paths: Callable[[Tensor, int], list[Tensor]] = powers):
    """M and Z of the paper's appendix, written out with dense G(n)."""
    rule = METHODS[method]
    B = dense_base(A, rule.base)
    M, Z = torch.zeros_like(A), A.new_zeros(len(A))
    for n, G in enumerate(paths(B, len(w) - 1)):
        D = G.sum(1)
        Z = Z + w[n] * D
        if rule.per_length == "row":
            G = inverse(D, 1)[:, None] * G
        elif rule.per_length == "sym":
            G = inverse(D, 0.5)[:, None] * G * inverse(D, 0.5)[None, :]
        M = M + w[n] * G
    if rule.overall == "row":
        M = inverse(Z, 1)[:, None] * M
    elif rule.overall == "sym":
        M = inverse(Z, 0.5)[:, None] * M * inverse(Z, 0.5)[None, :]
    return M, Z


# A small graph with a bit of everything that is legal: weights aside.
TRIANGLE_AND_TAIL = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])  # 4 nodes, undirected


def undirected(graph: Graph) -> Graph:
    """The graph with every edge in both directions, of equal weight."""
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    weight = graph.edge_weight
    return Graph(edges, None if weight is None else weight.repeat(2), graph.num_nodes)
