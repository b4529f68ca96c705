"""Shortest and self-avoiding paths: the time to build G(n) on the built-in graphs, and the ratio to networkx.

python benchmarks/paths.py

networkx enumerates path by path, so the two are compared on a graph where it can finish, on the same result.
"""

from __future__ import annotations

import time
from itertools import permutations

import networkx as nx
import torch
from measure import machine, median_ms

from panconv import Adjacency, SelfAvoidingPaths, ShortestPaths, load

FAMILIES = {"shortest": ShortestPaths, "self-avoiding": SelfAvoidingPaths}


def built(kind: str, edge_index: torch.Tensor, N: int, L: int) -> list[Adjacency]:
    """G(1) … G(L), from the edges on: nothing is kept from one call to the next."""
    return FAMILIES[kind](Adjacency.from_edge_index(edge_index, num_nodes=N), L).formed().G


def by_networkx(kind: str, graph: nx.Graph, L: int) -> list[int]:
    """The number of paths of each length 1 … L."""
    counts = [0] * (L + 1)
    near = dict(nx.all_pairs_shortest_path_length(graph, cutoff=L))
    for i, j in permutations(graph, 2):
        if j in near[i]:
            found = nx.all_shortest_paths(graph, i, j) if kind == "shortest" else nx.all_simple_paths(graph, i, j, L)
            for path in found:
                counts[len(path) - 1] += 1
    return counts[1:]


def main() -> None:
    print(f"G(1) … G(L), built once per graph; {machine()}\n")
    for name in ("cora", "citeseer", "pubmed"):
        data = load(name)
        for kind in FAMILIES:
            began = time.perf_counter()
            G = built(kind, data.edge_index, data.num_nodes, 3)
            seconds = time.perf_counter() - began
            entries = sum(matrix.num_edges for matrix in G)
            print(f"{name:<9} {kind:<14} L = 3   {seconds:6.2f} s   {entries:>10,} entries")
    graph = nx.barabasi_albert_graph(150, 3, seed=0)
    edges = torch.tensor(list(graph.edges)).T
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    print("\n150 nodes, 441 edges (Barabási–Albert), L = 3, median of 5")
    for kind in FAMILIES:
        ours = [int(matrix.operands(torch.float64)[0].value.sum()) for matrix in built(kind, edge_index, 150, 3)]
        assert ours == by_networkx(kind, graph, 3)
        ms = median_ms(
            {
                "panconv": lambda kind=kind: built(kind, edge_index, 150, 3),
                "networkx": lambda kind=kind: by_networkx(kind, graph, 3),
            },
            rounds=5,
            warmup=1,
        )
        ratio = ms["networkx"] / ms["panconv"]
        print(f"{kind:<14} panconv {ms['panconv']:8.1f} ms   networkx {ms['networkx']:9.1f} ms   ratio {ratio:7.0f}×")


if __name__ == "__main__":
    main()
