"""A mean and how sure it is. Never imports torch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import t as student

from panconv.records.ranking import std


@dataclass(frozen=True)
class Mean:
    """A mean and half the width of its 95 % interval, by Student's t."""

    mean: float
    half: float

    @property
    def above(self) -> bool:
        return self.mean > self.half

    @property
    def below(self) -> bool:
        return self.mean < -self.half

    @property
    def clear(self) -> bool | None:
        """Whether it is above 0; None where the interval has 0 in it."""
        return self.above if self.above or self.below else None

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ± {self.half:.1f}"


def interval(values: Sequence[float]) -> Mean:
    """The mean of some values, and where that of many more would lie: anywhere, if there is one."""
    if len(values) < 2:
        return Mean(statistics.fmean(values), math.inf)
    return Mean(statistics.fmean(values), quantile(len(values) - 1) * std(values) / math.sqrt(len(values)))


def quantile(freedom: int) -> float:
    """Of Student's t, that of 97.5 %."""
    return float(student.ppf(0.975, freedom))
