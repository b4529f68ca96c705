"""Values as JSON has them, and back: nothing is taken for what it does not say it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from panconv.base.checks import shown

_WORDS = {bool: "true or false", int: "a whole number", str: "a text", list: "a list", dict: "an object"}
_NOT_FINITE = ("nan", "inf", "-inf")  # as texts, since JSON has no numbers for them
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


def field(content: Any, key: str, kind: type, or_null: bool = False) -> Any:
    """What an object says under a key, if it is of a kind."""
    if not isinstance(content, dict) or key not in content:
        raise ValueError(f"it does not say {key!r}")
    return checked(content[key], key, kind, or_null)


def checked(value: Any, name: str, kind: type, or_null: bool = False) -> Any:
    """The value itself, if it is of a kind."""
    if value is None and or_null:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"its {name!r} must be {_WORDS[kind]}{' or null' * or_null}, got {shown(value)}")
    return value


def texts(content: Any, key: str) -> list[str]:
    """A list of texts."""
    found: list[str] = field(content, key, list)
    for each in found:
        checked(each, key, str)
    return found


def number(value: float) -> float | str:
    """A number for JSON."""
    return float(value) if math.isfinite(value) else str(float(value))


def number_of(content: Any, key: str) -> float:
    """A number that `number` wrote."""
    if not isinstance(content, dict) or key not in content:
        raise ValueError(f"it does not say {key!r}")
    value = content[key]
    if value in _NOT_FINITE and isinstance(value, str):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"its {key!r} must be a number, got {shown(value)}")
    return float(value)


def numbers(values: dict[str, float]) -> dict[str, float | str]:
    """Numbers by their names, for JSON."""
    return {name: number(value) for name, value in values.items()}


def numbers_of(content: Any, key: str) -> dict[str, float]:
    """Numbers by their names."""
    found = field(content, key, dict)
    return {name: number_of(found, name) for name in found}


def array(values: np.ndarray) -> dict[str, Any]:
    """Classes for JSON, with their dtype."""
    if values.dtype.kind == "U" or (values.dtype == object and all(isinstance(each, str) for each in values)):
        return {"dtype": "str", "values": [str(each) for each in values]}
    if values.dtype.name not in _DTYPES:
        raise ValueError(f"classes of {values.dtype} cannot be saved: name them by texts or whole numbers")
    return {"dtype": values.dtype.name, "values": values.tolist()}


def array_of(content: Any, key: str) -> np.ndarray:
    """Classes that `array` wrote, (C,), all different."""
    found = field(content, key, dict)
    dtype, values = field(found, "dtype", str), field(found, "values", list)
    if dtype not in (*_DTYPES, "str"):
        raise ValueError(f"its {key!r} must be of texts or numbers, got dtype {shown(dtype)}")
    if dtype == "str" and any("\0" in value for value in values if isinstance(value, str)):
        raise ValueError(f"its {key!r} holds a text with a zero byte")
    kind: Any = {"b": bool, "f": (int, float), "s": str}.get(dtype[0], int)
    for value in values:
        if not isinstance(value, kind) or (isinstance(value, bool) and dtype != "bool"):
            raise ValueError(f"its {key!r} holds {shown(value)}, which is no {dtype}")
    made = np.array(values, dtype=dtype)
    if len(set(made.tolist())) != len(values) or (made.dtype.kind == "f" and not np.isfinite(made).all()):
        raise ValueError(f"its {key!r} must be finite, and all different")
    return made


def simple(value: Any) -> Any:
    """A parameter for JSON: numbers, texts, True, False and None, in lists and in dicts by texts.

    A TypeError for anything else, such as a splitter.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: simple(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [simple(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise TypeError(f"{shown(value)} is not plain")


def is_simple(value: Any) -> bool:
    """Whether `simple` takes it."""
    try:
        simple(value)
    except (TypeError, RecursionError):
        return False
    return True
