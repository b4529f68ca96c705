"""What a graph says of its nodes where no table does: degree, core number, walks. A few products with A in all."""

from __future__ import annotations

import numpy as np

from panconv.data.graph import Graph
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paths import Walks
from panconv.weights import PowerLaw

LENGTHS = (2, 4, 8)
NAMES = (
    *("log degree", "log out-degree", "core number"),
    *(f"log Z, L = {L}" for L in LENGTHS),
    *(f"mean path length, L = {LENGTHS[-1]}", "return after 2 steps"),
)


def structural(graph: Graph) -> dict[str, np.ndarray]:
    """Features of the nodes from the edges alone, (N,) each.

    >>> from panconv import read
    >>> structural(read([("hub", "a"), ("hub", "b"), ("a", "b"), ("b", "c")]))["core number"].tolist()
    [2.0, 2.0, 2.0, 1.0]
    """
    # Of a directed graph the ends count both ways: a node that only sends has neighbours too.
    ends = graph.edge_index.numpy()
    plain = Adjacency.from_edge_index(graph.edge_index, num_nodes=graph.num_nodes)
    found = {"log degree": np.log1p(np.bincount(ends[1], minlength=graph.num_nodes))}
    if graph.directed:
        found["log out-degree"] = np.log1p(np.bincount(ends[0], minlength=graph.num_nodes))
    found["core number"] = core_numbers(ends, graph.num_nodes).astype(np.float64)
    for L in LENGTHS:
        M = MET(Walks(plain, L), PowerLaw(L, trained=False), method=1)
        found[f"log Z, L = {L}"] = M.log_partition.double().numpy()
    found[f"mean path length, L = {LENGTHS[-1]}"] = M.mean_path_length.double().numpy()
    found["return after 2 steps"] = _return(ends, graph.num_nodes, graph.directed)
    return found


def _return(ends: np.ndarray, N: int, directed: bool) -> np.ndarray:
    """(P²)ᵢᵢ of the generic walk: Σⱼ PᵢⱼPⱼᵢ, which is a sum over edges that lead both ways."""
    s, t = ends
    degree = np.bincount(t, minlength=N)
    both = np.isin(s * N + t, t * N + s) if directed else np.ones(len(s), bool)
    return np.bincount(t[both], 1 / degree[t[both]] / degree[s[both]], minlength=N)


def core_numbers(ends: np.ndarray, N: int) -> np.ndarray:
    """The largest k for which a node is in a part of the graph where all have k neighbours, (N,) int64.

    Nodes of the least degree are taken away, many at a time (Batagelj and Zaversnik, 2003).
    """
    pairs = np.stack(np.divmod(np.unique(np.concatenate([ends[0] * N + ends[1], ends[1] * N + ends[0]])), N))
    start = np.concatenate([[0], np.cumsum(np.bincount(pairs[0], minlength=N))])
    degree, core, there = np.diff(start), np.zeros(N, np.int64), np.ones(N, bool)
    left = np.arange(N)
    while left.size:
        k = int(degree[left].min())
        front = left[degree[left] <= k]
        while front.size:
            core[front], there[front] = k, False
            near = pairs[1, _spans(start[front], start[front + 1])]
            near, count = np.unique(near[there[near]], return_counts=True)
            degree[near] -= count
            front = near[degree[near] <= k]
        left = left[there[left]]
    return core


def _spans(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """start₀ … end₀ − 1, start₁ … end₁ − 1, … in one array."""
    size = end - start
    return np.repeat(end - np.cumsum(size), size) + np.arange(size.sum())
