"""A study: the trainings behind some tables, and the tables of their records.

A row of a table is a training on a graph, repeated with some seeds. Rows of a graph share their seeds, and so also
their splits where these are drawn, so that two rows are compared seed by seed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from panconv.best.search import Missing, Search
from panconv.paper.claims.claim import Evidence, Mean, interval, tested
from panconv.paper.tables.cells import QUICK_EPOCHS
from panconv.paper.zoo.runner import Baselines
from panconv.records.ranking import Point, std
from panconv.records.record import PAN, Record, Results, Task
from panconv.training import runner
from panconv.training.pans import Pans
from panconv.training.runner import Step
from panconv.training.search import FRESH


@dataclass(frozen=True)
class Row:
    """A row of a graph's table."""

    name: str
    task: Task  # of its first trial
    against: str = ""  # the name of the row that it is compared with; "" for none


@dataclass(frozen=True)
class Study:
    """What is trained for the tables of some graphs.

    Args:
        title: what it shows, in a few words.
        graphs: the graphs that it is about.
        rows: the rows of a graph, from what its searches chose, by their names; those that are not complete are not
            among them.
        searches: those of a graph, by name.
        pans: how PANs are trained, given the folder that the records go to.
        trials: of each row.
        seed: of the first trial; those before `FRESH` may have chosen something.
    """

    title: str
    graphs: tuple[str, ...]
    rows: Callable[[str, Mapping[str, Point]], list[Row]]
    searches: Callable[[str], dict[str, Search]] = lambda _: {}
    pans: Callable[[Results], Pans] = lambda _: Pans()
    trials: int = 10
    seed: int = FRESH

    def rows_of(self, graph: str, records: Sequence[Record], quick: bool = False) -> list[Row]:
        """The rows of a graph's table, of few epochs for a first look."""
        chosen = {}
        for name, each in self._searches(graph, quick).items():
            with suppress(Missing):
                chosen[name] = each.choice(records)
        rows = self.rows(graph, chosen)
        return [replace(row, task=_quick(row.task)) for row in rows] if quick else rows

    def tasks(self, graph: str, records: Sequence[Record], trials: int, quick: bool = False) -> list[Task]:
        """The trainings of a graph's table."""
        rows = self.rows_of(graph, records, quick)
        return [replace(row.task, seed=self.seed + t) for row in rows for t in range(trials)]

    def train(
        self,
        graphs: Sequence[str],
        results: Results,
        *,
        trials: int = 10,
        quick: bool = False,
        device: str = "cpu",
        command: str = "",
        callback: Callable[[Step], None] | None = None,
    ) -> None:
        """Trains what has no record yet, one graph after another: its searches first, then the rows of its table."""
        how: dict[str, Any] = {"device": device, "command": command, "callback": callback}
        for graph in graphs:
            for each in self._searches(graph, quick).values():
                each.run(results, **how)
            tasks = self.tasks(graph, results.read(), trials, quick)
            pans, others = ([task for task in tasks if (task.model == PAN) is ours] for ours in (True, False))
            runner.run(pans, results, trainer=self.pans(results), **how)
            runner.run(others, results, trainer=Baselines(), **how)

    def _searches(self, graph: str, quick: bool) -> dict[str, Search]:
        return {name: each.quick() if quick else each for name, each in self.searches(graph).items()}


def _quick(task: Task) -> Task:
    """A training of few epochs, where it has any."""
    how = task.settings
    return replace(task, settings={**how, "epochs": min(QUICK_EPOCHS, how["epochs"])}) if "epochs" in how else task


# ---------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Line:
    """A row of a table with its figures, in percent."""

    name: str
    trials: int
    mean: float
    std: float
    seconds: float  # of a trial, beside others
    best_epoch: float | None  # the mean
    against: str = ""
    change: Mean | None = None  # over that row, seed by seed, with its 95 % interval

    @property
    def figure(self) -> str:
        return f"{self.mean:.1f}" + (f" ± {self.std:.1f}" if self.trials > 1 else "")

    @property
    def difference(self) -> str:
        if self.change is None:
            return ""
        return f"{self.change}" if self.trials > 1 else f"{self.change.mean:+.1f}"


def lines(rows: Sequence[Row], evidence: Evidence, seed: int = FRESH) -> list[Line]:
    """The rows that have records, with what these say."""
    found = {row.name: _by_seed(evidence, row.task, seed) for row in rows}
    return [_line(row, found[row.name], found.get(row.against, {})) for row in rows if found[row.name]]


def _by_seed(evidence: Evidence, task: Task, first: int) -> dict[int, Record]:
    mine = (record for record in evidence.alike(task) if record.tested and record.seed >= first)
    return {record.seed: record for record in sorted(mine, key=lambda record: record.seed)}


def _line(row: Row, mine: dict[int, Record], theirs: dict[int, Record]) -> Line:
    figures = {seed: tested(record) for seed, record in mine.items()}
    shared = [figures[seed] - tested(theirs[seed]) for seed in figures if seed in theirs]
    epochs = [record.best_epoch for record in mine.values() if record.best_epoch is not None]
    return Line(
        name=row.name,
        trials=len(mine),
        mean=statistics.fmean(figures.values()),
        std=std(list(figures.values())),
        seconds=statistics.median(record.seconds for record in mine.values()),
        best_epoch=statistics.fmean(epochs) if epochs else None,
        against=row.against if shared else "",
        change=interval(shared) if shared else None,
    )
