"""The trainings behind each cell of the paper's tables, for training and reporting alike. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from panconv.paper.published import TABLE3
from panconv.paper.settings import GCN, PAPER, Settings, settings, start
from panconv.records.ranking import Point, ranked
from panconv.records.record import PAN, Record, Task, pan_task
from panconv.training import runner

EXPERIMENTS = ("table1", "table2", "table3", "figure1", "figure2")  # `further` has those beside them
BEST_K = [0.0, 1.0, 1.0]  # what the paper's grid search chose: k(0) = 0, k(1) = k(2)
GCN_K = [0.0, 1.0]  # Â alone: method 5 of length 1 is GCN
# Table 3's grid, shared by the layers: 27 points, three trials each to choose by validation.
GRID = [[k0, k1, k2] for k0 in (0.0, 0.5, 1.0) for k1 in (0.5, 1.0, 2.0) for k2 in (0.5, 1.0, 2.0)]
GRID_TRIALS = 3
WINNER_SEED = 1000  # the winner is tried again with seeds that did not choose it
QUICK_EPOCHS = 10


def method_tasks(dataset: str, method: int, trials: int, quick: bool = False) -> list[Task]:
    """A cell of Table 3: a method by back-propagation."""
    return trials_of(dataset, method, start(method, 2), settings(dataset, method), trials, quick)


def pan_tasks(dataset: str, trials: int, quick: bool = False, split: str = "public") -> list[Task]:
    """The PAN row of Tables 1 and 2, with the paper's settings and k(n)."""
    return trials_of(dataset, 5, BEST_K, PAPER[dataset], trials, quick, split=split)


def gcn_tasks(trials: int, quick: bool = False) -> list[Task]:
    """GCN on Cora, for Figure 2."""
    return trials_of("cora", 5, GCN_K, GCN, trials, quick, L=1)


def grid_tasks(dataset: str, quick: bool = False) -> list[Task]:
    """The grid of Table 3's last row."""
    trials = 1 if quick else GRID_TRIALS
    return [task for k in GRID for task in trials_of(dataset, 5, k, PAPER[dataset], trials, quick)]


def winner_tasks(dataset: str, best: Point, trials: int, quick: bool = False) -> list[Task]:
    """The cell of Table 3's last row: the point that validation chose, with new seeds."""
    return trials_of(dataset, 5, best.weights, PAPER[dataset], trials, quick, seed=WINNER_SEED)


def found(runs: Sequence[Record], tasks: Sequence[Task]) -> list[Record]:
    """The trials of a cell: alike in everything but the seed; those that chose a winner are not its own."""
    winner = tasks[0].seed >= WINNER_SEED
    return [run for run in runner.alike(runs, tasks) if (run.seed >= WINNER_SEED) == winner]


def grid_points(runs: Sequence[Record], dataset: str, quick: bool = False) -> list[Point]:
    """Table 3's grid, ranked by validation; empty until all of it has been trained."""
    return ranked_grid(runs, grid_tasks(dataset, quick))


def searched(runs: Sequence[Record], dataset: str, quick: bool = False) -> list[Record]:
    """The runs of Table 3's grid: those seeds and no others, though another table may have trained a point further."""
    return _trained(runs, grid_tasks(dataset, quick))


def ranked_grid(runs: Sequence[Record], tasks: Sequence[Task]) -> list[Point]:
    """The points of a grid on a graph, ranked by validation; none until all of it has been trained."""
    done = _trained(runs, tasks)
    return ranked(done) if len(done) == len(tasks) else []


def _trained(runs: Sequence[Record], tasks: Sequence[Task]) -> list[Record]:
    dataset, keys = tasks[0].dataset, {task.key() for task in tasks}
    return [run for run in runs if run.dataset == dataset and run.model == PAN and run.key() in keys]


def winner_or_later(dataset: str, points: Sequence[Point], trials: int, quick: bool = False) -> tuple[list[Task], int]:
    """The trainings of a grid's winner, or how many there will be once it is known."""
    return (winner_tasks(dataset, points[0], trials, quick), 0) if points else ([], trials)


def wanted(
    experiment: str, runs: Sequence[Record], datasets: Sequence[str], trials: int, quick: bool = False
) -> tuple[list[Task], int]:
    """The trainings of an experiment, and how many more there will be once the grids' winners are known."""
    if experiment in ("table1", "table2"):
        return [task for name in datasets for task in pan_tasks(name, trials, quick)], 0
    if experiment == "figure1":  # drawn from the operator alone
        return [], 0
    if experiment == "figure2":
        return pan_tasks("cora", trials, quick) + gcn_tasks(trials, quick), 0
    tasks = [task for name in datasets for method in TABLE3 for task in method_tasks(name, method, trials, quick)]
    later = 0
    for name in datasets:
        winner, more = winner_or_later(name, grid_points(runs, name, quick), trials, quick)
        tasks, later = tasks + grid_tasks(name, quick) + winner, later + more
    return tasks, later


def trials_of(
    dataset: str,
    method: int,
    weights: Any,
    how: Settings,
    trials: int,
    quick: bool,
    L: int = 2,
    seed: int = 0,
    split: str = "public",
    tested: bool = True,
    **unsaid: Any,
) -> list[Task]:
    """The trials of a PAN, with the seeds from `seed` on; of a quick look, of few epochs."""
    plain = how.plain(epochs=QUICK_EPOCHS if quick else None, **unsaid)
    return [pan_task(dataset, method, weights, L, plain, seed + t, split, tested) for t in range(trials)]
