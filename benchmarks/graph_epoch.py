"""An epoch over whole graphs: PANGraph beside PyG's GIN, and ten folds side by side beside one after another.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/graph_epoch.py NCI1.txt
    python benchmarks/graph_epoch.py NCI1.txt --device cuda
    python benchmarks/graph_epoch.py --graphs 1000            # on random molecules

An epoch is a training on nine tenths of the graphs, in batches of 128, and a validation on the last tenth. PANGraph has
four layers of 64 with a matrix per length, L = 2, method 8, and is trained by `fit`'s own epoch, from graphs prepared
once and joined in every step. GIN has four `GINConv` with maps of two matrices and batch norm, and is trained as in
PyG's examples, from its `DataLoader`. The same readout (a sum, after the last layer) and head stand behind both. Times
are medians of epochs taken in turn; those of the process (``--clock process``) leave out what others do meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from batches import molecule
from measure import describe, synchronize
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from panconv import Adjacency
from panconv.graph import block_diagonal
from panconv.training.adam import adam
from panconv.training.epoch import Epoch, Limits
from panconv.training.graph_models import PANGraph
from panconv.training.inputs import Reader
from panconv.training.loading import loader_task

BATCH, LAYERS, WIDTH, FOLDS = 128, 4, 64, 10


def read(path: Path) -> list[Data]:
    """Graphs as text: how many; of each the nodes and the class; of each node its tag, degree and neighbours."""
    words = map(int, path.read_text().split())
    raw = []
    for _ in range(next(words)):
        nodes, label, tags, ends = next(words), next(words), [], []
        for i in range(nodes):
            tags.append(next(words))
            ends += [(i, next(words)) for _ in range(next(words))]
        raw.append((tags, ends, label))
    known, labels = (
        {v: i for i, v in enumerate(sorted(each))} for each in ({t for r in raw for t in r[0]}, {r[2] for r in raw})
    )
    eye = torch.eye(len(known))
    return [
        Data(
            eye[[known[t] for t in tags]], torch.tensor(ends).reshape(-1, 2).T.contiguous(), y=torch.tensor([labels[c]])
        )
        for tags, ends, c in raw
    ]


def molecules(count: int) -> list[Data]:
    generator = torch.Generator().manual_seed(0)
    found = [molecule(generator, 19 + i % 13) for i in range(count)]
    for i, each in enumerate(found):
        each.x, each.y = torch.eye(37)[torch.randint(37, (each.num_nodes,), generator=generator)], torch.tensor([i % 2])
    return found


class Prepared:
    """Batches of graphs prepared once, in a new order in every epoch where asked for; with a mask per trial or none."""

    def __init__(self, graphs: Sequence[Data], masks: dict[str, Tensor], shuffle: bool, device: str) -> None:
        self.graphs, self.masks, self.shuffle, self.device = graphs, masks, shuffle, device
        self.sizes, self.y = torch.tensor([g.num_nodes for g in graphs]), torch.cat([g.y for g in graphs])

    def _drawn(self) -> Iterator[Tensor]:
        """In a new order, or fold by fold: a batch of one trial's graphs is evaluated for that trial alone."""
        n = len(self.graphs)
        if self.shuffle or "val_mask" not in self.masks:
            return iter((torch.randperm(n) if self.shuffle else torch.arange(n)).split(BATCH))
        return (rows for held in self.masks["val_mask"].T for rows in held.nonzero().squeeze(1).split(BATCH))

    def __iter__(self) -> Iterator[Any]:
        for rows in self._drawn():
            some = [self.graphs[i] for i in rows.tolist()]
            yield SimpleNamespace(
                x=torch.cat([g.x for g in some]).to(self.device),
                adj=block_diagonal([g.adj for g in some]).to(self.device),
                batch=torch.repeat_interleave(torch.arange(len(rows)), self.sizes[rows]).to(self.device),
                y=self.y[rows],
                num_graphs=len(rows),
                **{name: mask[rows] for name, mask in self.masks.items()},
            )


def ours(train: Any, val: Any, width: int, trials: int | None, device: str, **options: Any) -> Epoch:
    """What `fit` runs in every epoch."""
    model = PANGraph(width, WIDTH, 2, LAYERS, jk="last", trials=trials, **options).to(device)
    seeds = list(range(trials or 1))
    model.seed(seeds)
    where = next(model.parameters()).device
    task = loader_task({"train": train, "val": val}, Reader.of(model, True, where), model)
    return Epoch(model, adam(model, 1e-3, 0.0, where), task.train, task.val, seeds, Limits(10**4, 10**4))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--clock", choices=("wall", "process"), default="wall")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    clock = time.perf_counter if given.clock == "wall" else time.process_time
    device = given.device
    graphs = molecules(given.graphs) if given.file is None else read(given.file)
    for each in graphs:
        each.adj = Adjacency.from_edge_index(each.edge_index, num_nodes=each.num_nodes)
        each.adj.base("D⁻¹A").operands(torch.float32)
    width, fold = graphs[0].num_features, torch.arange(len(graphs)) % FOLDS
    alone = [[g for g, f in zip(graphs, fold.tolist(), strict=True) if (f == 0) is held] for held in (False, True)]
    at_once = torch.stack([fold == s for s in range(given.folds)], 1)
    sides: dict[str, Callable[[], None]] = {"GIN in PyG": theirs(*alone, width, device)}
    for update in ("mlp", "linear"):
        loaders = Prepared(alone[0], {}, True, device), Prepared(alone[1], {}, False, device)
        sides[f"PANGraph, update {update}"] = ours(*loaders, width, None, device, update=update)
    sides["PANGraph, folds"] = ours(
        Prepared(graphs, {"train_mask": ~at_once}, True, device),
        Prepared(graphs, {"val_mask": at_once}, False, device),
        *(width, given.folds, device),
    )
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(given.epochs + 1):
        for name, epoch in sides.items():
            synchronize(torch.device(device))
            began = clock()
            epoch()
            synchronize(torch.device(device))
            times[name] += [clock() - began] if turn else []
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, seconds in medians.items():
        print(f"{name:26} {seconds * 1e3:9.1f} ms an epoch, fastest {min(times[name]) * 1e3:9.1f}")
    gin, mlp, linear, folds = medians.values()
    print(f"GIN over PANGraph: {gin / mlp:.2f} (mlp), {gin / linear:.2f} (linear)")
    print(f"{given.folds} folds one after another over side by side: {given.folds * mlp / folds:.2f}")
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": describe(torch.device(device)), "seconds": times}))


if __name__ == "__main__":
    main()
