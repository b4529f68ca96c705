"""A score as a waterfall: where it starts, what paths of each length add, where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_MOST = 12  # bars; beyond, lengths stand together


class Bar(NamedTuple):
    """A bar of the waterfall, its place in percent of the width."""

    name: str
    value: float
    kind: str  # "total", "up" or "down"
    left: float
    width: float


class Waterfall(NamedTuple):
    bars: list[Bar]
    zero: float  # where 0 is, in percent


def waterfall(bias: float, lengths: Sequence[float], score: float) -> Waterfall:
    """From the bias, over what paths of 0, 1, … steps add, to the score."""
    parts = [("bias", bias), *_together(lengths)]
    ends = [0.0]
    for _, value in parts:
        ends.append(ends[-1] + value)
    low, high = min(*ends, score, 0.0), max(*ends, score, 0.0)
    scale = 100 / ((high - low) or 1.0)
    bars = []
    for (name, value), before, after in zip(parts, ends, ends[1:], strict=False):
        kind = "total" if name == "bias" else "up" if value >= 0 else "down"
        bars.append(Bar(name, value, kind, scale * (min(before, after) - low), scale * abs(value)))
    bars.append(Bar("score", score, "total", scale * (min(score, 0.0) - low), scale * abs(score)))
    return Waterfall(bars, -scale * low)


def _together(lengths: Sequence[float]) -> list[tuple[str, float]]:
    """What each length adds; of very many, neighbouring lengths together."""
    size = -(-len(lengths) // _MOST)
    found = []
    for n in range(0, len(lengths), size):
        last = min(n + size, len(lengths)) - 1
        name = _steps(n) if n == last else f"{n} to {last} steps"
        found.append((name, sum(lengths[n : last + 1])))
    return found


def _steps(n: int) -> str:
    return "its own features" if n == 0 else "1 step" if n == 1 else f"{n} steps"
