"""The record of a training: one line of JSON, in a folder that is the only joint between training and reporting.

A file of the folder holds the lines of trainings that ran side by side. Reading checks every line (docs/results.md has
the schema).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from panconv.files import check_writable
from panconv.jsonl import checked_fields, checked_folder, read_lines, write_lines

SCHEMA = "panconv-run-1"
# How a training is set up, with what is taken where nothing is said.
SETTINGS: dict[str, Any] = {
    "hidden": 16,
    "layers": 2,
    "lr": 0.01,
    "dropout": 0.5,
    "weight_decay": 5e-4,
    "epochs": 200,
    "patience": 50,
}


@dataclass(frozen=True)
class Job:
    """What is trained: everything that decides the outcome."""

    dataset: str
    method: int
    weights: Any  # as `weights_from` takes it: a name, the fixed k(n), or a dict
    L: int
    settings: dict[str, Any]
    seed: int

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True)
class Run(Job):
    """A training and what came out of it."""

    test_accuracy: float  # at the chosen epoch, 0 … 1
    best_epoch: int  # that of the lowest validation loss, from 1; 0, with empty curves, if none was finite
    val_loss: list[float]  # by epoch
    val_accuracy: list[float]
    path_weights: list[list[float]]  # by layer: k(n; i) of eq. 2, the mean over the nodes
    seconds: float  # of the trainings that ran side by side, shared among them
    device: str
    versions: dict[str, str]
    command: str

    def job(self) -> Job:
        return Job(**{field.name: getattr(self, field.name) for field in fields(Job)})


class Results:
    """A folder of records."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_folder(folder)

    def check_writable(self) -> None:
        check_writable(self.folder / "new.jsonl")

    def add(self, runs: Sequence[Run]) -> None:
        """Adds the records of trainings that ran side by side, all or none."""
        digest = hashlib.sha256("".join(run.key() for run in map(Run.job, runs)).encode()).hexdigest()[:12]
        name = f"{Path(runs[0].dataset).name.lstrip('.')}-method{runs[0].method}-{digest}.jsonl"
        write_lines(self.folder / name, SCHEMA, [asdict(run) for run in runs])

    def read(self) -> list[Run]:
        """All records, the first of each training; a line cut short is reported and skipped."""
        found: dict[str, Run] = {}
        for content, where in read_lines(self.folder):
            run = parsed(content, where)
            found.setdefault(run.job().key(), run)
        return list(found.values())


_KINDS: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "Any": object,
}


def parsed(content: Any, where: str) -> Run:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Run)
    for name, kind in {field.name: str(field.type) for field in fields(Run)}.items():
        expected = _KINDS.get(kind, list if kind.startswith("list") else dict)
        if not isinstance(values[name], expected) or isinstance(values[name], bool):
            raise ValueError(f"{where}: {name} must be {kind}, got {values[name]!r:.40}")
    _check_values(values, where)
    return Run(**values)


def _check_values(values: dict[str, Any], where: str) -> None:
    """What the types alone do not say."""

    def numbers(sequence: Any) -> bool:
        return isinstance(sequence, list) and all(isinstance(x, (int, float)) and math.isfinite(x) for x in sequence)

    loss, accuracy, layers = values["val_loss"], values["val_accuracy"], values["path_weights"]
    wrong = {
        "settings": values["settings"].keys() != SETTINGS.keys() or not numbers(list(values["settings"].values())),
        "test_accuracy": not 0 <= values["test_accuracy"] <= 1,
        "val_loss": not numbers(loss),
        "val_accuracy": not numbers(accuracy) or len(accuracy) != len(loss),
        "best_epoch": not (1 <= values["best_epoch"] <= len(loss) or values["best_epoch"] == len(loss) == 0),
        "path_weights": not all(map(numbers, layers)),
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(f"{where}: {name} does not hold what the schema says, got {values[name]!r:.60}")
