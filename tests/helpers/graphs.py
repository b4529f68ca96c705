"""Random graphs for hypothesis, and the dense references that the package is held against."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from panconv.met.reference import Problem, answer
from panconv.met.reference.transition import METHODS as REFERENCE
from panconv.met.reference.transition import base_of, operator_of

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


def problem_of(A: Tensor, w: Tensor, method: int, family: str = "walks") -> Problem:
    """M of a graph, with fixed weights by length, as a question to the reference."""
    receiver, sender = A.nonzero(as_tuple=True)
    given: dict[str, Any] = {"edge_weight": A[receiver, sender].double().numpy(), "edge_dtype": "float64"}
    given |= {"num_nodes": len(A), "duplicates": "add", "family": family, "width": None, "kind": "fixed"}
    edges, weights = torch.stack([sender, receiver]).numpy(), w.detach().double().numpy().astype(np.longdouble)
    return Problem(edges, L=len(w) - 1, method=method, weights=weights, quantity="to_sparse", **given)


def dense_met(A: Tensor, w: Tensor, method: int, family: str = "walks") -> tuple[Tensor, Tensor]:
    """M of the reference, and Z = Σₙ wₙ D_n."""
    problem = problem_of(A, w, method, family)
    if not len(A):
        return A, A.new_zeros(0)
    D, E = operator_of(problem)[1:3]
    Z = problem.weights[: len(E)] @ (D.value() * np.exp2(E.astype(np.longdouble)))
    return _tensor(answer(problem).value), _tensor(Z)


def dense_base(A: Tensor, base: str) -> Tensor:
    """A base of the reference."""
    method = next(method for method, (its, _, _) in REFERENCE.items() if its == base)
    return _tensor(base_of(problem_of(A, torch.ones(1), method)).B.value()) if len(A) else A


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


def _tensor(values: Any) -> Tensor:
    return torch.from_numpy(values.astype(np.float64))


# A small graph with a bit of everything that is legal: weights aside.
TRIANGLE_AND_TAIL = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])  # 4 nodes, undirected


def undirected(graph: Graph) -> Graph:
    """The graph with every edge in both directions, of equal weight."""
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    weight = graph.edge_weight
    return Graph(edges, None if weight is None else weight.repeat(2), graph.num_nodes)
