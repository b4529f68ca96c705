"""A picture of the influencer: what a hub is heard of beside an ordinary node, and what followers change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from panconv.paper.figures.palette import BLUE, DARK_BLUE, GREY, ORANGE
from panconv.paper.figures.style import SMALL, bare, canvas, curve, ruled, save
from panconv.paper.studies.influence import FOLLOWERS, OPERATORS, Spread, Study, Summary

_INKS = {"generic": ORANGE, "maximal-entropy": DARK_BLUE, "M": BLUE, "paths": GREY}
_MARKS = {"generic": "^", "maximal-entropy": "s", "M": "o", "paths": "o"}
_LINES = {"receiver": "-", "both": "--", "sender": ":", "nowhere": "-"}
_PALE = "0.83"
_SHADES = (1.0, 0.6, 0.3)  # of the distances; beyond, the last


def influence_figure(found: Study, title: str, path: Path) -> None:
    """Above, the hub of each kind of graph; below, a node that is given followers, a panel per distance."""
    figure = canvas(11, 9.2)
    above, below = figure.subfigures(2, 1, height_ratios=(5, 4), squeeze=False)[:, 0]
    panels = above.subplots(1, len(found.rounds), sharey=True, squeeze=False)[0]
    for axis, kind in zip(panels, found.rounds, strict=True):
        _hub(axis, found.summary(kind))
        links, _ = found.degree(kind)
        axis.set_title(f"{kind.capitalize()}: the hub has {links:.0f} links", fontsize=10)
    panels[0].set_yticks(range(len(OPERATORS)), [str(each) for each in OPERATORS], fontsize=SMALL)
    panels[0].invert_yaxis()
    panels[0].legend(fontsize=SMALL, loc="lower right", title="distance", title_fontsize=SMALL)
    above.supxlabel("influence of the hub over an ordinary node's (open circles: at the same receivers)", fontsize=9)
    lower = below.subplots(1, len(found.followers[0]), sharey=True, squeeze=False)[0]
    for d, axis in enumerate(lower):
        _followers(axis, [of[d] for of in found.followers])
        axis.set_title(f"nodes at distance {d + 1}", fontsize=10)
    lower[0].set_ylabel("influence over that\nwithout followers", fontsize=9)
    below.supxlabel("followers that one node of the ring is given", fontsize=9)
    handles, labels = lower[0].get_legend_handles_labels()
    below.legend(handles, labels, loc="outside right center", fontsize=SMALL, handlelength=2.6)
    figure.suptitle(title)
    save(figure, path)


def _hub(axis: Axes, found: Sequence[Summary]) -> None:
    """A row per operator, a mark per distance; a level for each distance, so that none hides another."""
    count = len(found[0].ratio)
    for d in range(count):
        level = np.arange(len(found)) + (d - (count - 1) / 2) * 0.6 / count
        for each, y, operator in zip(found, level, OPERATORS, strict=True):
            ink, mark, alpha = _INKS[operator.walk], _MARKS[operator.walk], _SHADES[min(d, len(_SHADES) - 1)]
            label = str(d + 1) if operator is OPERATORS[-1] else None
            (mean, std), (same, _) = each.ratio[d], each.same[d]
            axis.errorbar(mean, y, xerr=std, fmt=mark, ms=5, color=ink, alpha=alpha, elinewidth=1, label=label)
            axis.plot(same, y, "o", ms=8, mfc="none", mec=ink, mew=0.7, alpha=alpha)
    for border in np.flatnonzero([a.walk != b.walk for a, b in pairwise(OPERATORS)]):
        axis.axhline(border + 0.5, color="0.85", linewidth=0.8)
    axis.axvline(1, color="0.4", linewidth=1)
    axis.set_xscale("log")
    bare(axis)


def _followers(axis: Axes, found: Sequence[Sequence[Spread]]) -> None:
    for operator, points in zip(OPERATORS, found, strict=True):
        mean, std = (np.array(part) for part in zip(*points, strict=True))
        ink, mark, style = _INKS[operator.walk], _MARKS[operator.walk], _LINES[operator.divided]
        line: dict[str, Any] = {"label": str(operator), "marker": mark, "markersize": 4, "linestyle": style}
        if operator.divided == "nowhere":  # broad, and below the others, which may lie on it
            ink, line = _PALE, line | {"linewidth": 6, "marker": "", "zorder": 1}
        curve(axis, FOLLOWERS, mean, std, ink, alpha=0.12, **line)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(1e-3, 1e2)
    axis.set_xticks(FOLLOWERS, [str(count) for count in FOLLOWERS])
    axis.minorticks_off()
    ruled(axis)
