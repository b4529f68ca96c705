"""The paper's tables and figures as lists of jobs: what to train, with which seeds, to fill them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from panconv.experiments.paper import GRAPHS, TABLE3
from panconv.experiments.rows import BEST_K, GCN_K, GRID, GRID_TRIALS, QUICK_EPOCHS, WINNER_SEED
from panconv.experiments.settings import GCN, PAPER, Settings, settings, start
from panconv.results import Job, Results, Run
from panconv.search import Step, grid_search, run_jobs


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
) -> list[Run]:
    """Trains what an experiment needs and has no record yet."""
    options: dict[str, Any] = {"device": device, "command": command, "callback": callback}
    trials = 1 if quick else trials

    def jobs(dataset: str, method: int, weights: Any, how: Settings, L: int = 2, seed: int = 0) -> list[Job]:
        return [Job(dataset, method, weights, L, _plain(how, quick), seed + t) for t in range(trials)]

    wanted: list[Job] = []
    if experiment in ("table1", "table2"):
        wanted += [job for name in datasets for job in jobs(name, 5, BEST_K, PAPER[name])]
    if experiment == "figure2":
        wanted += jobs("cora", 5, BEST_K, PAPER["cora"]) + jobs("cora", 5, GCN_K, GCN, L=1)
    if experiment == "table3":
        for name in datasets:
            for method in TABLE3:
                wanted += jobs(name, method, start(method, 2), settings(name, method))
    runs = run_jobs(wanted, results, **options)
    if experiment == "table3":
        for name in datasets:
            how = PAPER[name]
            grid_trials = 1 if quick else GRID_TRIALS
            best = grid_search(name, GRID, _plain(how, quick), trials=grid_trials, results=results, **options)[0]
            runs += run_jobs(jobs(name, 5, best.weights, how, seed=WINNER_SEED), results, **options)
    return runs


def _plain(how: Settings, quick: bool) -> dict[str, Any]:
    return replace(how, epochs=QUICK_EPOCHS).plain() if quick else how.plain()
