"""The record of a training: one line of JSON, in a folder that is the only joint between training and reporting.

A training is a training: PAN's and a baseline's, on the public split and on random ones, on its own operator and on M.
A file of the folder holds the lines of trainings that ran side by side. Reading checks every line (docs/results.md has
the schema), and writing reads first. Never imports torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from panconv.base.files import check_writable
from panconv.records.jsonl import (
    COUNT,
    DEEPEST,
    FLAG,
    NATURAL,
    OBJECT,
    PLAIN,
    SECONDS,
    SHARE,
    TEXT,
    WORDS,
    Rule,
    check,
    checked_fields,
    checked_folder,
    file_name,
    is_number,
    is_plain,
    is_share,
    is_whole,
    line_of,
    list_of,
    number_or_null,
    or_null,
    read_lines,
    write_lines,
)
from panconv.records.upgrades import PAN as PAN
from panconv.records.upgrades import SCHEMA, UPGRADES

SPLITS = ("public", "random")  # the second: a split of its own for each seed
# How a PAN is trained, with what is taken where nothing is said.
SETTINGS: dict[str, Any] = {
    "hidden": 16,
    "layers": 2,
    "lr": 0.01,
    "dropout": 0.5,
    "weight_decay": 5e-4,
    "epochs": 200,
    "patience": 50,
}
# What a setting that a record need not name is taken for: each is the way all trainings went before it had a name.
UNSAID: dict[str, Any] = {"keep": "loss", "decay": "first", "rows": True}
_MOST_EPOCHS = 1_000_000  # whose curves still fit into a line
_SETTING: dict[str, Rule] = {
    "hidden": COUNT,
    "layers": COUNT,
    "lr": Rule(lambda value: is_number(value) and value > 0, "positive and finite"),
    "dropout": Rule(lambda value: is_number(value) and 0 <= value < 1, "at least 0 and below 1"),
    "weight_decay": Rule(lambda value: is_number(value) and value >= 0, "at least 0 and finite"),
    "epochs": Rule(
        lambda value: is_whole(value, 1) and value <= _MOST_EPOCHS, f"a whole number between 1 and {_MOST_EPOCHS:,}"
    ),
    "patience": COUNT,
}
_UNSAID: dict[str, Rule] = {
    "keep": Rule(lambda value: value in ("loss", "accuracy", "both", "last"), "loss, accuracy, both or last"),
    "decay": Rule(lambda value: value in ("first", "all"), "first or all"),
    "rows": FLAG,
}


@dataclass(frozen=True)
class Task:
    """What is trained: everything that decides the outcome."""

    dataset: str
    model: str  # "pan", or a baseline as the zoo names it
    operator: dict[str, Any] | None  # PAN's method, L and weights; what a baseline has in place of its own, if anything
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
        return {name: getattr(self, name) for name in _TASK}

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


def _is_operator(value: Any) -> bool:
    return isinstance(value, dict) and is_plain(value, DEEPEST + 1)  # whose weights may be as deep as any field


_TASK: dict[str, Rule] = {
    "dataset": TEXT,
    "model": TEXT,
    "operator": Rule(or_null(_is_operator), "an object of text, numbers and lists, or null for the model's own"),
    "split": Rule(lambda value: isinstance(value, str) and value in SPLITS, f"one of {', '.join(SPLITS)}"),
    "settings": OBJECT,
    "seed": NATURAL,
    "tested": FLAG,
}
_NUMBERS = list_of(or_null(is_number))
_RECORD: dict[str, Rule] = {
    **_TASK,
    "test_accuracy": Rule(or_null(is_share), "a number between 0 and 1, or null"),
    "val_accuracy": SHARE,
    "seconds": SECONDS,
    "device": TEXT,
    "versions": WORDS,
    "command": TEXT,
    "val_loss": Rule(or_null(is_number), "a number, or null if it was not finite"),
    "best_epoch": Rule(or_null(is_whole), "a whole number of at least 0, or null"),
    "loss_curve": Rule(_NUMBERS, "a list of numbers, null for one that is not finite"),
    "accuracy_curve": Rule(list_of(is_share), "a list of numbers between 0 and 1"),
    "path_weights": Rule(list_of(_NUMBERS), "a list of lists of numbers, null if not finite"),
    "temperatures": Rule(
        list_of(or_null(lambda T: is_number(T) and T >= 0)), "a list of numbers of at least 0, null if not finite"
    ),
    "dropped": Rule(or_null(is_share), "a number between 0 and 1, or null"),
}
_OPERATOR: dict[str, Rule] = {"method": COUNT, "L": NATURAL, "weights": PLAIN}  # PAN's


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a PAN, from those that are given; a name or a value that makes no sense is refused."""
    how = {**SETTINGS, **given}
    _check_settings(how, "settings")
    return how


def check_task(task: Task) -> None:
    """Refuses, before it is trained, what would have no readable record."""
    _check_task(vars(task), _TASK, "a training")


class Results:
    """A folder of records; those of earlier versions had the baselines' in a folder `zoo` within it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_folder(folder)

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
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Record, UPGRADES)
    _check_task(values, _RECORD, where)
    loss, tested = values["loss_curve"], values["tested"]
    words = "a number between 0 and 1 where tested is true" if tested else "null where tested is false"
    together = {
        "test_accuracy": Rule(lambda value: (value is not None) == tested, words),
        "accuracy_curve": Rule(lambda each: len(each) == len(loss), "as long as loss_curve"),
        "best_epoch": Rule(
            lambda each: not loss or (each and each <= len(loss) and loss[each - 1] is not None),
            "an epoch with a finite loss, or 0 or null with empty curves",
        ),
    }
    if values["model"] == PAN:
        layers, length = values["settings"]["layers"], values["operator"]["L"] + 1
        together["path_weights"] = Rule(
            lambda each: not each or (len(each) == layers and {len(layer) for layer in each} == {length}),
            f"{layers} lists of {length} numbers",
        )
        together["temperatures"] = Rule(lambda each: len(each) in (0, layers), f"{layers} numbers, one per layer")
    check(values, together, where)
    return Record(**values)


def _check_task(values: Mapping[str, Any], rules: Mapping[str, Rule], where: str) -> None:
    """Of PAN, whose operator and settings are known, in words of these first."""
    if values["model"] == PAN:
        _check_names(values["operator"], _OPERATOR, f"{where}: operator")
        check(values["operator"], _OPERATOR, where)
        _check_settings(values["settings"], where)
    check(values, rules, where)


def _check_settings(how: Any, where: str) -> None:
    known = (*SETTINGS, *UNSAID)
    if isinstance(how, dict) and (odd := [name for name in how if name not in known]):
        raise ValueError(f"{where}: {odd[0]!r:.60} is no setting: they are {', '.join(known)}")
    said = {name: value for name, value in how.items() if name in SETTINGS} if isinstance(how, dict) else how
    _check_names(said, SETTINGS, f"{where}: settings")
    check(how, {**_SETTING, **{name: rule for name, rule in _UNSAID.items() if name in how}}, where)


def _check_names(value: Any, names: Iterable[str], what: str) -> None:
    names = list(names)
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise ValueError(f"{what} must be an object of {', '.join(names)}")
    if missing := [name for name in names if name not in value]:
        raise ValueError(f"{what} has no {missing[0]!r}")


def _plain(record: Record) -> dict[str, Any]:
    """The fields of a record, null for a number that JSON does not have."""
    return {
        **vars(record),
        "val_loss": number_or_null(record.val_loss),
        "loss_curve": [number_or_null(x) for x in record.loss_curve],
        "path_weights": [[number_or_null(k) for k in layer] for layer in record.path_weights],
        "temperatures": [number_or_null(T) for T in record.temperatures],
    }
