"""Where the names of nodes stand in a drawing: beside their nodes, and never over one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np

_WIDE, _NARROW, _HIGH = 1.05, 0.62, 1.25  # of a letter, in sizes of the font; a little more than most need
_LONGEST = 16  # letters
# Where a name may stand: to which side of its node, and how far from it.
_SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
_ANCHORS = {1: "start", 0: "middle", -1: "end"}


class Caption(NamedTuple):
    text: str
    x: float
    y: float  # of the middle of the line
    anchor: str  # SVG's text-anchor


Box = tuple[float, float, float, float]  # left, top, right, bottom


def captions(
    names: Sequence[str], at: np.ndarray, radius: Sequence[float], size: tuple[float, float], font: float
) -> list[Caption | None]:
    """A caption per node; None where there is no room. Those that come first have the choice.

    Args:
        names: of the nodes, the ones that matter most first.
        at: (n, 2), where they are drawn.
        radius: (n,), how large they are drawn.
        size: width and height of the drawing.
        font: the size of the letters.
    """
    taken: list[Box] = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(at.tolist(), radius, strict=True)]
    found: list[Caption | None] = []
    middle = np.array(size) / 2
    for name, point, r in zip(names, at, radius, strict=True):
        text = shortened(name)
        outwards = np.sign(np.round((point - middle) / middle, 1))
        sides = sorted(_SIDES, key=lambda side: -float(np.dot(side, outwards)) + 0.5 * abs(side[1]))
        caption = None
        for side in sides:
            place, box = _beside(text, point, r, side, font)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
            if inside and all(_apart(box, other) for other in taken):
                caption = place
                taken.append(box)
                break
        found.append(caption)
    return found


def shortened(name: str) -> str:
    """A name of one line that is not too long for a drawing."""
    text = " ".join(name.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _beside(text: str, point: np.ndarray, r: float, side: tuple[int, int], font: float) -> tuple[Caption, Box]:
    wide = sum(_WIDE if east_asian_width(letter) in "WF" else _NARROW for letter in text) * font
    high = _HIGH * font
    across, down = side
    gap = r + 3 if not (across and down) else 0.75 * r + 1
    x = float(point[0]) + across * gap
    y = float(point[1]) + down * (gap + high / 2)
    left = x - {1: 0.0, 0: wide / 2, -1: wide}[across]
    return Caption(text, x, y, _ANCHORS[across]), (left, y - high / 2, left + wide, y + high / 2)


def _apart(a: Box, b: Box) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
