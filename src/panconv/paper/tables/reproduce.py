"""Trains what the paper's tables and figures need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from panconv.paper.published import GRAPHS
from panconv.paper.tables import baselines, cells, splits
from panconv.paper.zoo.registry import METHODS
from panconv.paper.zoo.runner import run
from panconv.records.record import Results
from panconv.training.runner import Step
from panconv.training.search import run_jobs


def reproduce(
    experiment: str,
    results: Results,
    *,
    datasets: Sequence[str] = GRAPHS,
    trials: int = 10,
    quick: bool = False,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> None:
    """Trains what an experiment needs and has no record yet."""
    options: dict[str, Any] = {"device": device, "command": command, "callback": callback}
    run_jobs(cells.fixed_jobs(experiment, datasets, trials, quick), results, **options)
    if experiment == "table3":
        runs = results.read()
        for name in datasets:
            best = cells.grid_points(runs, name, quick)[0]
            run_jobs(cells.winner_jobs(name, best, trials, quick), results, **options)


def reproduce_baselines(
    names: Sequence[str],
    results: Results,
    *,
    datasets: Sequence[str] = GRAPHS,
    trials: int = 10,
    met: bool = False,
    quick: bool = False,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> None:
    """Trains what the baselines' rows of a table need and have no record yet.

    Args:
        names: methods of the zoo.
        results: where the record of each training goes, and what to go on from.
        datasets: built-in graphs.
        trials: of each cell.
        met: each a second time where M has a place in it, with the M that validation chooses.
        quick: few epochs.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
    """
    options: dict[str, Any] = {"device": device, "command": command, "callback": callback}
    cells_of = [(name, dataset) for dataset in datasets for name in names]
    run([task for cell in cells_of for task in baselines.own_tasks(*cell, trials, quick)], results, **options)
    if not met:
        return
    cells_of = [cell for cell in cells_of if METHODS[cell[0]].met]
    tried = run([task for cell in cells_of for task in baselines.choosing_tasks(*cell, quick)], results, **options)
    on_m = []
    for cell in cells_of:
        operator = baselines.chosen(tried, *cell, quick)
        assert operator is not None  # all of the menu has been tried
        on_m += baselines.met_tasks(*cell, operator, trials, quick)
    run(on_m, results, **options)


def reproduce_splits(
    names: Sequence[str],
    results: Results,
    *,
    count: int = 20,
    datasets: Sequence[str] = GRAPHS,
    quick: bool = False,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> None:
    """Trains PAN and baselines on random splits, what has no record yet."""
    options: dict[str, Any] = {"device": device, "command": command, "callback": callback}
    for dataset in datasets:
        run_jobs(splits.tasks(["pan"], dataset, count, quick), results, **options)
        run(splits.tasks(names, dataset, count, quick), results, **options)
