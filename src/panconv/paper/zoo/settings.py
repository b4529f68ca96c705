"""What the settings of the zoo may be: a wrong one is refused in a line, before anything is trained. No torch here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

WORDS: dict[str, tuple[str, ...]] = {
    "base": ("A", "A+I", "Â", "D⁻¹A", "D^−½AD^−½"),
    "decay": ("first.", "", "convs.", "layers."),
    "keep": ("loss", "accuracy", "both", "metric"),
    "lead": ("score", "share"),
    "link": ("count", "proportion"),
    "loss": ("hierarchical", "negative"),
    "metric": ("accuracy", "auc"),
    "norm": ("batch", "layer"),
    "quota": ("found", "equal"),
    "scale": ("none", "unit", "standard"),
    "variant": ("T", "I"),
    "walk": ("generic", "maximal-entropy"),
}
OR_NULL = ("norm",)  # of these, those that may be left out by saying null
# Whole numbers are at least 1, but for these.
FROM_ZERO = ("context_steps", "fixed", "hops", "label_pairs", "label_steps", "passes", "pretrain", "rounds")
POSITIVE = (
    "C",
    "context_lr",
    "growth",
    "identity",
    "lr",
    "p",
    "q",
    "ridge",
    "threshold",
)  # other numbers are at least 0
_MOST = 10**9  # of a whole number


def merged(settings: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some changed; a name they do not have, or a value that makes no sense, is refused."""
    if odd := [name for name in given if name not in settings]:
        raise ValueError(f"{odd[0]!r:.60} is no setting of this method: it has {', '.join(settings)}")
    return {**settings, **{name: checked(name, value, settings[name]) for name, value in given.items()}}


def checked(name: str, value: Any, like: Any) -> Any:
    """A value that is of the kind of another, and makes sense for that setting."""
    if name in OR_NULL:
        if value is None:
            return value
        like = WORDS[name][0]
    value = _converted(value, like)
    fits = type(value) is type(like) and (not isinstance(like, tuple) or all(_is_whole(each) for each in value))
    if not fits:
        raise ValueError(f"{name} must be like {json.dumps(like, ensure_ascii=False)}, got {value!r:.60}")
    _check(name, value)
    return value


def _converted(value: Any, like: Any) -> Any:
    """A value as the kind of another where it says the same: 2 as 2.0, a list as a tuple."""
    number = isinstance(like, (int, float)) and not isinstance(like, bool)
    if isinstance(like, tuple) and isinstance(value, list):
        return tuple(value)
    if number and isinstance(value, (int, float)) and not isinstance(value, bool):
        if isinstance(like, float) and abs(value) < math.inf:
            return float(value) if abs(value) < 1e300 else math.inf  # a whole number may be too large for one
        if isinstance(like, int) and isinstance(value, float) and value.is_integer():
            return int(value)
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST


def _check(name: str, value: Any) -> None:
    if isinstance(value, str) and value not in WORDS.get(name, (value,)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, WORDS[name]))}, got {value!r:.60}")
    if isinstance(value, int) and not isinstance(value, bool):
        least = 0 if name in FROM_ZERO else 1
        if not least <= value <= _MOST:
            bound = f"at least {least}" if value < least else f"at most {_MOST:,}"
            raise ValueError(f"{name} must be {bound}, got {value}")
    if isinstance(value, float):
        _check_number(name, value)


def _check_number(name: str, value: float) -> None:
    if not math.isfinite(value) or value < 0 or (name in POSITIVE and value == 0):
        raise ValueError(f"{name} must be {'above' if name in POSITIVE else 'at least'} 0 and finite, got {value}")
    dropped = name.startswith("dropout")
    if (dropped and value >= 1) or (name in ("alpha", "share") and value > 1):
        raise ValueError(f"{name} must be {'below' if dropped else 'at most'} 1, got {value}")
