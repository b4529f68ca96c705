"""From records of trainings to the cells of the paper's tables."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from panconv.experiments.paper import GRAPHS, GRID_SEARCH, TABLE1, TABLE2, TABLE3
from panconv.experiments.rows import BEST_K, GCN_K, WINNER_SEED
from panconv.results import Run

TITLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}


@dataclass(frozen=True)
class Cell:
    """One figure of a table, in percent, with the paper's beside it."""

    mean: float | None = None  # None: not run
    std: float = 0.0
    trials: int = 0
    paper: float | None = None
    epochs: int = 0  # at most
    seconds: float = 0.0
    weights: Any = None
    path_weights: list[list[float]] | None = None  # by layer, the mean over the trials
    command: str = ""

    @property
    def difference(self) -> float | None:
        return None if self.mean is None or self.paper is None else self.mean - self.paper

    @property
    def below(self) -> bool:
        """Whether ours is below the paper's by more than one standard deviation."""
        return self.difference is not None and self.difference < -self.std


@dataclass(frozen=True)
class Row:
    name: str
    cells: list[Cell]  # one a graph
    ours: bool  # a PAN row, not a baseline


def pick(runs: Sequence[Run], match: Callable[[Run], bool]) -> list[Run]:
    """The trainings of a cell: of those that match, the ones with the same settings that trained longest, then most."""
    groups: dict[str, list[Run]] = {}
    for run in filter(match, runs):
        groups.setdefault(json.dumps([run.settings, run.weights], sort_keys=True), []).append(run)
    return max(groups.values(), key=lambda group: (group[0].settings["epochs"], len(group)), default=[])


def cell(runs: Sequence[Run], paper: float | None) -> Cell:
    if not runs:
        return Cell(paper=paper)
    accuracy = [100 * run.test_accuracy for run in runs]
    layers = zip(*(run.path_weights for run in runs), strict=True)
    return Cell(
        mean=statistics.fmean(accuracy),
        std=statistics.stdev(accuracy) if len(accuracy) > 1 else 0.0,
        trials=len(runs),
        paper=paper,
        epochs=runs[0].settings["epochs"],
        seconds=sum(run.seconds for run in runs),
        weights=runs[0].weights,
        path_weights=[[statistics.fmean(k) for k in zip(*layer, strict=True)] for layer in layers],
        command=runs[0].command,
    )


def table3(runs: Sequence[Run]) -> list[Row]:
    """Methods 1 to 7 by back-propagation, and method 5 by grid search."""
    rows = []
    for method, paper in TABLE3.items():
        cells = []
        for name in GRAPHS:
            found = pick(runs, lambda r, n=name, m=method: _is(r, n, m) and _trained(r.weights))  # type: ignore[misc]
            cells.append(cell(found, paper[name]))
        rows.append(Row(f"Method {method}", cells, ours=True))
    winners = [
        cell(pick(runs, lambda r, n=name: _is(r, n, 5) and r.seed >= WINNER_SEED), GRID_SEARCH[name])  # type: ignore[misc]
        for name in GRAPHS
    ]
    return [*rows, Row("Method 5 (grid search)", winners, ours=True)]


def table1(runs: Sequence[Run]) -> list[Row]:
    return _beside(runs, TABLE1)


def table2(runs: Sequence[Run]) -> list[Row]:
    return _beside(runs, tuple(TABLE2))


def figure2(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The trainings of PAN and GCN on Cora, where there are any."""
    pan = pick(runs, lambda r: _is(r, "cora", 5) and r.weights == BEST_K and r.seed < WINNER_SEED)
    gcn = pick(runs, lambda r: r.dataset == "cora" and r.method == 5 and r.L == 1 and r.weights == GCN_K)
    return {name: found for name, found in (("PAN", pan), ("GCN", gcn)) if found}


def convergence(runs: Sequence[Run], share: float = 0.95) -> float:
    """Epochs until the validation accuracy reaches a share of its final value, the mean over the trials."""
    epochs = []
    for run in runs:
        goal = share * run.val_accuracy[-1]
        epochs.append(1 + next(i for i, accuracy in enumerate(run.val_accuracy) if accuracy >= goal))
    return statistics.fmean(epochs)


def convergence_line(figure: dict[str, list[Run]]) -> str:
    """Whether PAN converges faster than GCN, as the data say."""
    if set(figure) != {"PAN", "GCN"}:
        return "Run both PAN and GCN (panconv reproduce figure2) to compare them."
    pan, gcn = convergence(figure["PAN"]), convergence(figure["GCN"])
    verdict = "faster than" if pan < gcn else "slower than" if pan > gcn else "as fast as"
    return (
        f"PAN converges {verdict} GCN here: it reaches 95 % of its final validation accuracy after {pan:.1f} epochs, "
        f"GCN after {gcn:.1f} (means of {len(figure['PAN'])} and {len(figure['GCN'])} trials)."
    )


def grids(runs: Sequence[Run]) -> dict[str, dict[tuple[float, ...], float]]:
    """By graph: the mean validation accuracy, in percent, of every point k(0), k(1), k(2) that was searched."""
    found = {}
    for name in GRAPHS:
        points: dict[tuple[float, ...], list[Run]] = {}
        searched = [r for r in runs if _is(r, name, 5) and isinstance(r.weights, list) and r.seed < WINNER_SEED]
        longest = max((r.settings["epochs"] for r in searched), default=0)
        for run in searched:
            if run.settings["epochs"] == longest:
                points.setdefault(tuple(run.weights), []).append(run)
        if len(points) > 1:
            # The same seeds for every point: one that another table trained further is not to stand out by that.
            shared = set.intersection(*({run.seed for run in group} for group in points.values()))
            found[name] = {
                k: 100 * statistics.fmean(r.val_accuracy[r.best_epoch - 1] for r in group if r.seed in shared)
                for k, group in points.items()
                if shared
            }
    return found


def _beside(runs: Sequence[Run], baselines: Sequence[str]) -> list[Row]:
    rows = [Row(name, [Cell(paper=figure) for figure in TABLE2[name]], ours=False) for name in baselines]
    cells = [
        cell(
            pick(runs, lambda r, n=name: _is(r, n, 5) and r.weights == BEST_K and r.seed < WINNER_SEED),  # type: ignore[misc]
            GRID_SEARCH[name],
        )
        for name in GRAPHS
    ]
    return [*rows, Row("PAN", cells, ours=True)]


def _is(run: Run, dataset: str, method: int) -> bool:
    return run.dataset == dataset and run.method == method and run.L == 2


def _trained(weights: Any) -> bool:
    kind = weights.get("kind") if isinstance(weights, dict) else weights
    return kind in ("free", "boltzmann")
