"""`Figure`: a number with its interval of 95 %, and what a gain with such an interval says."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_WIDE = 1.96  # standard errors on either side of an interval of 95 %


class Figure(NamedTuple):
    """A figure with its interval of 95 %."""

    value: float
    low: float
    high: float

    @staticmethod
    def share(count: int, of: int) -> Figure | None:
        """A share with Wilson's interval; None of nothing."""
        return Figure(count / of, *wilson(count / of, of)) if of else None

    @staticmethod
    def mean(each: np.ndarray) -> Figure:
        """The mean of numbers (n,), such as differences row by row; without bounds where there is only one."""
        mean = float(each.mean())
        error = float(each.std(ddof=1)) / math.sqrt(len(each)) if len(each) > 1 else math.inf
        return Figure(mean, mean - _WIDE * error, mean + _WIDE * error)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of 95 % of a share of n, which stays between 0 and 1."""
    if not n:
        return 0.0, 1.0
    square = _WIDE**2 / n
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def helps(gain: Figure, what: str = "The graph") -> str:
    """Whether something helps, in words: only where the whole interval of its gain is on one side of 0."""
    if gain.low > 0:
        return f"{what} helps"
    if gain.high < 0:
        return f"{what} does harm"
    return f"It is not clear whether {what[0].lower()}{what[1:]} helps"
