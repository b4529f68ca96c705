"""What all drawn pictures have in common: the canvas, the axes, a mean with its spread, the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from panconv.base.files import replacing

SMALL = 8  # points: legends and labels beside the axes' own


def canvas(width: float, height: float) -> Figure:
    """An empty picture, in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def bare(axis: Axes) -> Axes:
    """The axis without the frame's upper and right line."""
    axis.spines[["top", "right"]].set_visible(False)
    return axis


def ruled(axis: Axes) -> Axes:
    """The same with faint lines across."""
    axis.grid(alpha=0.25)
    return bare(axis)


def curve(axis: Axes, x: ArrayLike, mean: ArrayLike, spread: ArrayLike, color: Any, alpha: float, **line: Any) -> None:
    """A mean as a line and its spread as a band."""
    middle, width = np.asarray(mean), np.asarray(spread)
    axis.fill_between(x, middle - width, middle + width, color=color, alpha=alpha, linewidth=0)
    axis.plot(x, middle, color=color, **{"linewidth": 1.6, **line})


def save(figure: Figure, path: Path) -> None:
    """Writes the picture whole, in the format of the path's ending; the same picture is the same file.

    So an SVG has no date in it, and names that do not change.
    """
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "panconv"}):
        figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
