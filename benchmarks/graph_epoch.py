"""An epoch over whole graphs: PANGraph beside PyG's GIN.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/graph_epoch.py   # on one core
    python benchmarks/graph_epoch.py --device cuda

The set is NCI1 from the folder that PANCONV_TU names, or else as many random molecules. An epoch is a training on nine
tenths of the graphs, in batches of 128, and a validation on the last tenth. PANGraph has four layers of 64 with a
matrix per length, L = 2, method 8, and runs the epochs that `fit` runs. GIN has four `GINConv` with maps of two
matrices and batch norm, and is trained as in PyG's examples, from its `DataLoader`. The same readout (a sum, after the
last layer) and head stand behind both. Times are medians of epochs taken in turn, after those that a GPU records; those
of the process (``--clock process``) leave out what others do meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from measure import describe, synchronize
from picking import graph_set
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from panconv.data import GraphBatches, GraphSet
from panconv.data.graph_folds import GraphParts
from panconv.training.adam import adam
from panconv.training.epoch import Epoch, Limits
from panconv.training.fit import repeated
from panconv.training.graph_models import PANGraph
from panconv.training.inputs import Reader
from panconv.training.loading import loader_task

BATCH, LAYERS, WIDTH, HELD = 128, 4, 64, 10
FIRST = 3  # epochs before those that are measured


def ours(graphs: GraphSet, parts: GraphParts, device: torch.device, update: str) -> Callable[[], None]:
    """What `fit` runs in every epoch."""
    model = PANGraph(graphs.num_features, WIDTH, 2, LAYERS, jk="last", update=update).to(device)
    model.seed([0])
    loaders = {part: GraphBatches(graphs, parts, part, batch_size=BATCH) for part in ("train", "val")}
    task = loader_task(loaders, Reader.of(model, True, device), model)
    epoch = Epoch(model, adam(model, 1e-3, 0.0, device), task.train, task.val, [0], Limits(10**4, 10**4))
    return repeated(epoch, device)


class GIN(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        sizes = [width, *[WIDTH] * LAYERS]
        maps = [
            nn.Sequential(nn.Linear(a, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
            for a in sizes[:-1]
        ]
        self.convs = nn.ModuleList(GINConv(each, train_eps=True) for each in maps)
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in maps)
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, graphs: int) -> Tensor:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index)).relu()
        return self.head(global_add_pool(x, batch, graphs))


def theirs(train: list[Data], val: list[Data], width: int, device: str) -> Callable[[], None]:
    model = GIN(width).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loaders = DataLoader(train, BATCH, shuffle=True), DataLoader(val, BATCH)

    def epoch() -> None:
        model.train()
        for batch in loaders[0]:
            batch = batch.to(device)
            optimizer.zero_grad()
            scores = model(batch.x, batch.edge_index, batch.batch, batch.num_graphs)
            nn.functional.cross_entropy(scores, batch.y).backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for batch in loaders[1]:
                batch = batch.to(device)
                scores = model(batch.x, batch.edge_index, batch.batch, batch.num_graphs)
                right += int((scores.argmax(-1) == batch.y).sum())

    return epoch


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graphs", type=int, default=4110)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--clock", choices=("wall", "process"), default="wall")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    clock, device = time.perf_counter if given.clock == "wall" else time.process_time, torch.device(given.device)
    graphs = graph_set(given.graphs)
    held = torch.arange(len(graphs)) % HELD == 0
    data, there = list(graphs), graphs.to(device)
    alone = [
        [each for each, is_held in zip(data, held.tolist(), strict=True) if is_held is part] for part in (False, True)
    ]
    sides = {"GIN in PyG": theirs(*alone, graphs.num_features, given.device)}
    for update in ("mlp", "linear"):
        sides[f"PANGraph, update {update}"] = ours(there, GraphParts(~held, held, held & ~held), device, update)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(given.epochs + FIRST):
        for name, epoch in sides.items():
            synchronize(device)
            began = clock()
            epoch()
            synchronize(device)
            times[name] += [clock() - began] if turn >= FIRST else []
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, seconds in medians.items():
        print(f"{name:26} {seconds * 1e3:9.1f} ms an epoch, fastest {min(times[name]) * 1e3:9.1f}")
    gin, mlp, linear = medians.values()
    print(f"GIN over PANGraph: {gin / mlp:.2f} (mlp), {gin / linear:.2f} (linear)")
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": describe(device), "seconds": times}))


if __name__ == "__main__":
    main()
