"""Many trainings, resumable: what has no record yet is trained, in batches side by side, and recorded as it comes.

What the records miss is all that a command that was stopped has to know to go on. Imports no torch by itself.
"""

from __future__ import annotations

import gc
import sys
import time
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
    found: dict[str, Record] | None = None,
) -> list[Record]:
    """A record for each task, in order, trained where there is none yet.

    Args:
        tasks: what to train.
        results: a folder to go on from and to add to.
        trainer: how.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
        found: the folder's records by their keys, as `known` reads them, to which new ones are added: for several runs
            in a row. None to read the folder.
    """
    tasks = list(tasks)
    for task in tasks:
        trainer.check(task)
    found = known(results) if found is None else found
    new_ones = {task.key(): task for task in tasks if task.key() not in found}
    batches, i = batched(list(new_ones.values()), trainer, device), 0
    while i < len(batches):
        batch = batches[i]

        def tell(done: float, progress: Progress | None = None, i: int = i, batch: list[Task] = batch) -> None:
            if callback is not None:
                callback(Step(i, len(batches), batch, done, progress))

        new = _trained(batch, trainer, device, command, tell)
        if new is None:
            gc.collect()  # what the failure still holds
            batches[i : i + 1] = _halves(batch)
            continue
        if results is not None:
            results.add(new)
        found |= {record.key(): record for record in new}
        i += 1
    return [found[task.key()] for task in tasks]


def known(results: Results | None) -> dict[str, Record]:
    """The records of a folder by their keys."""
    return {} if results is None else {record.key(): record for record in results.read()}


def _trained(batch: list[Task], trainer: Trainer, device: str, command: str, tell: Tell) -> list[Record] | None:
    """The records of a batch; None where its trainings need more memory together than there is."""
    began = time.perf_counter()
    tell(0.0)
    try:
        return trainer.train(batch, device, command, tell)
    except Diverged:
        if any(task.tested for task in batch):
            raise
        each = round((time.perf_counter() - began) / len(batch), 3)
        return [_failed(task, device, command, each) for task in batch]  # a choice among others goes on without them
    except RuntimeError as error:
        if len(batch) == 1 or not _is_out_of_memory(error):
            raise
        return None


def _failed(task: Task, device: str, command: str, seconds: float) -> Record:
    """The record of a training that never had a finite loss."""
    made: dict[str, Any] = {"device": device, "versions": versions(), "command": command, "seconds": seconds}
    return Record(**vars(task), test_accuracy=None, val_accuracy=0.0, best_epoch=0, **made)


def _is_out_of_memory(error: RuntimeError) -> bool:
    torch = sys.modules.get("torch")  # which is there if it has raised something
    return torch is not None and isinstance(error, torch.OutOfMemoryError)


def _halves(batch: list[Task]) -> list[list[Task]]:
    """A batch in two, each with whole settings where there are several."""
    settings = _by_setting(batch)
    if len(settings) == 1:
        settings = [[task] for task in batch]
    middle = len(settings) // 2
    return [[task for each in half for task in each] for half in (settings[:middle], settings[middle:])]


def batched(tasks: Sequence[Task], trainer: Trainer, device: str = "cpu") -> list[list[Task]]:
    """Tasks in batches that can train side by side, within memory; those of one setting together, if they fit."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(trainer.beside(task), []).append(task)
    batches = []
    for group in groups.values():
        batches += _cut(group, trainer.at_once(group[0], device))
    return batches


def _cut(group: list[Task], size: int) -> list[list[Task]]:
    """A group in batches of at most a size. Halving judges a setting by all of its seeds: they stay together."""
    settings = _by_setting(group)
    if max(map(len, settings)) > size:
        return [group[start : start + size] for start in range(0, len(group), size)]
    batches: list[list[Task]] = [[]]
    for each in settings:
        if len(batches[-1]) + len(each) > size:
            batches.append([])
        batches[-1].extend(each)
    return batches


def _by_setting(tasks: Sequence[Task]) -> list[list[Task]]:
    """Tasks that are alike but for the seed, together."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.alike(), []).append(task)
    return list(found.values())


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
