"""Every layer of panconv in the same two-layer model on Cora: which one is dropped in is one line.

python examples/layers.py
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from panconv import Adjacency, PANConv, load
from panconv.nn import HighTemperatureConv, LanczosConv, PANAttention, PANEdgeAttention, SpectralConv

LAYERS: dict[str, Callable[[int, int], torch.nn.Module]] = {
    "PANConv, method 5": lambda a, b: PANConv(a, b, L=2),
    "PANConv, the terms side by side": lambda a, b: PANConv(a, b, L=2, concat=True),
    "PANConv, self-avoiding paths": lambda a, b: PANConv(a, b, L=2, method=2, paths="self_avoiding"),
    "PANConv, generic walk D⁻¹A": lambda a, b: PANConv(a, b, L=2, method=8),
    "PANAttention": lambda a, b: PANAttention(a, b, L=2, method=5),
    "PANAttention, by both ends": lambda a, b: PANAttention(a, b, L=2, method=5, rank=4),
    "PANEdgeAttention": lambda a, b: PANEdgeAttention(a, b, L=2),
    "LanczosConv": lambda a, b: LanczosConv(a, b, L=1, steps=10),
    "SpectralConv, 300 eigenstates": lambda a, b: SpectralConv(a, b, k=300, degree=5),
    "HighTemperatureConv": lambda a, b: HighTemperatureConv(a, b),
}


def main(epochs: int = 100) -> dict[str, float]:
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    found = {}
    for name, make in LAYERS.items():
        torch.manual_seed(0)
        first, second = make(data.num_features, 16), make(16, 7)
        parameters = [{"params": first.parameters(), "weight_decay": 5e-4}, {"params": second.parameters()}]
        optimizer = torch.optim.Adam(parameters, lr=0.01)

        def scores(p: float, first: torch.nn.Module = first, second: torch.nn.Module = second) -> torch.Tensor:
            return second(F.dropout(first(F.dropout(data.x, p), adj).relu(), p), adj)

        for _ in range(epochs):
            optimizer.zero_grad()
            F.cross_entropy(scores(0.5)[data.train_mask], data.y[data.train_mask]).backward()
            optimizer.step()
        with torch.no_grad():
            right = scores(0.0).argmax(1) == data.y
        found[name] = float(right[data.test_mask].float().mean())
        print(f"{name:<32} test accuracy {100 * found[name]:.1f} %")
    return found


if __name__ == "__main__":
    main()
