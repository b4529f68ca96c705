"""Many trainings, resumable: what has no record yet is trained, in batches side by side, and recorded as it comes.

What the records miss is all that a command that was stopped has to know to go on. Imports no torch by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any, Protocol

import panconv
from panconv.records.record import Record, Results, Task

if TYPE_CHECKING:
    from panconv.training.fit import Progress


@dataclass(frozen=True)
class Step:
    """What a callback is told: which batch, and how far it is."""

    batch: int  # from 0
    batches: int
    tasks: list[Task]
    done: float  # share of the batch; 0 as it begins
    progress: Progress | None = None  # of what is trained by epochs with `fit`


class Diverged(ValueError):
    """No trial of those that trained side by side ever had a finite loss."""


class Tell(Protocol):
    def __call__(self, done: float, progress: Progress | None = None) -> None: ...


class Trainer(Protocol):
    """How models of a kind are trained."""

    def check(self, task: Task) -> None:
        """Refuses, before anything is trained, what cannot be."""

    def beside(self, task: Task) -> str:
        """Tasks for which this is the same can train side by side."""

    def at_once(self, task: Task, device: str) -> int:
        """How many of them do, at most."""

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        """Trains tasks side by side."""


def run(
    tasks: Iterable[Task],
    results: Results | None = None,
    *,
    trainer: Trainer,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> list[Record]:
    """A record for each task, in order, trained where there is none yet.

    Args:
        tasks: what to train.
        results: a folder to go on from and to add to.
        trainer: how.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
    """
    tasks = list(tasks)
    for task in tasks:
        trainer.check(task)
    found = {} if results is None else {record.key(): record for record in results.read()}
    new_ones = {task.key(): task for task in tasks if task.key() not in found}
    batches = batched(list(new_ones.values()), trainer, device)
    for i, batch in enumerate(batches):

        def tell(done: float, progress: Progress | None = None, i: int = i, batch: list[Task] = batch) -> None:
            if callback is not None:
                callback(Step(i, len(batches), batch, done, progress))

        tell(0.0)
        try:
            new = trainer.train(batch, device, command, tell)
        except Diverged:
            if any(task.tested for task in batch):
                raise
            new = [_failed(task, device, command) for task in batch]  # a choice among others goes on without them
        if results is not None:
            results.add(new)
        found |= {record.key(): record for record in new}
    return [found[task.key()] for task in tasks]


def _failed(task: Task, device: str, command: str) -> Record:
    """The record of a training that never had a finite loss."""
    made: dict[str, Any] = {"device": device, "versions": versions(), "command": command, "seconds": 0.0}
    return Record(**vars(task), test_accuracy=None, val_accuracy=0.0, best_epoch=0, **made)


def batched(tasks: Sequence[Task], trainer: Trainer, device: str = "cpu") -> list[list[Task]]:
    """Tasks in batches that can train side by side, within memory."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(trainer.beside(task), []).append(task)
    batches = []
    for group in groups.values():
        size = trainer.at_once(group[0], device)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    return batches


def missing(tasks: Iterable[Task], records: Iterable[Record]) -> int:
    """How many trainings have no record yet."""
    return len({task.key() for task in tasks} - {record.key() for record in records})


def alike(records: Iterable[Record], tasks: Sequence[Task]) -> list[Record]:
    """The records that differ from one of the tasks by the seed alone."""
    cells, wanted = {(task.dataset, task.model) for task in tasks}, {task.alike() for task in tasks}
    mine = (record for record in records if (record.dataset, record.model) in cells)  # a key costs more than a look
    return [record for record in mine if record.alike() in wanted]


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """What a record says it was made with."""
    packages = {name: _version(name) for name in ("torch", "torch_geometric")}
    return {"panconv": panconv.__version__, **packages, "python": python_version()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree
        return "not installed"
