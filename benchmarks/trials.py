"""Ten trials of PAN side by side against ten runs of a PyG GCN one after another.

    python benchmarks/trials.py [--epochs 20] [--graphs cora pubmed] [--device cuda]
    python benchmarks/trials.py --many 1000 --device cuda    1000 trials of Cora side by side
    python benchmarks/trials.py --compile                    what torch.compile makes of the model

Both have two layers and 16 hidden channels, and an epoch of both is a training step and an evaluation on the
validation nodes. PyG's GCN keeps its normalised edges (cached=True) and takes dense features, as its examples do. The
two are timed in turn, in one process, over the same number of epochs; the ratio is of the medians. Ours has in it what
`fit` does before and after the epochs: preparing the graph, on a GPU recording the epoch, and the test.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from measure import machine, median_ms
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from panconv import PAN, Adjacency, fit, load
from panconv.compute.features import SparseRows
from panconv.paper.settings import Settings, settings

TRIALS = 10
GRAPHS = ("cora", "citeseer", "pubmed")


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
        model = GCN(data.num_features, how.hidden, int(data.y.max()) + 1, how.dropout).to(data.x.device)
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


def pan(data: Data, how: Settings, trials: int) -> PAN:
    classes = int(data.y.max()) + 1
    return PAN(data.x.size(1), how.hidden, classes, weights=[0, 1, 1], dropout=how.dropout, trials=trials)


def our_runs(data: Data, how: Settings, epochs: int, device: str = "cpu") -> list[float]:
    """Ten trials of PAN side by side; the best validation losses."""
    options = {"lr": how.lr, "weight_decay": how.weight_decay, "epochs": epochs, "patience": epochs}
    return fit(pan(data, how, TRIALS), data, seeds=range(TRIALS), device=device, **options).val_loss


def measure(
    graphs: Sequence[str] = GRAPHS, epochs: int | None = None, rounds: int = 3, device: str = "cpu"
) -> list[dict[str, object]]:
    """Milliseconds per epoch and trial of ours and of PyG's, and their ratio, a record per graph; prints the table."""
    epochs = epochs or (20 if device == "cpu" else 200)
    print(f"{TRIALS} trials, {epochs} epochs on {device}: ms per epoch and trial. {machine()}")
    print(f"{'graph':9} {'PAN side by side':>17} {'PyG GCN in a loop':>18}  ratio")
    records: list[dict[str, object]] = []
    for name in graphs:
        how, dense, sparse = settings(name, 5), load(name).to(device), load(name, sparse=True)
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda how=how, data=sparse: our_runs(data, how, epochs, device),
            "pyg": lambda how=how, data=dense: pyg_runs(data, how, epochs),
        }
        our_runs(sparse, how, 5, device)  # compiles kernels, fills caches
        pyg_runs(dense, how, 1)
        ms = {key: value / epochs / TRIALS for key, value in median_ms(runs, rounds=rounds, warmup=0).items()}
        ratio = ms["pyg"] / ms["ours"]
        print(f"{name:9} {ms['ours']:17.3f} {ms['pyg']:18.2f}  {ratio:.1f}×", flush=True)
        what = f"{TRIALS} trials of training, per epoch and trial"
        records.append({"operation": what, "graph": name, "ours_ms": ms["ours"], "peer_ms": ms["pyg"], "ratio": ratio})
    return records


def many(trials: int, device: str = "cpu", name: str = "cora") -> dict[str, object]:
    """So many trials of a graph side by side, trained to their end; prints seconds and the test accuracy."""
    how, data = settings(name, 5), load(name, sparse=True)
    options = {"lr": how.lr, "weight_decay": how.weight_decay, "epochs": how.epochs, "patience": how.patience}
    fit(pan(data, how, 2), data, seeds=range(2), device=device, **{**options, "epochs": 5})  # compiles kernels
    began = time.perf_counter()
    result = fit(pan(data, how, trials), data, seeds=range(trials), device=device, **options)
    seconds = time.perf_counter() - began
    accuracy = [100 * each for each in result.test_accuracy]
    spread = statistics.stdev(accuracy) if trials > 1 else 0.0
    print(
        f"{trials} trials of {name} side by side on {device}: {seconds:.2f} s, {1e3 * seconds / trials:.1f} ms each, "
        f"{max(result.stopped_epoch)} epochs; test accuracy {statistics.fmean(accuracy):.2f} ± {spread:.2f} %"
    )
    what = f"{trials} trials side by side"
    return {"operation": what, "graph": name, "ours_ms": 1e3 * seconds, "accuracy": accuracy, "deviation": spread}


def compiled(graphs: Sequence[str] = GRAPHS, rounds: int = 15, device: str = "cpu") -> list[dict[str, object]]:
    """A training step of the model as it is and under torch.compile, a record per graph; prints the table."""
    print(f"{TRIALS} trials side by side on {device}, ms for forward and backward. {machine()}")
    print(f"{'graph':9} {'as it is':>9} {'torch.compile':>14}  ratio")
    records: list[dict[str, object]] = []
    for name in graphs:
        how, data = settings(name, 5), load(name, sparse=True)
        x, adj = SparseRows.of(data.x).to(device), Adjacency.of(data.edge_index, num_nodes=data.num_nodes).to(device)
        model = pan(data, how, TRIALS).to(device)
        model.key(range(TRIALS), 1)
        torch._dynamo.reset()
        other = torch.compile(model)

        def step(function: Callable[..., Tensor], model: PAN = model, x: SparseRows = x, adj: Adjacency = adj) -> None:
            model.zero_grad(set_to_none=True)
            function(x, adj).square().mean().backward()
            if device != "cpu":
                torch.cuda.synchronize()

        try:
            step(other)
        except Exception as error:  # such as no C++ compiler for the CPU
            print(f"{name:9} not available here: {type(error).__name__}: {str(error).strip().splitlines()[0]:.80}")
            continue
        ms = median_ms({"plain": partial(step, model), "compiled": partial(step, other)}, rounds=rounds)
        ratio = ms["plain"] / ms["compiled"]
        print(f"{name:9} {ms['plain']:9.2f} {ms['compiled']:14.2f}  {ratio:.2f}×", flush=True)
        what = f"torch.compile, {TRIALS} trials, forward + backward"
        records.append(
            {"operation": what, "graph": name, "ours_ms": ms["compiled"], "peer_ms": ms["plain"], "ratio": ratio}
        )
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, help="20 on the CPU, 200 on a GPU")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, choices=GRAPHS)
    parser.add_argument("--many", type=int, help="how many trials of Cora to train side by side")
    parser.add_argument("--compile", action="store_true", help="time torch.compile")
    options = parser.parse_args()
    if options.many:
        many(options.many, options.device)
    elif options.compile:
        compiled(options.graphs, device=options.device)
    else:
        measure(options.graphs, options.epochs, options.rounds, options.device)


if __name__ == "__main__":
    main()
