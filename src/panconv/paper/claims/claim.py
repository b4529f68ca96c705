"""A claim of the paper, the rule by which it is judged, and what came of it. Never imports torch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from panconv.records.interval import Mean as Mean
from panconv.records.interval import interval as interval
from panconv.records.interval import quantile
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

    def alike(self, task: Task) -> list[Record]:
        """The records that differ from a task by the seed alone."""
        return self._cells.get(task.alike(), [])

    def trials(self, tasks: Sequence[Task], fewest: int = 10) -> list[Record]:
        """The first trials of a cell, by seed, from that of its tasks on; `MissingRecords` if some are not there."""
        first = tasks[0].seed
        found = [each for each in self.alike(tasks[0]) if first <= each.seed < first + fewest]
        if len(found) < fewest:
            raise MissingRecords(f"{len(found)} of {fewest} trials of {tasks[0].model} on {tasks[0].dataset} are there")
        return sorted(found, key=lambda record: record.seed)


class MissingRecords(ValueError):
    """A claim cannot be judged: trainings have no record."""


@dataclass(frozen=True)
class Judged:
    figure: str
    verdict: str
    missing: bool = False  # whether there are no records to judge it by


@dataclass(frozen=True)
class Claim:
    """A line of the ledger."""

    section: str
    words: str  # the paper's own
    rule: str  # what would make it true, said before the run
    how: str  # the commands that give the figure, or the tests that hold it, with "; " between them
    judge: Callable[[Evidence], Judged]

    @property
    def held(self) -> bool:
        """Whether it is a test that decides, whatever the records."""
        return self.how.startswith("tests/")


def apart(first: Mapping[str, float], second: Mapping[str, float], trials: int) -> Mean:
    """How much larger the first of two means is, each with its standard deviation over so many trials."""
    half = quantile(2 * trials - 2) * math.sqrt((first["std"] ** 2 + second["std"] ** 2) / trials)
    return Mean(first["mean"] - second["mean"], half)


def change_by_seed(
    ours: Sequence[Record], theirs: Sequence[Record], of: Callable[[Record], float] | None = None
) -> Mean:
    """How much more the first have, in points, of test accuracy unless told otherwise, seed by seed."""
    value = of or tested
    other = {record.seed: value(record) for record in theirs}
    if [record.seed for record in ours] != sorted(other):
        raise MissingRecords("the same seeds on both sides")
    return interval([value(record) - other[record.seed] for record in ours])


def tested(record: Record) -> float:
    """The test accuracy in percent."""
    if record.test_accuracy is None:
        raise MissingRecords(f"a test of {record.key()}")
    return 100 * record.test_accuracy


def of_validation(record: Record) -> float:
    """The validation accuracy in percent."""
    return 100 * record.val_accuracy


def accuracy(records: Sequence[Record]) -> str:
    """Mean and standard deviation of the test accuracy."""
    values = [tested(record) for record in records]
    return f"{statistics.fmean(values):.1f} ± {std(values):.1f}"


def mean(records: Sequence[Record]) -> float:
    return statistics.fmean(map(tested, records))


def validated(records: Sequence[Record]) -> float:
    """The mean validation accuracy in percent."""
    return statistics.fmean(map(of_validation, records))


def verdict(right: Sequence[bool | None]) -> str:
    """What to say of a claim that is judged case by case, on each graph, say; None: the figures do not tell."""
    if False in right:
        return IN_PART if True in right else NOT
    return OPEN if None in right else CAME_OUT


def by_test(figure: str, verdict: str = CAME_OUT) -> Callable[[Evidence], Judged]:
    """Of a statement that tests decide: the verdict stands as long as they pass."""
    return lambda _: Judged(figure, verdict)
