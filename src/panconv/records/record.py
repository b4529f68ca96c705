"""The record of a training: one line of JSON, in a folder that is the only joint between training and reporting.

A training is a training: PAN's and a baseline's, on the public split and on random ones, on its own operator and on M.
A file of the folder holds the lines of trainings that ran side by side. Reading checks every line (docs/results.md has
the schema), and writing reads first. Never imports torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from panconv.base.files import check_writable
from panconv.records.jsonl import file_name, line_of, read_lines, write_lines
from panconv.records.schema import PAN as PAN
from panconv.records.schema import RECORD, TASK, check_fields, check_settings, check_together, number_or_null
from panconv.records.upgrades import SCHEMA, upgraded


@dataclass(frozen=True)
class Settings:
    """How a PAN is trained."""

    hidden: int = 16
    layers: int = 2
    lr: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 5e-4  # on the first layer's matrix
    epochs: int = 200
    patience: int = 50

    def plain(self, **given: Any) -> dict[str, Any]:
        """As a record has them, with what is given, and not None, in place of ours."""
        return asdict(self) | {name: value for name, value in given.items() if value is not None}


SETTINGS = Settings().plain()  # where nothing is said
# What a record of PAN need not name: it is the way all trainings went before it had a name.
UNSAID: dict[str, Any] = {
    **{"keep": "loss", "decay": "first", "rows": True},
    # the model: as in `panconv.PAN`, where share and identity are those of a residual to the input
    **{"norm": None, "jk": None, "act": "relu", "act_first": False, "concat": False},
    **{"residual": None, "share": 0.1, "identity": 0.5},
    # before the first matrix: PAN's `inputs`; dropout_input is null for the model's dropout
    **{"drop_nodes": 0.0, "dropout_input": None, "propagate": False, "norm_input": None, "nearest": None},
    "averaged": False,
    # the training: draws of random propagation, held together by `consistency` where the model is sure, weight decay
    # of what `decay` leaves out, what test_accuracy and val_accuracy hold, and the epochs at which the worse half
    # of those that train side by side is cut
    **{"draws": 1, "consistency": 0.0, "sharpening": 0.5, "confidence": 0.0, "nodes": None, "ramp": 0},
    **{"labelled": None, "clip": None, "decay_others": 0.0, "metric": "accuracy", "halving": None},
}
PATHS = "walks"  # those of an operator that names none


@dataclass(frozen=True)
class Task:
    """What is trained: everything that decides the outcome."""

    dataset: str
    model: str  # "pan", or a baseline as the zoo names it
    operator: dict[str, Any] | None  # PAN's method, L, weights and maybe paths; what a baseline has in place of its own
    split: str
    settings: dict[str, Any]
    seed: int
    tested: bool  # whether the test nodes are looked at: not while an operator is chosen

    def key(self) -> str:
        """What makes two trainings the same one; a record has the key of its task."""
        return json.dumps(self._decisive(), sort_keys=True)

    def alike(self) -> str:
        """The key of all trainings that differ by the seed alone."""
        return json.dumps({**self._decisive(), "seed": 0}, sort_keys=True)

    def _decisive(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in TASK}

    @property
    def weights(self) -> Any:
        """The operator's path weights, as `weights_from` takes them: a name, the fixed k(n), or a dict."""
        return (self.operator or {}).get("weights")


@dataclass(frozen=True)
class Record(Task):
    """A training and what came out of it. A number that is not finite, or beyond 1e100, is None."""

    test_accuracy: float | None  # at the chosen epoch, 0 … 1; None where it was not looked at
    val_accuracy: float  # the same; 0 if no loss was finite
    seconds: float  # of the trainings that ran side by side, shared among them
    device: str
    versions: dict[str, str]
    command: str
    val_loss: float | None = None  # None also where it is not known
    best_epoch: int | None = None  # that of the lowest validation loss, from 1; 0 if none was finite, None if not known
    loss_curve: list[float | None] = field(default_factory=list)  # on the validation nodes, by epoch, where it was kept
    accuracy_curve: list[float] = field(default_factory=list)
    path_weights: list[list[float | None]] = field(default_factory=list)  # PAN's by layer: the mean k(n; i) of eq. 2
    temperatures: list[float | None] = field(default_factory=list)  # PAN's trained T by layer, if it has any
    dropped: float | None = None  # the share of |M| that sparsification took, where it was kept


def pan_task(
    dataset: str,
    method: int,
    weights: Any,
    L: int,
    settings: dict[str, Any],
    seed: int,
    split: str = "public",
    tested: bool = True,
) -> Task:
    """A training of PAN."""
    return Task(dataset, PAN, {"method": method, "L": L, "weights": weights}, split, settings, seed, tested)


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a PAN, from those that are given; a name or a value that makes no sense is refused."""
    how = {**SETTINGS, **given}
    check_settings(how, "settings")
    return how


def check_task(task: Task) -> None:
    """Refuses, before it is trained, what would have no readable record."""
    check_fields(vars(task), TASK, "a training")


class Results:
    """A folder of records; those of earlier versions had the baselines' in a folder `zoo` within it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"the results folder {self.folder} is a file: name a folder")

    def check_writable(self) -> None:
        check_writable(self.folder / "new.jsonl")

    def add(self, records: Sequence[Record]) -> None:
        """Adds the records of trainings that ran side by side, all or none."""
        lines = [line_of(SCHEMA, _plain(record), parsed) for record in records]
        if records:
            one = records[0]
            model = f"method{one.operator['method']}" if one.model == PAN and one.operator else one.model
            write_lines(self.folder / file_name([one.dataset, model], (each.key() for each in records)), lines)

    def read(self) -> list[Record]:
        """All records, the first of each training; a line cut short is reported and skipped."""
        found: dict[str, Record] = {}
        for folder in (self.folder, self.folder / "zoo"):
            for content, where in read_lines(folder):
                record = parsed(content, where)
                found.setdefault(record.key(), record)
        return list(found.values())


def parsed(content: Any, where: str) -> Record:
    """A record from its JSON, upgraded from older schemas and checked: its fields are all there, and no others."""
    content = upgraded(content, where)
    values = {name: value for name, value in content.items() if name != "schema"}
    if odd := [*sorted(values.keys() - RECORD.keys()), *sorted(RECORD.keys() - values.keys())]:
        named = ", ".join(name[:60] for name in odd[:5])
        raise ValueError(f"{where} has missing or unknown fields ({named}): name another results folder")
    check_fields(values, RECORD, where)
    check_together(values, where)
    return Record(**values)


def _plain(record: Record) -> dict[str, Any]:
    """The fields of a record, null for a number that JSON does not have."""
    names = ("val_loss", "loss_curve", "path_weights", "temperatures")
    return vars(record) | {name: number_or_null(getattr(record, name)) for name in names}
