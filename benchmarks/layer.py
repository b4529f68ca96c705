"""One PANConv layer, forward and backward, against explicit sparse powers of Â and PyG's TAGConv.

    python benchmarks/layer.py

All map the features of a graph to 16 channels with paths up to L, in one process, and get a gradient of every
parameter. "explicit powers" forms Âⁿ as sparse matrices on each forward, as PyG's own PANConv does (which needs a
compiled extension). TAGConv propagates the features L times and then multiplies by L + 1 matrices.
"""

from __future__ import annotations

import torch
from measure import machine, median_ms, peak_mib
from torch import Tensor, nn
from torch_geometric.nn import TAGConv

from panconv import Adjacency, PANConv, load

CHANNELS = 16


class ExplicitPowers(nn.Module):
    """Σ k(n) Âⁿ X W with every Âⁿ formed."""

    def __init__(self, in_channels: int, L: int, adj: Adjacency) -> None:
        super().__init__()
        a, _ = adj.base("Â").operands(torch.float32)
        self.A = torch.sparse_csr_tensor(a.crow, a.col, a.value, (adj.num_nodes, adj.num_nodes))
        self.k = nn.Parameter(torch.full((L + 1,), 1 / (L + 1)))
        self.lin = nn.Linear(in_channels, CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        h = self.lin(x)
        total, power = self.k[0] * h, self.A
        for n in range(1, len(self.k)):
            total = total + self.k[n] * (power @ h)
            if n + 1 < len(self.k):
                with torch.no_grad():
                    power = self.A @ power
        return total


def main() -> None:
    print(f"One layer to {CHANNELS} channels, forward + backward: median ms (peak MiB). {machine()}")
    header = (
        f"{'graph':9} {'L':>1}  {'PANConv':>16} {'explicit powers':>18} {'TAGConv':>18}  {'powers':>7} {'TAGConv':>7}"
    )
    print(header + "   ← times slower than PANConv")
    worst = float("inf")
    for name in ("cora", "citeseer", "pubmed"):
        data = load(name)
        adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
        for L in (2, 3):
            ours = PANConv(data.num_features, CHANNELS, L=L)
            powers = ExplicitPowers(data.num_features, L, adj)
            tag = TAGConv(data.num_features, CHANNELS, K=L)
            functions = {
                "ours": lambda ours=ours, data=data: backward(ours, ours(data.x, data.edge_index)),
                "powers": lambda powers=powers, data=data: backward(powers, powers(data.x)),
                "tag": lambda tag=tag, data=data: backward(tag, tag(data.x, data.edge_index)),
            }
            ms = median_ms(functions, rounds=9)
            mib = {key: peak_mib(function) for key, function in functions.items()}
            cells = [f"{ms[key]:9.1f} ({mib[key]:6.1f})" for key in functions]
            print(
                f"{name:9} {L}  {cells[0]:>16} {cells[1]:>18} {cells[2]:>18}  "
                f"{ms['powers'] / ms['ours']:6.1f}× {ms['tag'] / ms['ours']:6.1f}×  "
                f"memory: {mib['ours'] / mib['tag']:.3f} of TAGConv's"
            )
            worst = min(worst, ms["tag"] / ms["ours"])
    print(f"least ratio to TAGConv: {worst:.1f}×")


def backward(model: nn.Module, y: Tensor) -> None:
    model.zero_grad(set_to_none=True)
    y.sum().backward()


if __name__ == "__main__":
    main()
