"""The MET operator by itself: from an MLP to the far end of the graph by turning up the temperature.

python examples/temperature.py
"""

import torch

from panconv import MET, Adjacency, PowerLaw, Walks, load


def main() -> list[float]:
    data = load("citeseer")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    walks = Walks(adj, L=50)
    lengths = torch.arange(51.0, dtype=torch.float64)
    means = []
    print("mean path length that a node of Citeseer averages over, Method 1, E(n) = n, L = 50")
    for T in (0.1, 0.3, 0.5, 0.7, 1.0):
        M = MET(walks, PowerLaw(50, temperature=T, trained=False), method=1)
        mean = lengths @ M.path_weights  # Σₙ n k(n; i), (N,)
        means.append(float(mean.mean()))
        print(f"  T = {T:<4} mean {means[-1]:5.2f}, from {float(mean.min()):.2f} to {float(mean.max()):.2f} by node")
    return means


if __name__ == "__main__":
    main()
