"""Times as people write them: 90 seconds, "90s", "5m", "1h"."""

from __future__ import annotations

import re
from typing import Any

from panconv.base.checks import as_number, shown

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def checked_seconds(value: Any, name: str) -> float:
    """A time above 0 in seconds, from a number of seconds, or a text with a unit.

    >>> checked_seconds("1.5h", "budget")
    5400.0
    """
    if isinstance(value, str):
        read = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)([smh])", value.strip())
        found = None if read is None else float(read[1]) * _UNITS[read[2]]
    else:
        found = as_number(value)
    if found is None or not 0 < found < float("inf"):
        raise ValueError(f"{name} must be a time above 0, such as 90s, 10m or 1h, got {shown(value)}")
    return found
