"""Diagrams of the report: where their points and ticks stand, which the template draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from panconv.estimator.worth import Bin

_WIDE, _HIGH = 360.0, 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 26.0, 12.0, 46.0  # of the frame, for ticks and words
_SMALL, _LARGE = 3.5, 10.0  # the radius of a point
_POINTS = 2000  # of a scatter; more would only lie upon one another


class Tick(NamedTuple):
    at: float
    text: str


class Point(NamedTuple):
    x: float
    y: float
    r: float
    low: float  # where its interval ends, on the page
    high: float
    says: str


class Diagram(NamedTuple):
    """A square diagram with a diagonal, where what is said is what is true."""

    name: str
    words: tuple[str, str]  # below and beside
    across: list[Tick]
    up: list[Tick]
    points: list[Point]
    frame: tuple[float, float, float, float] = (_LEFT, _TOP, _WIDE - _RIGHT, _HIGH - _BOTTOM)
    width: float = _WIDE
    height: float = _HIGH


def reliability(bins: Sequence[Bin]) -> Diagram:
    """Of the nodes that are said to be of a class with some probability, the share that is."""
    most = max(each.nodes for each in bins)
    points = []
    for each in bins:
        says = f"{each.nodes} nodes: {100 * each.said:.0f} % said, {100 * each.right.value:.0f} % right"
        radius = _SMALL + (_LARGE - _SMALL) * (each.nodes / most) ** 0.5
        ends = (_down(each.right.low, 0, 1), _down(each.right.high, 0, 1))
        points.append(Point(_along(each.said, 0, 1), _down(each.right.value, 0, 1), radius, *ends, says))
    ticks = [(share, f"{100 * share:.0f} %") for share in (0, 0.25, 0.5, 0.75, 1)]
    across = [Tick(_along(share, 0, 1), text) for share, text in ticks]
    up = [Tick(_down(share, 0, 1), text) for share, text in ticks]
    return Diagram("reliability", ("the probability that is said", "the share that is right"), across, up, points)


def scatter(true: Sequence[float], said: Sequence[float]) -> Diagram:
    """Numbers that were predicted beside the true ones."""
    pairs = np.array([true, said]).T
    if len(pairs) > _POINTS:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), _POINTS, replace=False)]
    low, high = float(pairs.min()), float(pairs.max())
    low, high = (low, high) if high > low else (low - 1, high + 1)
    points = []
    for real, told in pairs.tolist():
        y = _down(told, low, high)
        points.append(Point(_along(real, low, high), y, _SMALL, y, y, f"true {real:.4g}, predicted {told:.4g}"))
    ticks = [(value, f"{value:.4g}") for value in round_numbers(low, high)]
    across = [Tick(_along(value, low, high), text) for value, text in ticks]
    up = [Tick(_down(value, low, high), text) for value, text in ticks]
    return Diagram("scatter", ("true", "predicted"), across, up, points)


def round_numbers(low: float, high: float) -> list[float]:
    """Two to six round numbers between two bounds.

    >>> round_numbers(0.3, 9.7)
    [2.0, 4.0, 6.0, 8.0]
    """
    raw = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(raw))
    step = size * next(each for each in (1, 2, 5, 10) if each * size >= raw * (1 - 1e-9))
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]


def _along(value: float, low: float, high: float) -> float:
    return _LEFT + (_WIDE - _LEFT - _RIGHT) * (value - low) / (high - low)


def _down(value: float, low: float, high: float) -> float:
    return _HIGH - _BOTTOM - (_HIGH - _TOP - _BOTTOM) * (value - low) / (high - low)
