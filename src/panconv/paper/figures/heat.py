"""A picture of a grid search: heat maps where the points are k(n), bars where they are anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from panconv.paper.figures.palette import PALE_BLUE
from panconv.paper.figures.style import SMALL, bare, canvas, save
from panconv.records.ranking import Point


def heat_map(points: Sequence[Point], title: str, path: Path) -> None:
    """Draws the validation accuracy of every point, in the format of the path's ending."""
    ks = {tuple(p.weights): 100 * p.val_accuracy for p in points if isinstance(p.weights, list)}
    figure = canvas(9, 4)
    if ks and len(points) == len(ks) and all(len(k) == 3 for k in ks):
        _panels(figure, ks)
    else:
        _bars(figure, points)
    figure.suptitle(title)
    save(figure, path)


def _panels(figure: Figure, ks: dict[tuple[float, ...], float]) -> None:
    firsts, seconds, thirds = (sorted({k[n] for k in ks}) for n in range(3))
    panels = figure.subplots(1, len(firsts), squeeze=False, sharey=True)[0]
    low, high = min(ks.values()), max(ks.values())
    for axis, first in zip(panels, firsts, strict=True):
        z = np.array([[ks.get((first, k1, k2), np.nan) for k1 in seconds] for k2 in thirds])
        image = axis.imshow(z, cmap="Blues", vmin=low, vmax=high, origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(z):
            if np.isfinite(value):
                ink = "white" if value > (low + 2 * high) / 3 else "black"
                axis.text(column, row, f"{value:.1f}", ha="center", va="center", color=ink, fontsize=SMALL)
        axis.set(title=f"k(0) = {first:g}", xlabel="k(1)")
        axis.set_xticks(range(len(seconds)), [f"{k:g}" for k in seconds])
        axis.set_yticks(range(len(thirds)), [f"{k:g}" for k in thirds])
    panels[0].set_ylabel("k(2)")
    figure.colorbar(image, ax=list(panels), label="%")


def _bars(figure: Figure, points: Sequence[Point]) -> None:
    from panconv.weights import in_words

    best = list(points[:20])[::-1]
    axis = bare(figure.subplots())
    accuracy = [100 * p.val_accuracy for p in best]
    axis.barh([in_words(p.weights) for p in best], accuracy, xerr=[100 * p.std for p in best], color=PALE_BLUE)
    axis.set_xlim(left=min(accuracy) - 3)
    axis.set_xlabel("%")
