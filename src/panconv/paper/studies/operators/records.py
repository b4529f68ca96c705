"""The record of a training on one operator: a line of JSON, in a folder of such. Never imports torch."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from panconv.base.files import check_writable
from panconv.records.jsonl import (
    FLAG,
    NATURAL,
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
    is_number,
    is_object,
    is_share,
    line_of,
    or_null,
    read_lines,
    write_lines,
)

SCHEMA = "panconv-operator-1"
SETTINGS = ("hidden", "lr", "weight_decay", "decay", "dropout", "epochs", "patience", "heads")


@dataclass(frozen=True)
class Trial:
    """What is trained: everything that decides the outcome."""

    dataset: str
    model: str
    operator: dict[str, Any] | None  # None for the model's usual one
    settings: dict[str, Any]
    seed: int
    tested: bool  # whether the test nodes are looked at: not while an operator is chosen

    def key(self) -> str:
        return json.dumps(vars(self), sort_keys=True)


@dataclass(frozen=True)
class Record(Trial):
    """A training and what came out of it, at the lowest validation loss."""

    best_epoch: int  # from 1; 0 if no validation loss was finite
    val_loss: float | None  # None if it was not finite
    val_accuracy: float
    test_accuracy: float | None
    dropped: float  # the share of |M| that sparsification took
    seconds: float
    device: str
    versions: dict[str, str]

    def trial(self) -> Trial:
        return Trial(**{field.name: getattr(self, field.name) for field in fields(Trial)})


class Records:
    """A folder of records, a file for the seeds of each operator. A file is rewritten whole, under another name."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_folder(folder)
        check_writable(self.folder / "new.jsonl")
        self._found: dict[str, Record] = {}
        self._read()

    def get(self, trial: Trial) -> Record | None:
        return self._found.get(trial.key())

    def all(self) -> list[Record]:
        return list(self._found.values())

    def add(self, record: Record) -> None:
        line_of(SCHEMA, vars(record), parsed)
        self._read()  # what another process has added since must not be written over
        self._found[record.trial().key()] = record
        name = _file(record)
        alike = [each for each in self._found.values() if _file(each) == name]
        write_lines(self.folder / name, [line_of(SCHEMA, vars(each), parsed) for each in alike])

    def _read(self) -> None:
        for content, where in read_lines(self.folder):
            record = parsed(content, where)
            self._found.setdefault(record.trial().key(), record)


_RECORD: dict[str, Rule] = {
    "dataset": TEXT,
    "model": TEXT,
    "operator": Rule(or_null(is_object), "an object, or null for the usual one"),
    "settings": Rule(
        lambda value: is_object(value) and value.keys() == set(SETTINGS), f"an object of {', '.join(SETTINGS)}"
    ),
    "seed": NATURAL,
    "tested": FLAG,
    "best_epoch": NATURAL,
    "val_loss": Rule(or_null(is_number), "a number, or null if it was not finite"),
    "val_accuracy": SHARE,
    "test_accuracy": Rule(or_null(is_share), "a number between 0 and 1, or null"),
    "dropped": SHARE,
    "seconds": SECONDS,
    "device": TEXT,
    "versions": WORDS,
}
UPGRADES: Upgrades = {}  # the first schema is the only one


def parsed(content: Any, where: str) -> Record:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Record, UPGRADES)
    check(values, _RECORD, where)
    tested = values["tested"]
    words = "a number between 0 and 1 where tested is true" if tested else "null where tested is false"
    check(values, {"test_accuracy": Rule(lambda value: (value is not None) == tested, words)}, where)
    return Record(**values)


def _file(record: Record) -> str:
    return file_name([record.dataset, record.model], [json.dumps([record.operator, record.settings], sort_keys=True)])
