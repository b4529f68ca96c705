"""The whole of the paper's Table 3, timed: 24 cells of ten trials each, and the grid search behind its last row.

    python benchmarks/table3.py [--device cuda] [--trials 10] [--graphs cora]

The time is that of `panconv reproduce table3` from an empty folder of records, which is a temporary one: loading and
preparing the graphs, the 21 cells by back-propagation, the search (27 points, three trials each, for every graph) and
the three cells of its winners. Only importing the packages is left out.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence

from measure import machine

from panconv.paper.published import GRAPHS, GRID_SEARCH, TABLE3
from panconv.paper.tables import cells
from panconv.paper.tables.reproduce import Asked, reproduce
from panconv.records.record import Record, Results, Task
from panconv.training.runner import Step


def part_of(job: Task) -> str:
    """Which part of the table a training is for."""
    if not isinstance(job.weights, list):
        return "cells by back-propagation"
    return "cells of the winners" if job.seed >= cells.WINNER_SEED else "grid search"


def cell(runs: Sequence[Record], paper: float) -> str:
    accuracy = [100 * (run.test_accuracy or 0.0) for run in runs]
    spread = statistics.stdev(accuracy) if len(accuracy) > 1 else 0.0
    return f"{f'{statistics.fmean(accuracy):.1f} ± {spread:.1f} ({paper})':>22}"


def measure(
    device: str = "cpu", trials: int = 10, graphs: Sequence[str] = GRAPHS, quick: bool = False
) -> list[dict[str, object]]:
    """Seconds of each part and of all of it, a record each; prints them and the table."""
    spent: dict[str, float] = defaultdict(float)
    trainings: dict[str, int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as folder:
        results = Results(folder)
        began = last = time.perf_counter()
        part = "loading"

        def tell(step: Step) -> None:
            nonlocal part, last
            if not step.done:  # a batch begins: what has passed was of the one before
                now = time.perf_counter()
                spent[part] += now - last
                part, last = part_of(step.tasks[0]), now
                trainings[part] += len(step.tasks)

        asked = Asked(["table3"], datasets=graphs, trials=trials, quick=quick)
        reproduce(asked, results, device=device, callback=tell)
        end = time.perf_counter()
        spent[part] += end - last
        runs = results.read()
    count = sum(trainings.values())
    print(f"Table 3 on {device}, {trials} trials per cell: {end - began:.1f} s for {count} trainings. {machine()}")
    for name, seconds in spent.items():
        print(f"  {name:27} {seconds:7.2f} s  {trainings.get(name, 0):4d} trainings")
    print(f"{'test accuracy, % (the paper)':30}" + "".join(f"{name:>22}" for name in graphs))
    for method, paper in TABLE3.items():
        of = [cells.found(runs, cells.method_tasks(name, method, 1, quick)) for name in graphs]
        print(f"{f'Method {method}':30}" + "".join(map(cell, of, (paper[name] for name in graphs))))
    best = [cells.grid_points(runs, name, quick)[0] for name in graphs]
    of = [cells.found(runs, cells.winner_tasks(name, k, 1, quick)) for name, k in zip(graphs, best, strict=True)]
    print(f"{'Method 5 (grid search)':30}" + "".join(map(cell, of, (GRID_SEARCH[name] for name in graphs))))
    spent["all of Table 3"] = end - began
    return [
        {"operation": f"Table 3: {name}", "graph": " ".join(graphs), "ours_ms": 1e3 * s} for name, s in spent.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, choices=GRAPHS)
    parser.add_argument("--quick", action="store_true", help="ten epochs each, to see that it runs")
    options = parser.parse_args()
    measure(options.device, options.trials, options.graphs, options.quick)


if __name__ == "__main__":
    main()
