"""A claim of the paper, the rule by which it is judged, and what came of it. Never imports torch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scipy.stats import t as student

from panconv.records.ranking import std
from panconv.records.record import Record, Results, Task

CAME_OUT, NOT, IN_PART, OPEN = "came out", "did not come out", "came out in part", "cannot be decided"
FURTHER = "further"  # the folder, within that of our records, of what stands behind no table


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by."""

    records: list[Record]
    folder: Path

    @staticmethod
    def of(folder: str | Path, records: Sequence[Record] | None = None) -> Evidence:
        """All records of a folder, which may have been read before, and of `further` within it."""
        main = Results(folder)
        found = main.read() if records is None else list(records)
        if (main.folder / FURTHER).is_dir():
            known = {record.key() for record in found}
            found += [record for record in Results(main.folder / FURTHER).read() if record.key() not in known]
        return Evidence(found, main.folder)

    @cached_property
    def _cells(self) -> dict[str, list[Record]]:
        """The records by what they are but for the seed: a key takes longer to make than to find."""
        cells: dict[str, list[Record]] = {}
        for record in self.records:
            cells.setdefault(record.alike(), []).append(record)
        return cells

    def trials(self, tasks: Sequence[Task], fewest: int = 10) -> list[Record]:
        """The first trials of a cell, by seed, from that of its tasks on; `MissingRecords` if some are not there."""
        first = tasks[0].seed
        found = [each for each in self._cells.get(tasks[0].alike(), ()) if first <= each.seed < first + fewest]
        if len(found) < fewest:
            raise MissingRecords(f"{len(found)} of {fewest} trainings like {tasks[0].key()}")
        return sorted(found, key=lambda record: record.seed)


class MissingRecords(ValueError):
    """A claim cannot be judged: trainings have no record."""


@dataclass(frozen=True)
class Judged:
    figure: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """A line of the ledger."""

    section: str
    words: str  # the paper's own
    rule: str  # what would make it true, said before the run
    how: str  # the command that gives the figure, or the test that holds it
    judge: Callable[[Evidence], Judged]


@dataclass(frozen=True)
class Mean:
    """A mean and half the width of its 95 % interval, by Student's t."""

    mean: float
    half: float

    @property
    def above(self) -> bool:
        return self.mean > self.half

    @property
    def below(self) -> bool:
        return self.mean < -self.half

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ± {self.half:.1f}"


def interval(values: Sequence[float]) -> Mean:
    """The mean of some values, and where that of many more would lie."""
    half = float(student.ppf(0.975, len(values) - 1)) * std(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(statistics.fmean(values), half)


def change_by_seed(ours: Sequence[Record], theirs: Sequence[Record]) -> Mean:
    """How much more test accuracy the first have, in points, seed by seed."""
    other = {record.seed: tested(record) for record in theirs}
    return interval([tested(record) - other[record.seed] for record in ours if record.seed in other])


def tested(record: Record) -> float:
    """The test accuracy in percent."""
    return 100 * (record.test_accuracy or 0.0)


def accuracy(records: Sequence[Record]) -> str:
    """Mean and standard deviation of the test accuracy."""
    values = [tested(record) for record in records]
    return f"{statistics.fmean(values):.1f} ± {std(values):.1f}"


def mean(records: Sequence[Record]) -> float:
    return statistics.fmean(map(tested, records))


def validated(records: Sequence[Record]) -> float:
    """The mean validation accuracy in percent."""
    return statistics.fmean(100 * record.val_accuracy for record in records)


def verdict(right: Sequence[bool]) -> str:
    """What to say of a claim that is judged case by case: on each graph, say."""
    return CAME_OUT if all(right) else IN_PART if any(right) else NOT


def by_test(figure: str) -> Callable[[Evidence], Judged]:
    """Of a statement that a test holds: it is true as long as the test passes."""
    return lambda _: Judged(figure, CAME_OUT)
