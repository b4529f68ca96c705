"""Words: of path weights, from the plain JSON that records and grids have, and of numbers. Never imports torch."""

from __future__ import annotations

import math
from typing import Any

_NAMED = {"free": "trained", "boltzmann": "Boltzmann, trained", "power-law": "exp(-n/T), T trained"}
_TRAINED = {"alpha": "alpha", "both": "T and alpha"}  # of a power law, where it is not T alone


def in_words(weights: Any) -> str:
    """Path weights, as a plain spec, in words.

    >>> in_words([0.0, 1.0, 1.0]), in_words({"kind": "boltzmann", "energies": [2.0, 0.0], "temperature": 1.0})
    ('0 1 1', 'Boltzmann, trained from E = 2 0')
    """
    if weights is None:
        return "the method's own"
    if isinstance(weights, str):
        return _NAMED.get(weights, weights)
    if isinstance(weights, list):
        return _numbers(weights)
    kind = weights.get("kind")
    if kind == "layers":
        return " | ".join(map(in_words, weights["of"]))
    if kind == "power-law":
        what = weights.get("trained")
        trained = f", {_TRAINED.get(what, 'T')} trained from it" if what else ""
        trained = ", normalised" + trained if weights.get("normalized") else trained
        return f"exp(-n^{_numbers([weights.get('alpha', 1.0)])}/{_numbers(weights.get('temperature', 1.0))}){trained}"
    if kind == "boltzmann":
        at = weights.get("temperature", 1.0)
        return f"Boltzmann, trained from E = {_numbers(weights['energies'])}" + (f", T = {at:g}" if at != 1 else "")
    return f"trained from {_numbers(weights['k'])}" if kind == "free" else _numbers(weights["k"])


def _numbers(values: Any) -> str:
    """A number, or several side by side; of trials that differ, in brackets."""
    if not isinstance(values, list):
        return f"{values:g}"
    return " ".join(f"({_numbers(each)})" if isinstance(each, list) else _numbers(each) for each in values)


def signed(value: float) -> str:
    """A difference with its sign; what rounds to nothing is +0.0."""
    return f"{round(value, 1) + 0.0:+.1f}"


def decimals(value: float, digits: int) -> str:
    """A number with so many digits behind the point, and no minus before what rounds to nothing.

    >>> decimals(0.984, 2), decimals(-0.001, 2), decimals(float("nan"), 2)
    ('0.98', '0.00', '–')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}" if math.isfinite(value) else "–"
