"""Columns of a later table beside those of the same names that features were learned from.

What a cell says is read as it was read then: a date in the notation of then, a category as a text, though all of its
column are numbers now. What cannot be read so is refused where that is a whole column, and is else said in a line.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from panconv.data.cells import is_unknown
from panconv.data.columns import DATE, NUMBER, Column
from panconv.data.remarks import counted, short

_THEN = "when features were learned from it"


def check_numbers(name: str, column: Column) -> None:
    """Refuses a column that has no number; says which cells are none."""
    if column.kind != NUMBER:
        _check(name, column, column.as_numbers, "numbers", "write them with a decimal point and nothing else")


def check_dates(name: str, column: Column, notation: str) -> None:
    """Refuses a column that has no date, or dates in another notation; says which cells are none."""
    if column.kind != DATE:
        _check(name, column, column.as_days(notation), "dates", "write them as 2024-01-31")
    elif notation and column.notation and notation != column.notation:
        what = f"the column {name!r} has dates as {column.notation}, and had them as {notation} {_THEN}"
        raise ValueError(f"{what}: write them as 2024-01-31")


def check_categories(name: str, column: Column, categories: Sequence[str]) -> None:
    """Says of a column whose categories are all others, or are written in another way, that this is so."""
    known = {*categories}
    there = {each for each in column.different if each in known or not is_unknown(each)}
    found = {each for each in as_learned([*there], categories) if each is not None}
    if not found or not known:
        return
    if found.isdisjoint(known):
        what = f"the column {name!r} has none of the categories that it had {_THEN}, such as {short(categories[0])}"
        _warn(f"{what}, but {short(min(found))}: all of its cells are taken for missing")
    elif one := next(_alike(found - known, categories), None):
        what = f"the column {name!r} has the category {short(one[0])}, which was not there {_THEN}, though"
        _warn(f"{what} {short(one[1])} was: it is taken for missing, so write it alike if it is the same")


def as_learned(values: Sequence[str | None], categories: Sequence[str]) -> list[str | None]:
    """Cells, with true and false written as they were when the categories were learned."""
    known, truth = {*categories}, {each.lower(): each for each in categories if each.lower() in ("true", "false")}
    if not truth:
        return [*values]
    return [each if each is None or each in known else truth.get(each.lower(), each) for each in values]


def _check(name: str, column: Column, read: np.ndarray, what: str, remedy: str) -> None:
    """Looks at cells of which some, or all, could not be read."""
    wrong = np.array([np.isnan(r) and not is_unknown(t) for r, t in zip(read, column.as_texts, strict=True)], bool)
    if not wrong.any():
        return
    what, one = f"the column {name!r} had {what} {_THEN}", short(column.as_texts[wrong.argmax()])
    if np.isnan(read).all():
        raise ValueError(f"{what}, and no cell can be read as one now, such as {one}: {remedy}, or empty the cells")
    _warn(
        f"the column {name!r} had {what} {_THEN}, and {one} is none: {counted(wrong.sum(), 'cell')} taken for missing"
    )


def _alike(others: set[str], categories: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a text and a category that are the same number, as 7 and 007 are."""
    known = {number: each for each in categories if (number := _number(each)) is not None}
    yield from ((each, known[number]) for each in sorted(others) if (number := _number(each)) in known)


def _number(text: str) -> float | None:
    try:
        return number if math.isfinite(number := float(text.replace(",", "."))) else None
    except ValueError:
        return None


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=2)
