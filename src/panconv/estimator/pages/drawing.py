"""The drawing of an explanation: the node in the middle, those it hears on rings, and its paths by what they add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from panconv.estimator.pages.captions import Caption, captions
from panconv.estimator.pages.neighbourhood import Neighbourhood
from panconv.estimator.pages.rings import rings

_MARGIN = (70.0, 28.0)  # for names to the left and right, and above and below
_SMALL, _LARGE, _CENTRE = (
    5.0,
    12.0,
    13.0,
)  # the radius of a node that adds nothing, of one that adds most, in the middle
_THIN, _THICK = 1.5, 7.0  # of the lines of paths


class Spot(NamedTuple):
    """A node as it is drawn."""

    place: int  # in the neighbourhood
    x: float
    y: float
    r: float
    sign: int  # of what it adds: 1, −1 or 0
    caption: Caption | None


class Line(NamedTuple):
    """A step of paths, or an edge beside them."""

    d: str  # SVG's path
    width: float
    sign: int  # 0 for an edge that no path goes along
    paths: list[int]  # which go along it
    ends: tuple[int, int]  # places


class Drawing(NamedTuple):
    width: float
    height: float
    spots: list[Spot]
    lines: list[Line]  # the faint ones first


def drawn(
    part: Neighbourhood,
    names: Sequence[str],
    adds: Sequence[float],
    walks: Mapping[int, Sequence[int]],
    values: Sequence[float],
    size: tuple[float, float],
    font: float = 12.0,
) -> Drawing:
    """A drawing of a neighbourhood.

    Args:
        part: the nodes.
        names, adds: of each node, what it is called and what it adds.
        walks: by the number of each path, its places in `part`.
        values: what each path adds.
        size: width and height.
        font: the size of the letters.
    """
    half = np.array(size) / 2 - _MARGIN
    at = np.array(size) / 2 + half * rings(part.parents, part.hops, apart=26 / float(half.min()))
    largest = max((abs(value) for value in adds), default=0.0) or 1.0
    radius = [_SMALL + (_LARGE - _SMALL) * (abs(value) / largest) ** 0.5 for value in adds]
    radius[0] = _CENTRE  # with its ring, which stands 4 further out
    order = sorted(range(len(names)), key=lambda i: (i != 0, -abs(adds[i])))
    placed = captions([names[i] for i in order], at[order], [radius[i] + 4 * (i == 0) for i in order], size, font)
    caption = dict(zip(order, placed, strict=True))
    spots = [
        Spot(i, float(x), float(y), radius[i], int(np.sign(adds[i])), caption[i])
        for i, (x, y) in enumerate(at.tolist())
    ]
    steps = _steps(walks)
    top = max((abs(sum(values[p] for p in those)) for those in steps.values()), default=0.0) or 1.0
    faint = [Line(_curve(at, i, j), 1.0, 0, [], (i, j)) for i, j in part.edges if (i, j) not in steps]
    return Drawing(*size, spots, [*faint, *(_line(at, ends, those, values, top) for ends, those in steps.items())])


def _steps(walks: Mapping[int, Sequence[int]]) -> dict[tuple[int, int], list[int]]:
    """Which paths go along each pair of places, in whichever direction; a step that stays where it is, along (i, i)."""
    found: dict[tuple[int, int], list[int]] = {}
    for p, walk in walks.items():
        for u, v in pairwise(walk):
            those = found.setdefault((min(u, v), max(u, v)), [])
            if p not in those:
                those.append(p)
    return found


def _line(at: np.ndarray, ends: tuple[int, int], those: list[int], values: Sequence[float], largest: float) -> Line:
    """By what the paths along it add together."""
    total = sum(values[p] for p in those)
    return Line(
        _curve(at, *ends), _THIN + (_THICK - _THIN) * abs(total) / largest, 1 if total >= 0 else -1, those, ends
    )


def _curve(at: np.ndarray, i: int, j: int) -> str:
    """A line between two nodes; a loop above a node for a step that stays."""
    (x, y), (u, v) = at[i].tolist(), at[j].tolist()
    if i == j:
        return f"M{x - 5:.1f} {y - 8:.1f}C{x - 22:.1f} {y - 36:.1f} {x + 22:.1f} {y - 36:.1f} {x + 5:.1f} {y - 8:.1f}"
    return f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"
