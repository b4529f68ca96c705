"""The record of a training: one line of JSON, in a folder that is the only joint between training and reporting.

A file of the folder holds the lines of trainings that ran side by side. Reading checks every line (docs/results.md has
the schema), and writing reads first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from panconv.base.files import check_writable
from panconv.records.jsonl import (
    COUNT,
    NATURAL,
    PLAIN,
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
    is_share,
    is_whole,
    line_of,
    list_of,
    number_or_null,
    or_null,
    read_lines,
    write_lines,
)

SCHEMA = "panconv-run-2"
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
        return json.dumps(vars(self), sort_keys=True)


@dataclass(frozen=True)
class Run(Job):
    """A training and what came out of it. A number that is not finite, or beyond 1e100, is None."""

    test_accuracy: float  # at the chosen epoch, 0 … 1
    best_epoch: int  # that of the lowest validation loss, from 1; 0, with empty curves, if none was finite
    val_loss: list[float | None]  # by epoch
    val_accuracy: list[float]
    path_weights: list[list[float | None]]  # by layer: k(n; i) of eq. 2, the mean over the nodes
    seconds: float  # of the trainings that ran side by side, shared among them
    device: str
    versions: dict[str, str]
    command: str

    def job(self) -> Job:
        return Job(**{field.name: getattr(self, field.name) for field in fields(Job)})


_JOB: dict[str, Rule] = {
    "dataset": TEXT,
    "method": COUNT,
    "weights": PLAIN,
    "L": NATURAL,
    "settings": Rule(lambda value: isinstance(value, dict), f"an object of {', '.join(SETTINGS)}"),
    "seed": NATURAL,
}
_RUN: dict[str, Rule] = {
    **_JOB,
    "test_accuracy": SHARE,
    "best_epoch": NATURAL,
    "val_loss": Rule(list_of(or_null(is_number)), "a list of numbers, null for one that is not finite"),
    "val_accuracy": Rule(list_of(is_share), "a list of numbers between 0 and 1"),
    "path_weights": Rule(list_of(list_of(or_null(is_number))), "a list of lists of numbers, null if not finite"),
    "seconds": SECONDS,
    "device": TEXT,
    "versions": WORDS,
    "command": TEXT,
}


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a training, from those that are given; a name or a value that makes no sense is refused."""
    how = {**SETTINGS, **given}
    _check_settings(how, "settings")
    return how


def check_job(job: Job) -> None:
    """Refuses, before it is trained, what would have no readable record."""
    check(vars(job), _JOB, "a training")
    _check_settings(job.settings, "settings")


class Results:
    """A folder of records."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_folder(folder)

    def check_writable(self) -> None:
        check_writable(self.folder / "new.jsonl")

    def add(self, runs: Sequence[Run]) -> None:
        """Adds the records of trainings that ran side by side, all or none."""
        lines = [line_of(SCHEMA, _plain(run), parsed) for run in runs]
        if runs:
            keys = (run.job().key() for run in runs)
            write_lines(self.folder / file_name([runs[0].dataset, f"method{runs[0].method}"], keys), lines)

    def read(self) -> list[Run]:
        """All records, the first of each training; a line cut short is reported and skipped."""
        found: dict[str, Run] = {}
        for content, where in read_lines(self.folder):
            run = parsed(content, where)
            found.setdefault(run.job().key(), run)
        return list(found.values())


def parsed(content: Any, where: str) -> Run:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Run, UPGRADES)
    check(values, _RUN, where)
    _check_settings(values["settings"], where)
    loss, layers = values["val_loss"], values["settings"]["layers"]
    together = {
        "val_accuracy": Rule(lambda each: len(each) == len(loss), "as long as val_loss"),
        "best_epoch": Rule(
            lambda each: 1 <= each <= len(loss) and loss[each - 1] is not None if each else not loss,
            "an epoch with a finite val_loss, or 0 with empty curves",
        ),
        "path_weights": Rule(
            lambda each: len(each) == layers and {len(layer) for layer in each} == {values["L"] + 1},
            f"{layers} lists of {values['L'] + 1} numbers",
        ),
    }
    check(values, together, where)
    return Run(**values)


def _check_settings(how: Mapping[str, Any], where: str) -> None:
    if odd := [name for name in how if name not in SETTINGS]:
        raise ValueError(f"{where}: {odd[0]!r:.60} is no setting: they are {', '.join(SETTINGS)}")
    if missing := [name for name in SETTINGS if name not in how]:
        raise ValueError(f"{where}: settings has no {missing[0]!r}")
    check(how, _SETTING, where)


def _plain(run: Run) -> dict[str, Any]:
    """The fields of a record, null for a number that JSON does not have."""
    layers = [[number_or_null(k) for k in layer] for layer in run.path_weights]
    return {**vars(run), "val_loss": [number_or_null(x) for x in run.val_loss], "path_weights": layers}


def _from_run_1(content: dict[str, Any]) -> dict[str, Any]:
    """Of the first version: a setting that was misspelt had no effect, and was written all the same."""
    how = content.get("settings")
    known = {name: how[name] for name in how if name in SETTINGS} if isinstance(how, dict) else how
    return {**content, "schema": SCHEMA, "settings": known}


UPGRADES: Upgrades = {"panconv-run-1": _from_run_1}
