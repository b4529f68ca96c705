"""The record of a baseline's training: a line of JSON, in a folder of such. Never imports torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from panconv.paper.zoo.registry import METHODS
from panconv.paper.zoo.settings import merged, without_idle
from panconv.records.jsonl import (
    FLAG,
    NATURAL,
    OBJECT,
    SECONDS,
    SHARE,
    TEXT,
    WORDS,
    Rule,
    Upgrades,
    check,
    checked_fields,
    checked_folder,
    file_name,
    is_object,
    is_share,
    line_of,
    or_null,
    read_lines,
    write_lines,
)

SCHEMA = "panconv-zoo-1"
SPLITS = ("public", "random")  # the second: a split of its own for each seed


@dataclass(frozen=True)
class Task:
    """What is trained: everything that decides the outcome."""

    method: str
    dataset: str
    split: str
    operator: dict[str, Any] | None  # what stands in place of the method's own; None for its own
    settings: dict[str, Any]
    seed: int
    tested: bool  # whether the test nodes are looked at: not while an operator is chosen

    def key(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    def alike(self) -> str:
        """The key of all tasks that differ by the seed alone."""
        return replace(self, seed=0).key()


@dataclass(frozen=True)
class Record(Task):
    """A training and what came out of it."""

    val_accuracy: float  # 0 … 1
    test_accuracy: float | None
    seconds: float  # of the trainings that ran side by side, shared among them
    device: str
    versions: dict[str, str]
    command: str

    def task(self) -> Task:
        return Task(**{field.name: getattr(self, field.name) for field in fields(Task)})


class Records:
    """A folder of records, a file for those that were trained together."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_folder(folder)

    def read(self) -> list[Record]:
        """All records, the first of each training."""
        found: dict[str, Record] = {}
        for content, where in read_lines(self.folder):
            record = parsed(content, where)
            found.setdefault(record.task().key(), record)
        return list(found.values())

    def add(self, records: Sequence[Record]) -> None:
        """Adds what was trained together, all or none."""
        for record in records:
            check_task(record.task())
        lines = [line_of(SCHEMA, vars(record), parsed) for record in records]
        if records:
            keys = (record.task().key() for record in records)
            write_lines(self.folder / file_name([records[0].method, records[0].dataset], keys), lines)


_TASK: dict[str, Rule] = {
    "method": TEXT,
    "dataset": TEXT,
    "split": Rule(lambda value: isinstance(value, str) and value in SPLITS, f"one of {', '.join(SPLITS)}"),
    "operator": Rule(or_null(is_object), "an object, or null for the method's own"),
    "settings": OBJECT,
    "seed": NATURAL,
    "tested": FLAG,
}
_RECORD: dict[str, Rule] = {
    **_TASK,
    "val_accuracy": SHARE,
    "test_accuracy": Rule(or_null(is_share), "a number between 0 and 1, or null"),
    "seconds": SECONDS,
    "device": TEXT,
    "versions": WORDS,
    "command": TEXT,
}
UPGRADES: Upgrades = {}  # the first schema is the only one


def check_task(task: Task) -> None:
    """Refuses, before it is trained, what would have no readable record, or a setting that the method lacks."""
    check(vars(task), _TASK, "a training")
    if task.method in METHODS:
        known = METHODS[task.method].settings
        merged(known, {name: value for name, value in task.settings.items() if known.get(name, ...) != value})


def parsed(content: Any, where: str) -> Record:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Record, UPGRADES)
    check(values, _RECORD, where)
    tested = values["tested"]
    words = "a number between 0 and 1 where tested is true" if tested else "null where tested is false"
    check(values, {"test_accuracy": Rule(lambda value: (value is not None) == tested, words)}, where)
    return Record(**{**values, "settings": without_idle(values["method"], values["settings"])})
