"""Eigenstates of the MET matrix: leading ones by `eigs`, a few steps of `lanczos`, and a filter learned in their basis.

python examples/spectrum.py
"""

import torch
import torch.nn.functional as F

from panconv import MET, Adjacency, Walks, eigs, lanczos, load
from panconv.nn import SpectralConv


def main(epochs: int = 100) -> float:
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    M = MET(Walks(adj, L=2), [1.0, 1.0, 1.0], method=2)

    values, _ = eigs(M, 90)
    ones = int((values > 1 - 1e-9).sum())
    print(f"Cora, method 2, L = 2: the eigenvalue 1 occurs {ones} times, once for each component; then", end=" ")
    print(", ".join(f"{value:.4f}" for value in values[ones : ones + 3].tolist()))

    torch.manual_seed(0)
    start = torch.randn(data.num_nodes, dtype=torch.float64)
    for steps in (10, 20, 40):
        ritz = torch.linalg.eigvalsh(lanczos(M, start, steps).tridiagonal())
        print(f"  {steps} steps of Lanczos know the largest to {abs(1 - float(ritz[-1])):.0e}")

    conv = SpectralConv(data.num_features, 7, k=300, degree=5)  # one layer: a filter in the 300 smoothest states
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.05, weight_decay=5e-4)
    for _ in range(epochs):
        optimizer.zero_grad()
        out = conv(F.dropout(data.x, 0.5), adj)
        F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    with torch.no_grad():
        right = conv(data.x, adj)[data.test_mask].argmax(1) == data.y[data.test_mask]
    accuracy = float(right.float().mean())
    print(
        f"one SpectralConv on the leading {conv.basis(adj).values.numel()} states: test accuracy {100 * accuracy:.1f} %"
    )
    return accuracy


if __name__ == "__main__":
    main()
