"""A grid of 64 k(n) × 5 trials on Cora, side by side, against the same trainings one model at a time in PyG.

    python benchmarks/grid.py [--epochs 40] [--device cpu]

The loop trains a two-layer model of PyG's message passing, Σ k(n) Âⁿ X W with W first, cached normalisation and dense
features. Its time is that of a sample of the trainings, taken in the same process, times their number.
"""

from __future__ import annotations

import argparse
import time

import torch
import torch.nn.functional as F
from measure import machine
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from panconv import grid_search, load
from panconv.paper.settings import settings
from panconv.training.grid import grid_points

TRIALS, SAMPLE = 5, 4


class PathConv(MessagePassing):
    """Σ k(n) Âⁿ X W as a PyG user would write it."""

    def __init__(self, in_channels: int, out_channels: int, k: list[float]) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(in_channels, out_channels)
        self.k = k

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        x = self.lin(x)
        out = self.k[0] * x
        for k in self.k[1:]:
            x = self.propagate(edge_index, x=x, weight=weight)
            out = out + k * x
        return out

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.unsqueeze(1) * x_j


def pyg_training(data: Data, edges: tuple[Tensor, Tensor], k: list[float], seed: int, how: dict[str, float]) -> float:
    torch.manual_seed(seed)
    one = PathConv(data.num_features, how["hidden"], k).to(data.x.device)
    two = PathConv(how["hidden"], int(data.y.max()) + 1, k).to(data.x.device)
    groups = [{"params": one.parameters(), "weight_decay": how["weight_decay"]}, {"params": two.parameters()}]
    optimizer = torch.optim.Adam(groups, lr=how["lr"])

    def scores(training: bool) -> Tensor:
        x = F.dropout(data.x, how["dropout"], training)
        x = F.dropout(one(x, *edges).relu(), how["dropout"], training)
        return two(x, *edges)

    best = float("inf")
    for _ in range(int(how["epochs"])):
        optimizer.zero_grad()
        F.cross_entropy(scores(True)[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        with torch.no_grad():
            best = min(best, float(F.cross_entropy(scores(False)[data.val_mask], data.y[data.val_mask])))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    how = {**settings("cora", 5).plain(), "epochs": options.epochs, "patience": options.epochs}
    points = grid_points([0.25, 0.5, 1.0, 2.0], 2)
    grid_search("cora", points[:2], {**how, "epochs": 2}, trials=1, device=options.device)  # warm
    data = load("cora").to(options.device)
    edges = gcn_norm(data.edge_index, num_nodes=data.num_nodes)
    pyg_training(data, edges, points[0], 0, {**how, "epochs": 2})

    began = time.perf_counter()
    for i in range(SAMPLE):
        pyg_training(data, edges, points[i], i, how)
    loop = (time.perf_counter() - began) / SAMPLE * len(points) * TRIALS
    began = time.perf_counter()
    grid_search("cora", points, how, trials=TRIALS, device=options.device)
    ours = time.perf_counter() - began
    count = len(points) * TRIALS
    print(f"{len(points)} points × {TRIALS} trials = {count} trainings of {options.epochs} epochs. {machine()}")
    print(f"side by side {ours:.1f} s; PyG in a loop {loop:.1f} s (from {SAMPLE} of them): {loop / ours:.1f}×")


if __name__ == "__main__":
    main()
