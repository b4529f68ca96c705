"""Trains what the paper's tables and figures need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from panconv.experiments import cells
from panconv.experiments.paper import GRAPHS
from panconv.results import Results
from panconv.search import Step, run_jobs


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
