"""What a file says that was learned of some columns, checked before anything is made of it."""

from __future__ import annotations

import math
from typing import Any

from panconv.base.checks import shown
from panconv.data.dates import NOTATIONS
from panconv.data.encoders import Categories, Counts, Numbers, Words
from panconv.data.positions import COLUMNS
from panconv.data.structure import NAMES

KINDS: dict[str, Any] = {"numbers": Numbers, "counts": Counts, "categories": Categories, "words": Words}
_SOURCES = {
    "columns": tuple(KINDS),
    "dates": ("numbers",),
    "matrix": ("numbers", "counts"),
    "structure": ("numbers",),
    "positions": ("numbers",),
}
DATE_PARTS = 3  # numbers that a date becomes


def checked_learned(source: Any, columns: Any, kind: Any, said: Any) -> Any:
    """What a transformer has learned, if a file says it as it was written.

    Args:
        source, columns: of the `Block`.
        kind: a name of `KINDS`.
        said: the lists of numbers or texts.
    """
    if not isinstance(source, str) or kind not in _SOURCES.get(source, ()):
        raise ValueError(f"{shown(kind)} of {shown(source)} is nothing that can be learned")
    _check_texts("columns", columns)
    learned = KINDS[kind](**said)
    for name, values in vars(learned).items():
        _check_texts(name, values) if name in ("categories", "words") else _check_numbers(name, values)
    _check_lengths(source, columns, learned)
    if any(scale == 0 for scale in learned.scales):
        raise ValueError("scales holds 0, by which nothing can be divided")
    if source == "structure" and not set(columns) <= set(NAMES):
        raise ValueError(f"columns names {shown(next(iter(set(columns) - set(NAMES))))}, which no graph has")
    return learned


def checked_notations(source: str, columns: list[str], said: Any) -> list[str]:
    """How dates were written, per column; a file from before they were kept says nothing of it."""
    if source != "dates":
        return []
    found = [""] * len(columns) if said is None else said
    if not isinstance(found, list) or len(found) != len(columns) or not all(each in NOTATIONS for each in found):
        raise ValueError(f"notations is damaged: it must have one of {', '.join(map(repr, NOTATIONS))} per column")
    return found


def _check_lengths(source: str, columns: list[str], learned: Any) -> None:
    lengths = {len(values) for name, values in vars(learned).items() if name != "gaps"}
    if len(lengths) != 1:
        raise ValueError("its lists differ in length")
    width = lengths.pop()
    if isinstance(learned, (Categories, Words)):
        if len(columns) != 1:
            raise ValueError(f"texts come from one column, got {len(columns)}")
        return
    wanted = {"matrix": width, "positions": COLUMNS, "dates": DATE_PARTS * len(columns)}.get(source, len(columns))
    if width != wanted or (source == "matrix" and columns) or (source == "positions" and len(columns) != COLUMNS):
        raise ValueError(f"{len(columns)} columns of {source} go with {wanted} numbers each, got {width}")
    gaps = learned.gaps
    if any(not isinstance(place, int) or not 0 <= place < width for place in gaps) or len(set(gaps)) != len(gaps):
        raise ValueError("gaps must be places of columns, each once")


def _check_texts(name: str, values: Any) -> None:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ValueError(f"{name} is damaged: it must be a list of texts")
    if len(set(values)) != len(values):
        raise ValueError(f"{name} names something twice")


def _check_numbers(name: str, values: Any) -> None:
    if not isinstance(values, list) or not all(map(_is_finite, values)):
        raise ValueError(f"{name} is damaged: it must be a list of finite numbers")


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63  # NumPy has no larger ones
