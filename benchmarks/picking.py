"""128 graphs of a set as one batch: picked out of the prepared set, beside joining them one by one.

    taskset -c 0 python benchmarks/picking.py                # on one core
    python benchmarks/picking.py --device cuda               # on a GPU
    python benchmarks/picking.py --json results.json

The set is NCI1 from the folder that PANCONV_TU names, or else as many random molecules. Each side gets the same drawn
numbers and gives the joined graph with Â in float32: "picked" from the whole, "block_diagonal" from a list of graphs
that are prepared, "Batch" PyG's batch of prepared graphs (`panconv.transforms.PrepareGraph`), features and targets
included, "fresh" an `Adjacency` with Â from PyG's batch of plain graphs. The last line is a whole epoch of
`GraphBatches`. A ratio above 1: picking is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from batches import molecule
from measure import describe, synchronize
from torch_geometric.data import Batch

from panconv import Adjacency
from panconv.data import GraphBatches, GraphSet, read_graphs
from panconv.graph import block_diagonal, picked
from panconv.transforms import PrepareGraph


def graph_set(count: int) -> GraphSet:
    if os.environ.get("PANCONV_TU") and count == 4110:
        return read_graphs("NCI1")
    generator, data = torch.Generator().manual_seed(0), []
    for i, n in enumerate(torch.randint(19, 42, (count,), generator=generator).tolist()):
        data.append(molecule(generator, n))
        data[-1].x, data[-1].y = torch.rand(n, 37), i % 2
    return GraphSet.of(data, name="molecules")


def sides(graphs: GraphSet, device: torch.device) -> dict[str, Callable[[torch.Tensor], object]]:
    """What is timed, by name, on numbers of graphs (b,)."""
    whole = graphs.to(device).adjacency
    whole.base("Â").operands(torch.float32)
    prepare = PrepareGraph(method=5)
    plain = [data.to(device) for data in graphs]
    prepared = [prepare(data.clone()) for data in plain]
    single = [data.adj for data in prepared]

    def fresh(which: torch.Tensor) -> object:
        batch = Batch.from_data_list([plain[i] for i in which.tolist()])
        return Adjacency.of(batch.edge_index, None, batch.num_nodes).base("Â").operands(torch.float32)

    return {
        "picked": lambda which: picked(whole, which),
        "block_diagonal": lambda which: block_diagonal([single[i] for i in which.tolist()]),
        "Batch": lambda which: Batch.from_data_list([prepared[i] for i in which.tolist()]),
        "fresh": fresh,
    }


def measure(
    found: dict[str, Callable[[torch.Tensor], object]], G: int, b: int, rounds: int, device: torch.device
) -> dict[str, float]:
    """The median milliseconds of each side, taken in turn on the same numbers."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        which = torch.randperm(G)[:b]
        for name, make in found.items():
            synchronize(device)
            began = time.perf_counter()
            make(which)
            synchronize(device)
            times[name].append(1e3 * (time.perf_counter() - began))
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def epoch_ms(graphs: GraphSet, b: int, rounds: int, device: torch.device) -> float:
    """The median milliseconds of going through all batches once."""
    loader, times = GraphBatches(graphs, batch_size=b), []
    for _ in range(rounds):
        synchronize(device)
        began = time.perf_counter()
        for _ in loader:
            pass
        synchronize(device)
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times[1:])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--graphs", type=int, default=4110)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    options = parser.parse_args(arguments)
    device = torch.device(options.device)
    if options.device == "cpu":
        torch.set_num_threads(1)
    graphs = graph_set(options.graphs).to(device)
    ms = measure(sides(graphs, device), len(graphs), options.batch, options.rounds, device)
    for name, value in ms.items():
        print(f"{name:16} {value:8.3f} ms  ({value / ms['picked']:.1f}×)")
    epoch = epoch_ms(graphs, options.batch, max(options.rounds // 20, 3), device)
    print(f"an epoch of GraphBatches: {epoch:.1f} ms, {len(graphs):,} graphs {options.batch} at a time")
    if options.json:
        found = {"machine": describe(device), "set": repr(graphs), "ms": ms, "epoch_ms": epoch}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
