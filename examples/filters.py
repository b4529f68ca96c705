"""Temperature as a filter on small graphs: which frequencies pass, and which path lengths.

python examples/filters.py
"""

import math

import networkx as nx
import torch

from panconv import Adjacency
from panconv.paper.studies.filters import filters

GRAPHS = {
    "ring of 24": nx.cycle_graph(24),
    "Petersen": nx.petersen_graph(),
    "star of 12": nx.star_graph(12),
    "K(6,6)": nx.complete_bipartite_graph(6, 6),
    "lattice 6 × 6": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)),
    "karate club": nx.karate_club_graph(),
    "lollipop 6 + 12": nx.lollipop_graph(6, 12),
}


def main(L: int = 4) -> dict[str, tuple[str, str]]:
    print(f"method 2, L = {L}: gain of the lowest and of the highest frequency, share of the paths of length L")
    print(f"{'':16} {'cold, T = 0.1':24} {'hot, T = ∞'}")
    kinds = {}
    for name, graph in GRAPHS.items():
        edges = torch.tensor(list(graph.edges)).T
        adj = Adjacency.of(torch.cat([edges, edges.flip(0)], 1))
        cold, hot = filters(adj, [0.1, math.inf], L, method=2)
        words = [
            f"{float(each.found.gain[0]):6.3f} {float(each.found.gain[-1]):6.3f} {each.shares[-1]:6.3f}"
            for each in (cold, hot)
        ]
        kinds[name] = (cold.kind(), hot.kind())
        print(f"{name:16} {words[0]:24} {words[1]}  {hot.kind()}")
    return kinds


if __name__ == "__main__":
    main()
