"""Tables that we write: whole or not at all, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from panconv.base.files import replacing

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NEXT_LINE = re.compile(r"([\r\n]\s*)(?=[=+\-@])")  # what some readers take for the beginning of a cell
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes a table: numbers as Python writes them, None as an empty cell, texts as they are."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        plain, quoting = (
            csv.writer(file, lineterminator="\n", quoting=how) for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        for row in itertools.chain([header], rows):
            cells = [cell(each) if isinstance(each, str) else each for each in row]
            ends = any(isinstance(each, str) and "\r" in each for each in cells)  # which csv does not quote by itself
            (quoting if ends else plain).writerow(cells)


def cell(value: Any) -> Any:
    """A text, or a line within it, that a spreadsheet would run as a formula gets an apostrophe in front."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    value = _NEXT_LINE.sub(r"\1'", value)
    return f"'{value}" if _FORMULA.match(value) else value
