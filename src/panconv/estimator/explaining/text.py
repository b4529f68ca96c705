"""An explanation as a few lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from panconv.estimator.explaining.explanation import Explanation

_MOST = 5  # nodes and features that are named
_LENGTHS = 10  # path lengths


def lines(one: Explanation) -> Iterator[str]:
    """Class and score, then what adds most: lengths, nodes, features and single paths."""
    decimals = _decimals([one.score, one.bias, *one.lengths, *(path.value for path in one.paths)])

    def number(value: float) -> str:
        return f"{value:+.{decimals}f}"

    def table(rows: Iterable[tuple[str, float]]) -> Iterator[str]:
        shown = list(rows)
        wide = max((len(name) for name, _ in shown), default=0)
        return (f"  {name:<{wide}}  {number(value)}" for name, value in shown)

    what = "" if one.label is None else f": {one.label}"
    sure = "" if math.isnan(one.probability) else f", probability {one.probability:.2f}"
    yield f"{one.node}{what}{sure}"
    yield f"score {number(one.score)}, of which {number(one.bias)} is bias"
    yield "by path length"
    yield from table(_lengths(one.lengths))
    for name, parts in (("nodes", one.ends), ("features", one.features)):
        yield f"by {name} that are heard" if name == "nodes" else f"by {name}"
        rest = [("others", sum(part.value for part in parts[_MOST:]))] if len(parts) > _MOST else []
        yield from table([*((str(part.name), part.value) for part in parts[:_MOST]), *rest])
    if one.paths:
        rest_of_paths = one.score - one.bias - sum(path.value for path in one.paths)
        yield "by single paths"
        rows = [(" → ".join(map(str, path.nodes)), path.value) for path in one.paths]
        yield from table([*rows, ("others", rest_of_paths)])


def _lengths(values: tuple[float, ...]) -> list[tuple[str, float]]:
    rows = [(f"{n} step{'' if n == 1 else 's'}", value) for n, value in enumerate(values)]
    if len(rows) <= _LENGTHS:
        return rows
    most = sorted(range(len(rows)), key=lambda n: -abs(values[n]))[: _LENGTHS - 1]
    rest = sum(value for n, value in enumerate(values) if n not in most)
    return [*(rows[n] for n in sorted(most)), ("others", rest)]


def _decimals(values: list[float]) -> int:
    """So many that the largest has three digits."""
    largest = max(map(abs, values))
    return 2 if largest == 0 or not math.isfinite(largest) else min(9, max(2, 2 - math.floor(math.log10(largest))))
