"""What the settings of the zoo may be: a wrong one is refused in a line, before anything is trained. No torch here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

WORDS: dict[str, tuple[str, ...]] = {
    "base": ("A", "A+I", "Â", "D⁻¹A", "D^−½AD^−½"),
    "decay": ("first.", ""),
    "keep": ("loss", "accuracy", "both"),
    "lead": ("score", "share"),
    "link": ("count", "proportion"),
    "loss": ("hierarchical", "negative"),
    "quota": ("found", "equal"),
    "scale": ("none", "unit", "standard"),
    "variant": ("T", "I"),
    "walk": ("generic", "maximal-entropy"),
}
# Whole numbers are at least 1, but for these.
FROM_ZERO = ("context_steps", "fixed", "hops", "label_pairs", "label_steps", "passes", "pretrain", "rounds")
POSITIVE = ("C", "context_lr", "growth", "lr", "p", "q", "ridge", "threshold")  # other numbers are at least 0


def merged(settings: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some changed; a name they do not have, or a value that makes no sense, is refused."""
    if odd := [name for name in given if name not in settings]:
        raise ValueError(f"{odd[0]!r} is no setting of this method: it has {', '.join(settings)}")
    for name, value in given.items():
        _check(name, value)
    return {**settings, **given}


def _check(name: str, value: Any) -> None:
    if isinstance(value, str):
        if name in WORDS and value not in WORDS[name]:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, WORDS[name]))}, got {value!r}")
    elif isinstance(value, int) and not isinstance(value, bool):
        least = 0 if name in FROM_ZERO else 1
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    elif isinstance(value, float):
        if not math.isfinite(value) or value < 0 or (name in POSITIVE and value == 0):
            raise ValueError(f"{name} must be {'above' if name in POSITIVE else 'at least'} 0 and finite, got {value}")
        if (name == "dropout" and value >= 1) or (name == "alpha" and value > 1):
            raise ValueError(f"{name} must be {'below' if name == 'dropout' else 'at most'} 1, got {value}")
