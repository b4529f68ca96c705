"""What a single cell of a table says: that nothing is known, or a number. Imports neither Arrow nor torch."""

from __future__ import annotations

import re

# What people and programs write for what is not known.
UNKNOWN = ("na", "n/a", "#n/a", "nan", "null", "none", "-", "?")
# Not a number, though Python would read one: 007 is a code, and an underscore is no part of a number in a table.
CODE = r"^[-+]?0[0-9]|_"
COMMA = r"^([-+]?[0-9]*),([0-9]+([eE][-+]?[0-9]+)?)$"
# Where a cell is such, a comma is no decimal one: 2.5, and 1,234,567.
NO_COMMA = r"^[-+]?[0-9]*\.[0-9]|^[-+]?[0-9]{1,3}(,[0-9]{3}){2,}"


def is_unknown(text: str | None) -> bool:
    """Whether a cell says that nothing is known."""
    return text is None or text.lower() in UNKNOWN


def number_in(text: str, commas: bool = False) -> float:
    """What a cell says, NaN where it is no number; `commas`: whether decimal commas are read."""
    text = re.sub(COMMA, r"\1.\2", text) if commas else text
    try:
        return float("nan") if re.search(CODE, text) else float(text)
    except ValueError:
        return float("nan")
