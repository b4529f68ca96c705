"""Ten folds of a set of graphs: trained side by side, beside one after another, and beside PyG one after another.

    taskset -c 0 python benchmarks/graph_folds.py                # on one core
    python benchmarks/graph_folds.py --device cuda --epochs 20   # on a GPU
    python benchmarks/graph_folds.py --json results.json

The set is NCI1 from the folder that PANCONV_TU names, or else as many random molecules. All sides train the same folds,
four layers of 64 in batches of 128, and evaluate the validation part after every epoch. "side by side" is what
`panconv graphs` runs on a GPU; "one by one" is `fit` as well, on a model of one trial and its own graphs, as on a CPU;
"PyG" is a loop over PyG's `DataLoader` and a GIN of its modules. Times are those of all folds together, per epoch, the
fastest of the rounds. The ratios say how many times faster side by side is.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
from graph_epoch import theirs
from measure import describe, synchronize
from picking import graph_set

from panconv import fit
from panconv.data import GraphBatches, GraphSet
from panconv.data.graph_folds import GraphParts
from panconv.records.record import Task
from panconv.whole_graphs.menu import MENU, recorded
from panconv.whole_graphs.models import made
from panconv.whole_graphs.parts import parts_of
from panconv.whole_graphs.trainer import WholeGraphs

MODELS = ("pan", "gin")


def tasks_of(name: str, graphs: GraphSet, folds: int, epochs: int) -> list[Task]:
    """A training of each fold that goes on for all epochs."""
    how = {**MENU[name].points()[0], "epochs": epochs, "patience": epochs, "folds": folds}
    return [Task(graphs.name, recorded(name), None, "given", how, s, False) for s in range(folds)]


def together(graphs: GraphSet, tasks: list[Task], device: str) -> None:
    WholeGraphs(graphs, together=True).train(tasks, device, "", lambda *_: None)


def apart(graphs: GraphSet, tasks: list[Task], device: str) -> None:
    """The same trainings one after another, each on its own graphs alone."""
    drawn, there = parts_of(graphs, tasks[0]), graphs.to(device)
    for task in tasks:
        parts, how = drawn.run(task.seed), task.settings
        none = torch.zeros_like(parts.test)
        own = GraphParts(parts.train, parts.val, none)
        entry = MENU[task.model.partition(":")[2]]
        fit(
            made(entry, there, how, None),
            GraphBatches(there, own, batch_size=how["batch"]),
            val=GraphBatches(there, GraphParts(none, own.val, none), "val", batch_size=how["batch"]),
            seeds=[task.seed],
            device=device,
            **{name: how[name] for name in ("lr", "weight_decay", "epochs", "patience", "keep")},
        )


def in_pyg(graphs: GraphSet, tasks: list[Task], device: str) -> None:
    parts, data = parts_of(graphs, tasks[0]), list(graphs)
    for task in tasks:
        own = [[data[i] for i in mask.nonzero().flatten().tolist()] for mask in parts.run(task.seed)[:2]]
        epoch = theirs(*own, graphs.num_features, device)
        for _ in range(task.settings["epochs"]):
            epoch()


def measure(graphs: GraphSet, folds: int, epochs: int, rounds: int, device: str) -> dict[str, float]:
    """Seconds per epoch of all folds, by side; what is done once weighs less the more epochs there are."""
    found: dict[str, Callable[[], None]] = {}
    for name in MODELS:
        tasks = tasks_of(name, graphs, folds, epochs)
        found[f"{name}, side by side"] = lambda tasks=tasks: together(graphs, tasks, device)
        found[f"{name}, one by one"] = lambda tasks=tasks: apart(graphs, tasks, device)
    found["GIN in PyG, one by one"] = lambda: in_pyg(graphs, tasks_of("gin", graphs, folds, epochs), device)
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, run in found.items():
            synchronize(torch.device(device))
            began = time.perf_counter()
            run()
            synchronize(torch.device(device))
            times[name].append((time.perf_counter() - began) / epochs)
    return {name: min(values) for name, values in times.items()}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--graphs", type=int, default=4110)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    options = parser.parse_args(arguments)
    if options.device == "cpu":
        torch.set_num_threads(1)
    graphs = graph_set(options.graphs)
    seconds = measure(graphs, options.folds, options.epochs, options.rounds, options.device)
    for name, value in seconds.items():
        print(f"{name:24} {1e3 * value:9.1f} ms an epoch of {options.folds} folds")
    pyg, ratios = seconds["GIN in PyG, one by one"], {}
    for name in MODELS:
        mine = seconds[f"{name}, side by side"]
        ratios[name] = {"one by one": seconds[f"{name}, one by one"] / mine, "GIN in PyG": pyg / mine}
        words = ", ".join(f"{ratio:.1f}× {side}" for side, ratio in ratios[name].items())
        print(f"{name} side by side is faster than: {words}")
    if options.json:
        found = {"machine": describe(torch.device(options.device)), "set": repr(graphs), "seconds": seconds}
        options.json.write_text(json.dumps({**found, "ratios": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
