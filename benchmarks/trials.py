"""Ten trials of PAN side by side against ten runs of a PyG GCN one after another.

    python benchmarks/trials.py [--epochs 20]

Both have two layers and 16 hidden channels, and an epoch of both is a training step and an evaluation on the
validation nodes. PyG's GCN keeps its normalised edges (cached=True) and takes dense features, as its examples do. The
two are timed in turn, in one process, over the same number of epochs; the ratio is of the medians.
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from measure import machine, median_ms
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from panconv import PAN, fit, load
from panconv.experiments.settings import Settings, settings

TRIALS = 10


class GCN(nn.Module):
    def __init__(self, in_channels: int, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.one = GCNConv(in_channels, hidden, cached=True)
        self.two = GCNConv(hidden, classes, cached=True)
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = self.one(x, edge_index).relu()
        return self.two(F.dropout(x, self.dropout, self.training), edge_index)


def pyg_runs(data: Data, how: Settings, epochs: int) -> list[float]:
    """Ten trainings of a GCN in a loop; the best validation losses."""
    losses = []
    for seed in range(TRIALS):
        torch.manual_seed(seed)
        model = GCN(data.num_features, how.hidden, int(data.y.max()) + 1, how.dropout)
        groups = [{"params": model.one.parameters(), "weight_decay": 5e-4}, {"params": model.two.parameters()}]
        optimizer = torch.optim.Adam(groups, lr=how.lr)
        best = float("inf")
        for _ in range(epochs):
            model.train()
            optimizer.zero_grad()
            scores = model(data.x, data.edge_index)
            F.cross_entropy(scores[data.train_mask], data.y[data.train_mask]).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                scores = model(data.x, data.edge_index)
                best = min(best, float(F.cross_entropy(scores[data.val_mask], data.y[data.val_mask])))
        losses.append(best)
    return losses


def our_runs(data: Data, how: Settings, epochs: int) -> list[float]:
    """Ten trials of PAN side by side; the best validation losses."""
    classes = int(data.y.max()) + 1
    model = PAN(data.x.size(1), how.hidden, classes, weights=[0, 1, 1], dropout=how.dropout, trials=TRIALS)
    options = {"lr": how.lr, "weight_decay": how.weight_decay, "epochs": epochs, "patience": epochs}
    return fit(model, data, seeds=range(TRIALS), **options).val_loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{TRIALS} trials: ms per epoch and trial. {machine()}")
    print(f"{'graph':9} {'PAN side by side':>17} {'PyG GCN in a loop':>18}  ratio")
    for name in ("cora", "citeseer", "pubmed"):
        how, dense, sparse = settings(name, 5), load(name), load(name, sparse=True)
        runs = {
            "ours": lambda how=how, data=sparse: our_runs(data, how, options.epochs),
            "pyg": lambda how=how, data=dense: pyg_runs(data, how, options.epochs),
        }
        ms = median_ms(runs, rounds=options.rounds, warmup=0)
        each = {key: value / options.epochs / TRIALS for key, value in ms.items()}
        print(f"{name:9} {each['ours']:17.2f} {each['pyg']:18.1f}  {each['pyg'] / each['ours']:.1f}×")


if __name__ == "__main__":
    main()
