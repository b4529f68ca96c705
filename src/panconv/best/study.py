"""A study: the trainings behind some tables, and the tables of their records.

A row of a table is a training on a graph, repeated with some seeds. Rows of a graph share their seeds, and so also
their splits where these are drawn, so that two rows are compared seed by seed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from panconv.best.search import Either, Missing, Search
from panconv.paper.claims.claim import Evidence, tested
from panconv.paper.tables.cells import QUICK_EPOCHS
from panconv.paper.zoo.runner import Baselines
from panconv.records.compared import Compared
from panconv.records.ranking import Point, std
from panconv.records.record import PAN, Record, Results, Task
from panconv.training import runner
from panconv.training.pans import Pans
from panconv.training.runner import Diverged, Step, Trainer
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
        rows: the rows of a graph, from what its searches chose, by their names; incomplete searches are left out.
        searches: those of a graph, by name.
        before: what else is done with a graph first, given the records' folder, trials, device, command and callback.
        trials: of each row.
        most: trials, where there are no more splits.
        seed: of the first trial. Seeds below `FRESH` belong to searches, on the split that is searched.
    """

    title: str
    graphs: tuple[str, ...]
    rows: Callable[[str, Mapping[str, Point]], list[Row]]
    searches: Callable[[str], Mapping[str, Search | Either]] = lambda _: {}
    before: Callable[[str, Results, int, str, str, Callable[[Step], None] | None], None] | None = None
    trials: int = 10
    most: int | None = None
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
        """Trains what has no record yet, one graph after another: its searches first, then the rows of its table.

        A row that never has a finite loss has no records, and does not keep the others from being trained.
        """
        if self.most is not None and trials > self.most:
            raise ValueError(f"trials must be at most {self.most}, one per split, got {trials}")
        how: dict[str, Any] = {"device": device, "command": command, "callback": callback}
        for graph in graphs:
            for each in self._searches(graph, quick).values():
                each.run(results, **how)
            if self.before is not None and not quick:
                self.before(graph, results, trials, device, command, callback)
            tasks = self.tasks(graph, results.read(), trials, quick)
            for trainer, ours in ((Pans(), True), (Baselines(), False)):
                mine = [task for task in tasks if (task.model == PAN) is ours]
                try:
                    runner.run(mine, results, trainer=trainer, **how)
                except Diverged:
                    _one_by_one(mine, results, trainer, how)

    def _searches(self, graph: str, quick: bool) -> dict[str, Search | Either]:
        return {name: each.quick() if quick else each for name, each in self.searches(graph).items()}


def _one_by_one(tasks: Sequence[Task], results: Results, trainer: Trainer, how: dict[str, Any]) -> None:
    """Row by row, leaving out those that fail."""
    rows: dict[str, list[Task]] = {}
    for task in tasks:
        rows.setdefault(task.alike(), []).append(task)
    for row in rows.values():
        with suppress(Diverged):
            runner.run(row, results, trainer=trainer, **how)


def _quick(task: Task) -> Task:
    """A training of few epochs, where it has any."""
    how = task.settings
    return replace(task, settings={**how, "epochs": min(QUICK_EPOCHS, how["epochs"])}) if "epochs" in how else task


# ---------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Line(Compared):
    """A row of a table with its figures, in percent."""

    name: str
    trials: int
    mean: float
    std: float
    seconds: float  # of a trial, beside others
    device: str  # where these were measured
    against: str = ""
    changes: tuple[float, ...] = ()  # over that row, seed by seed

    @property
    def count(self) -> int:
        return self.trials

    @property
    def errors(self) -> float:
        """The mean change in its paired standard errors; 0 where there are none."""
        spread = std(list(self.changes))
        return statistics.fmean(self.changes) * len(self.changes) ** 0.5 / spread if spread else 0.0


def lines(rows: Sequence[Row], evidence: Evidence, seed: int = FRESH) -> list[Line]:
    """The rows that have records, with what these say."""
    found = {row.name: _by_seed(evidence, row.task, seed) for row in rows}
    return [_line(row, found[row.name], found.get(row.against, {})) for row in rows if found[row.name]]


def names_of(tables: Iterable[Sequence[Row | Line]]) -> list[str]:
    """The names of the rows of several tables, each once, in the order that the tables have them."""
    found: list[str] = []
    for table in tables:
        place = 0
        for line in table:
            if line.name not in found:
                found.insert(place, line.name)
            place = found.index(line.name) + 1
    return found


def _by_seed(evidence: Evidence, task: Task, first: int) -> dict[int, Record]:
    mine = (record for record in evidence.alike(task) if record.tested and record.seed >= first)
    return {record.seed: record for record in sorted(mine, key=lambda record: record.seed)}


def _line(row: Row, mine: dict[int, Record], theirs: dict[int, Record]) -> Line:
    figures = {seed: tested(record) for seed, record in mine.items()}
    changes = tuple(figures[seed] - tested(theirs[seed]) for seed in figures if seed in theirs)
    device = statistics.mode(record.device for record in mine.values())
    return Line(
        name=row.name,
        trials=len(mine),
        mean=statistics.fmean(figures.values()),
        std=std(list(figures.values())),
        seconds=statistics.median(record.seconds for record in mine.values() if record.device == device),
        device=device,
        against=row.against if changes else "",
        changes=changes,
    )
