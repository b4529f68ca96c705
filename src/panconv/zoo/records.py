"""The record of a baseline's training: a line of JSON, in a folder of such. Never imports torch."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from panconv.jsonl import checked_fields, checked_folder, read_lines, write_lines

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
        return json.dumps(asdict(self), sort_keys=True)

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
        what = "".join(record.task().key() for record in records)
        one, digest = records[0], hashlib.sha256(what.encode()).hexdigest()[:12]
        name = f"{one.method}-{Path(one.dataset).name.lstrip('.')}-{digest}.jsonl"
        write_lines(self.folder / name, SCHEMA, [asdict(record) for record in records])


def parsed(content: Any, where: str) -> Record:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Record)

    def share(value: Any) -> bool:
        return isinstance(value, (int, float)) and math.isfinite(value) and 0 <= value <= 1

    right = {
        "method": isinstance(values["method"], str),
        "dataset": isinstance(values["dataset"], str),
        "split": values["split"] in SPLITS,
        "operator": values["operator"] is None or isinstance(values["operator"], dict),
        "settings": isinstance(values["settings"], dict),
        "seed": isinstance(values["seed"], int),
        "val_accuracy": share(values["val_accuracy"]),
        "test_accuracy": share(values["test_accuracy"]) if values["tested"] else values["test_accuracy"] is None,
        "seconds": isinstance(values["seconds"], (int, float)),
    }
    for name, is_right in right.items():
        if not is_right:
            raise ValueError(f"{where}: {name} does not hold what the schema says, got {values[name]!r:.60}")
    return Record(**values)
