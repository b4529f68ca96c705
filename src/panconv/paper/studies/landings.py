"""Where training took the temperature: a record of its own, one file for each start. Never imports torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from panconv.records.jsonl import (
    COUNT,
    NATURAL,
    SHARE,
    Rule,
    Upgrades,
    check,
    checked_fields,
    file_name,
    is_number,
    line_of,
    list_of,
    or_null,
    parsed_json,
    write_lines,
)
from panconv.records.record import Task

SCHEMA = "panconv-landing-1"


@dataclass(frozen=True)
class Landing:
    """Where training took T, from one start. A number that is not finite, or beyond 1e100, is None."""

    L: int
    start: float
    temperatures: list[float | None]  # by layer, the geometric mean of the trials
    spreads: list[float | None]  # by layer, the standard deviation of log T
    test_accuracy: float
    std: float
    val_accuracy: float
    trials: int


_NUMBERS = Rule(list_of(or_null(is_number)), "a list of numbers, null for one that is not finite")
_LANDING: dict[str, Rule] = {
    "L": NATURAL,
    "start": Rule(is_number, "a number"),
    "temperatures": _NUMBERS,
    "spreads": _NUMBERS,
    "test_accuracy": SHARE,
    "std": SHARE,
    "val_accuracy": SHARE,
    "trials": COUNT,
}
UPGRADES: Upgrades = {"": lambda content: {**content, "schema": SCHEMA}}  # the first ones did not say what they are


def landing_file(folder: Path, tasks: Sequence[Task]) -> Path:
    """The file of a trained temperature, beside the records: what decides the outcome is in its name."""
    keys = (json.dumps({**_named(task), **(task.operator or {})}, sort_keys=True) for task in tasks)
    return folder / file_name([tasks[0].dataset, "temperature"], keys, ".json")


def _named(task: Task) -> dict[str, Any]:
    """What else is in the name: no more than ever was, so that files of earlier versions are found."""
    return {"dataset": task.dataset, "settings": task.settings, "seed": task.seed}


def write(path: Path, landing: Landing) -> None:
    write_lines(path, [line_of(SCHEMA, vars(landing), parsed)])


def read(path: Path) -> Landing:
    """The record in a file, which is there."""
    try:
        content = parsed_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no record of a trained temperature, remove it: {error}") from None
    return parsed({"schema": "", **content} if isinstance(content, dict) else content, str(path))


def parsed(content: Any, where: str) -> Landing:
    """A record from its JSON, checked against the schema."""
    values = checked_fields(content, where, SCHEMA, Landing, UPGRADES)
    check(values, _LANDING, where)
    length = len(values["temperatures"])
    check(values, {"spreads": Rule(lambda each: len(each) == length, f"{length} numbers, as temperatures has")}, where)
    return Landing(**values)
