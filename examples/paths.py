"""Three kinds of path, and lengths that are not whole numbers.

python examples/paths.py
"""

import torch

from panconv import MET, Adjacency, EffectiveWalks, PowerLaw, SelfAvoidingPaths, ShortestPaths, Walks, load


def main() -> dict[str, list[int]]:
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    print("Cora: paths of length 0, 1, 2, 3, all nodes together")
    found = {}
    for family in (Walks, ShortestPaths, SelfAvoidingPaths):
        paths = family(adj, L=3)
        found[family.__name__] = [round(float(D)) for D in paths.counts().log.exp().sum(1)]
        M = MET(paths, PowerLaw(3, temperature=0.5, trained=False), method=1)
        print(f"  {family.__name__:<18}{found[family.__name__]}, mean length {float(M.mean_path_length.mean()):.2f}")

    # A triangle whose third side is a slow road: 1/w is its length.
    edges = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    roads = Adjacency.from_edge_index(edges, torch.tensor([1.0, 1.0, 1.0, 1.0, 0.2, 0.2]))
    for alpha in (1.0, 2.0):
        M = MET(EffectiveWalks(roads, L=4), PowerLaw(4, alpha, temperature=1.0, trained=False), method=1)
        share = M.to_dense()[0].tolist()
        print(f"E(l) = l^{alpha:g}: node 0 hears nodes 0, 1, 2 with shares", [round(s, 3) for s in share])
    return found


if __name__ == "__main__":
    main()
