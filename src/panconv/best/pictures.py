"""The ladder and the depths, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from panconv.best.depth import DEPTHS, Look, name_of
from panconv.best.study import Line, names_of
from panconv.paper.figures.palette import BLUE, GREY, ORANGE
from panconv.paper.figures.style import SMALL, bare, canvas, curve, ruled, save

_DEEP = 10  # points below the best: models that break down leave the picture
_INKS = {"GCN": GREY, "GCNII": ORANGE, "PAN": BLUE}


def draw_ladder(found: Mapping[str, Sequence[Line]], path: Path) -> None:
    """The accuracy of each step with its spread, a panel per graph; the first step is at the top."""
    figure = canvas(9.0, 2.6)
    steps = names_of(found.values())
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for axis, (graph, those) in zip(panels, found.items(), strict=True):
        rows = [-steps.index(line.name) for line in those]
        means, spread = [line.mean for line in those], [line.std for line in those]
        ruled(axis).errorbar(means, rows, xerr=spread, fmt="o", color=BLUE)
        for row, line in zip(rows, those, strict=True):
            axis.annotate(f"{line.mean:.1f}", (line.mean, row), (0, 6), textcoords="offset points", fontsize=SMALL)
        axis.set_title(graph.capitalize(), fontsize=SMALL + 2)
        axis.set_xlabel("test accuracy (%)", fontsize=SMALL)
        axis.margins(x=0.15, y=0.15)
    panels[0].set_yticks([-i for i in range(len(steps))], steps, fontsize=SMALL)
    save(figure, path)


def draw_depths(those: Sequence[Line], looks: Sequence[Look], path: Path) -> None:
    """Left the accuracy by depth with its spread, right the energy of what comes out of each layer of the deepest."""
    figure = canvas(9.0, 3.0)
    left, right = figure.subplots(1, 2)
    by_name = {line.name: line for line in those}
    for model, ink in _INKS.items():
        known = [(layers, by_name[name_of(model, layers)]) for layers in DEPTHS if name_of(model, layers) in by_name]
        if known:
            layers, lines = zip(*known, strict=True)
            spread = [line.std for line in lines]
            curve(ruled(left), layers, [line.mean for line in lines], spread, ink, 0.2, marker="o", label=model)
    for look in looks:
        right.plot(list(look.energy), list(look.energy.values()), color=_INKS[look.model], label=look.model)
    best = max(line.mean for line in those)
    left.set(xscale="log", xlabel="layers", ylabel="test accuracy (%)", ylim=(best - _DEEP, best + 2))
    left.set_xticks(DEPTHS, [*map(str, DEPTHS)])
    left.minorticks_off()
    bare(right).set(yscale="log", xlabel=f"layer, of {DEPTHS[-1]}", ylabel="relative Dirichlet energy")
    for axis in (left, right):
        axis.legend(fontsize=SMALL, frameon=False)
    save(figure, path)
