"""Table 2 as a picture: every method's mean and spread on a graph, best first, with the paper's figure as a mark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from panconv.paper.figures.palette import BLUE, GREY, ORANGE
from panconv.paper.figures.style import bare, canvas, save
from panconv.paper.report.standing import Place, comparable
from panconv.paper.report.summary import TITLES


def draw_ranking(ranked: Sequence[Place], graph: str, path: Path) -> None:
    """Draws the places on a graph, in the format of the path's ending."""
    figure = canvas(7, 1.6 + 0.24 * len(ranked))
    axis = bare(figure.subplots())
    _marks(axis, ranked)
    axis.set(xlabel="test accuracy (%)", title=f"Every method on {TITLES[graph]}", ylim=(len(ranked) - 0.5, -0.5))
    axis.set_yticks(range(len(ranked)), [place.name for place in ranked])
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", alpha=0.3)
    axis.spines["left"].set_visible(False)
    _highlight(axis, ranked)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save(figure, path)


def _marks(axis: Axes, ranked: Sequence[Place]) -> None:
    with_paper = [(place.cell.paper, at) for at, place in enumerate(ranked) if place.cell.paper is not None]
    if with_paper:
        x, y = zip(*with_paper, strict=True)
        axis.plot(x, y, "D", mfc="none", mec=ORANGE, ms=7, zorder=5, ls="", label="the paper's figure")
    for ours, ink, label in ((False, GREY, "ours: mean ± std. dev."), (True, BLUE, "PAN, ours")):
        those = [(at, place) for at, place in enumerate(ranked) if place.ours is ours]
        if those:
            axis.errorbar(
                [place.mean for _, place in those],
                [at for at, _ in those],
                xerr=[place.cell.std for _, place in those],
                fmt="o",
                color=ink,
                ms=6 if ours else 4.5,
                lw=1.4,
                capsize=2.5,
                zorder=4,
                label=label,
            )


def _highlight(axis: Axes, ranked: Sequence[Place]) -> None:
    at = next((i for i, place in enumerate(ranked) if place.ours), None)
    if at is None:
        return
    axis.axhspan(at - 0.5, at + 0.5, color=BLUE, alpha=0.12, lw=0, zorder=0)
    axis.get_yticklabels()[at].set(color=BLUE, fontweight="bold")
    if not comparable(ranked):
        return
    low, high = axis.get_xlim()
    left = 2 * ranked[at].mean > low + high  # at the far end of its row, where no mark of it is
    axis.annotate(
        f"rank {at + 1} of {len(ranked)}",
        (0.01 if left else 0.99, at),
        xycoords=("axes fraction", "data"),
        ha="left" if left else "right",
        va="center_baseline",
        color=BLUE,
        fontweight="bold",
        fontsize=9,
    )
