"""Batches of small graphs that change every step, forward and backward, beside PyG's layers.

    taskset -c 0 python benchmarks/batches.py                 # on one core
    python benchmarks/batches.py --device cuda                # on a GPU
    python benchmarks/batches.py --json results.json
    python benchmarks/batches.py --large                      # three layers on one graph of 5 million edges

A batch is 128 random molecules of 19 to 31 nodes, edges both ways. "fresh": each call gets an edge_index it has never
seen. "prepared": each call gets a batch it has never seen either, whose `Adjacency` was prepared where it was loaded
(`panconv.transforms.PrepareGraph`) and joined there. All sides map F channels to F, by one layer or three with ReLU
between them, paths of up to 2 steps, and get a gradient of every parameter. A ratio above 1: panconv is faster.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from measure import describe, held_bytes, synchronize
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, MessagePassing, SGConv, TAGConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from panconv import PANConv

GRAPHS, SMALLEST, LARGEST, L = 128, 19, 31, 2
OURS = "PANConv"
CPU_GOAL = 1.0  # GCNConv's time over ours, on one core
GPU_GOALS = {"fresh": 1.5, "prepared": 2.0}


def molecule(generator: torch.Generator, n: int) -> Data:
    """A random tree whose nodes hang on one of the four before them, and a few rings, as molecules have."""
    node = torch.arange(1, n)
    parent = (node - 1 - torch.randint(4, (n - 1,), generator=generator)).clamp(min=0)
    ring = torch.randint(n - 5, (2,), generator=generator)
    ends = torch.cat([torch.stack([parent, node]), torch.stack([ring, ring + 5])], 1)
    edge_index = torch.cat([ends, ends.flip(0)], 1)
    order = (edge_index[0] * n + edge_index[1]).unique()
    return Data(edge_index=torch.stack([order // n, order % n]), num_nodes=n)


def batches(count: int, seed: int = 0) -> list[Batch]:
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(SMALLEST, LARGEST + 1, (count, GRAPHS), generator=generator).tolist()
    return [Batch.from_data_list([molecule(generator, n) for n in row]) for row in sizes]


# ---------------------------------------------------------------------- the layers


class GPRConv(MessagePassing):
    """GPRGNN's scheme: XW propagated K times by gather and scatter, and summed with trained weights."""

    def __init__(self, in_channels: int, out_channels: int, K: int) -> None:
        super().__init__(aggr="add")
        self.lin, self.k = nn.Linear(in_channels, out_channels), nn.Parameter(torch.full((K + 1,), 1 / (K + 1)))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edge_index, weight = gcn_norm(edge_index, num_nodes=x.size(0))
        x = self.lin(x)
        total = self.k[0] * x
        for k in self.k[1:]:
            x = self.propagate(edge_index, x=x, weight=weight)
            total = total + k * x
        return total

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.view(-1, 1) * x_j


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    OURS: lambda F: PANConv(F, F, L=L),
    "GCNConv": lambda F: GCNConv(F, F),
    "TAGConv": lambda F: TAGConv(F, F, K=L),
    "SGConv": lambda F: SGConv(F, F, K=L),
    "GPRGNN": lambda F: GPRConv(F, F, K=L),
}


class Model(nn.Module):
    def __init__(self, layer: Callable[[int], nn.Module], F: int, depth: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList(layer(F) for _ in range(depth))

    def forward(self, x: Tensor, graph: object) -> Tensor:
        for i, conv in enumerate(self.convs):
            x = conv(x if i == 0 else x.relu(), graph)
        return x


# ---------------------------------------------------------------------- measuring


def step(model: nn.Module, x: Tensor, graph: object) -> None:
    model.zero_grad(set_to_none=True)
    model(x, graph).sum().backward()


def fresh(supply: list[Batch], device: torch.device) -> Iterator[tuple[object, int]]:
    """Each a tensor of its own, as a loader gives it."""
    for batch in itertools.cycle(supply):
        yield batch.edge_index.clone().to(device), batch.num_nodes


def prepared(supply: list[Batch], device: torch.device) -> Iterator[tuple[object, int]]:
    """What comes from loader workers that prepare: the joined graph on its way to the device is not timed."""
    from panconv.transforms import PrepareGraph

    transform = PrepareGraph()
    for batch in itertools.cycle(supply):
        joined = Batch.from_data_list([transform(data.clone()) for data in batch.to_data_list()])
        yield joined.adj.to(device), batch.num_nodes


def measure(
    models: dict[str, nn.Module], graphs: dict[str, Iterator], F: int, rounds: int, device: torch.device
) -> dict[str, float]:
    """The median milliseconds of a step of each model, taken in turn.

    As in a training, each comes after steps of the same model on other batches, which are not timed.
    """
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(rounds):
        for name, model in models.items():
            coming = [(torch.randn(N, F, device=device), graph) for graph, N in itertools.islice(graphs[name], 3)]
            for x, graph in coming:
                synchronize(device)
                began = time.perf_counter()
                step(model, x, graph)
                synchronize(device)
                took = time.perf_counter() - began
            times[name].append(1e3 * took)
    return {name: statistics.median(values) for name, values in times.items()}


def run(options: argparse.Namespace) -> list[dict[str, object]]:
    device, supply, records = torch.device(options.device), batches(options.batches), []
    print(f"{'':9} {'F':>3} {'layers':>6}  " + "".join(f"{name:>22}" for name in LAYERS))
    for kind, F, depth in itertools.product(options.kinds, options.channels, options.depths):
        torch.manual_seed(0)
        models = {name: Model(layer, F, depth).to(device) for name, layer in LAYERS.items()}
        graphs = {name: fresh(supply, device) for name in LAYERS}
        if kind == "prepared":
            graphs[OURS] = prepared(supply, device)
        ms = measure(models, graphs, F, options.rounds, device)
        cells = [f"{value:.2f} ms ({value / ms[OURS]:.2f}×)" for value in ms.values()]
        print(f"{kind:9} {F:3} {depth:6}  " + "".join(f"{cell:>22}" for cell in cells), flush=True)
        goal = GPU_GOALS[kind] if device.type == "cuda" else CPU_GOAL
        records.append(
            {"kind": kind, "F": F, "layers": depth, "ms": ms, "goal": goal, "met": ms["GCNConv"] / ms[OURS] >= goal}
        )
    return records


def large(options: argparse.Namespace) -> None:
    """Three layers on one large edge_index: they prepare it once between them, and hold it once."""
    device, generator = torch.device(options.device), torch.Generator().manual_seed(0)
    ends = torch.randint(500_000, (2, 2_500_000), generator=generator)
    edge_index = torch.cat([ends, ends.flip(0)], 1).to(device)
    x, F = torch.randn(500_000, 16, device=device), 16
    for name in (OURS, "GCNConv"):
        model, seconds = Model(LAYERS[name], F, 3).to(device), []
        for _ in range(4):
            synchronize(device)
            began = time.perf_counter()
            step(model, x, edge_index)
            synchronize(device)
            seconds.append(time.perf_counter() - began)
        held = held_bytes(prepared_graphs()) / 2**20 if name == OURS else 0
        later = statistics.median(seconds[1:])
        print(f"{name}: first step {seconds[0]:.2f} s, later {later:.2f} s, kept for the graph {held:.0f} MiB")


def prepared_graphs() -> object:
    """What the layers have prepared between them."""
    from panconv.graph import prepared as room

    return room._sources


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--kinds", nargs="+", default=["fresh", "prepared"], choices=["fresh", "prepared"])
    parser.add_argument("--channels", nargs="+", type=int, default=[16, 64])
    parser.add_argument("--depths", nargs="+", type=int, default=[1, 3])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    parser.add_argument("--large", action="store_true", help="time and memory of three layers on one large graph")
    options = parser.parse_args()
    if options.large:
        return large(options)
    if options.device == "cpu":
        torch.set_num_threads(1)
    records = run(options)
    missed = [r for r in records if not r["met"]]
    print(f"{len(records) - len(missed)} of {len(records)} goals met (GCNConv's time over ours)")
    if options.json:
        found = {"machine": describe(torch.device(options.device)), "records": records}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
