"""Dates as tables have them, as days since 1970, where they are written in a notation with only one reading."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, NamedTuple

import numpy as np

from panconv.data.remarks import Remarks, counted, short
from panconv.data.tables import MOSTLY, Table

_EPOCH, _DAY = date(1970, 1, 1).toordinal(), 86_400
_ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
# How dates are written, and what that may mean: 3/4/2024 is one day or another, until a day beyond the 12th says which.
_FORMS = (
    (_ISO, (_ISO,)),
    (r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$", ("%d.%m.%Y",)),
    (r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$", ("%Y/%m/%d",)),
    (r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$", ("%d/%m/%Y", "%m/%d/%Y")),
)


NOTATIONS = ("", *(each for _, forms in _FORMS if len(forms) > 1 for each in forms))  # that `Dates` may have


class Dates(NamedTuple):
    """A column of dates.

    Args:
        days: (n,), since 1970, NaN where there is none.
        notation: which of two readings was meant, as `strptime` has it; "" where there is only one.
    """

    days: np.ndarray
    notation: str


class Ambiguous(ValueError):
    """Dates that can be read in two ways."""


def days_of(table: Table, name: str, remarks: Remarks) -> Dates | None:
    """Its dates; None for a column that is not of dates.

    In a column of dates a few cells may be none: they are missing, which is said.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = table.arrow[name].combine_chunks()
    if pa.types.is_temporal(values.type):
        moments = _of_moments(values)
        return None if moments is None else Dates(moments, "")
    texts = table.known_texts(name)
    there = len(texts) - texts.null_count
    for pattern, formats in _FORMS:
        matching = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
        if not there or (pc.sum(matching).as_py() or 0) < MOSTLY * there:
            continue
        dates = pc.if_else(matching, texts, pa.scalar(None, texts.type))
        days, notation = _read(dates.to_pylist(), formats)
        wrong = np.isnan(days) & texts.is_valid().to_numpy(zero_copy_only=False)
        if there - wrong.sum() < MOSTLY * there:  # the 30th of February and its like
            return None
        if wrong.any():
            row = int(wrong.argmax())
            what = f"{table.where(row, name)}: {short(texts[row])} is no date, unlike most cells of the column"
            remarks.mend(what, f"{counted(wrong.sum(), 'cell')} taken for missing")
        return Dates(days, notation)
    return None


def _of_moments(values: Any) -> np.ndarray | None:
    """Days of what Arrow knows to be a date, with or without a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        moments = pc.cast(values, pa.timestamp("us"))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a time of day
        return None
    micros = pc.cast(pc.cast(moments, pa.int64()), pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(micros, dtype=np.float64) / 86_400e6


def _read(cells: list[str | None], formats: Sequence[str]) -> Dates:
    """Dates by the format that reads most of them; refuses those that two formats read alike well, and otherwise."""
    found = []
    for each in formats:
        known = {cell: _day(cell, each) for cell in {*cells} - {None}}
        found.append(Dates(np.array([np.nan if cell is None else known[cell] for cell in cells]), each))
    found.sort(key=lambda dates: int(np.isnan(dates.days).sum()))  # the surest first
    surest = found[0]
    if all(np.array_equal(surest.days, other.days, equal_nan=True) for other in found):
        return surest._replace(notation="")
    if np.isnan(surest.days).sum() == np.isnan(found[1].days).sum():
        one = short(next(cell for cell in cells if cell is not None))
        raise Ambiguous(f"dates such as {one} can be read in two ways: write them as 2024-01-31")
    return surest


def day_in(cell: str, notation: str) -> float:
    """What a cell says, NaN where it is no date. Of two readings the notation has one; without it there is none."""
    for pattern, formats in _FORMS:
        if re.match(pattern, cell):
            return _day(cell, formats[0] if len(formats) == 1 else notation)
    return math.nan


def _day(cell: str | None, form: str) -> float:
    """NaN where the calendar has no such day. What has no time zone is taken for UTC."""
    try:
        if form == _ISO:
            return _iso_day(cell or "")
        return float(datetime.strptime(cell or "", form).toordinal() - _EPOCH)
    except ValueError:
        return math.nan


def _iso_day(cell: str) -> float:
    """As `datetime.fromisoformat` has it from Python 3.11 on."""
    found = re.match(_ISO, cell)
    if found is None:
        raise ValueError(cell)
    _, hour, minute, second, zone = found.groups()
    clock = time(int(hour or 0), int(minute or 0), int(float(second or 0)))  # which knows no 25th hour
    seconds = 3600 * clock.hour + 60 * clock.minute + float(second or 0)
    if zone and zone != "Z":
        seconds -= int(zone[0] + "1") * (3600 * int(zone[1:3]) + 60 * int(zone[-2:]))
    return date.fromisoformat(cell[:10]).toordinal() - _EPOCH + seconds / _DAY
