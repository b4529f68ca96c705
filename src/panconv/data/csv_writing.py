"""Tables that we write: whole or not at all, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from panconv.base.files import replacing

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes a table: numbers as Python writes them, None as an empty cell, texts as they are."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([cell(each) for each in header])
        writer.writerows([cell(each) if type(each) is str else each for each in row] for row in rows)


def cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, and run, gets an apostrophe in front."""
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
