"""The record of a training on one operator: a line of JSON, in a folder of such. Never imports torch."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from panconv.files import check_writable
from panconv.jsonl import checked_fields, checked_folder, read_lines, write_lines

SCHEMA = "panconv-operator-1"


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
        return json.dumps(asdict(self), sort_keys=True)


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
        for content, where in read_lines(self.folder):
            record = Record(**checked_fields(content, where, SCHEMA, Record))
            self._found.setdefault(record.trial().key(), record)

    def get(self, trial: Trial) -> Record | None:
        return self._found.get(trial.key())

    def add(self, record: Record) -> None:
        self._found[record.trial().key()] = record
        name = _file(record)
        alike = [asdict(each) for each in self._found.values() if _file(each) == name]
        write_lines(self.folder / name, SCHEMA, alike)


def _file(record: Record) -> str:
    what = json.dumps([record.operator, record.settings], sort_keys=True)
    return f"{record.dataset}-{record.model}-{hashlib.sha256(what.encode()).hexdigest()[:12]}.jsonl"
