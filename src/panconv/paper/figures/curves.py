"""Learning curves, drawn: validation accuracy and loss over the epochs, mean and standard deviation of the trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from panconv.paper.figures.band import CURVES, band
from panconv.paper.figures.palette import BLUE, MODELS
from panconv.paper.figures.style import SMALL, bare, canvas, curve, ruled, save
from panconv.records.record import Record


def learning_curves(by_graph: Mapping[str, Sequence[Record]], path: Path) -> None:
    """Draws a column per graph, and saves it in the format of the path's ending."""
    figure = canvas(4.2 * len(by_graph), 5.6)
    axes = figure.subplots(2, len(by_graph), sharex="col", squeeze=False)
    for column, (title, runs) in enumerate(by_graph.items()):
        for axis, (name, _, scale) in zip(axes[:, column], CURVES, strict=True):
            curve(ruled(axis), *band(runs, name, scale), BLUE, alpha=0.25)
        axes[0, column].set_title(title)
        axes[1, column].set_xlabel("epoch")
    for axis, (_, label, _) in zip(axes[:, 0], CURVES, strict=True):
        axis.set_ylabel(label)
    trials = len(next(iter(by_graph.values())))
    figure.suptitle(f"PAN: mean and standard deviation of {trials} trial{'s' * (trials > 1)}")
    save(figure, path)


def draw_figure2(by_model: Mapping[str, Sequence[Record]], path: Path) -> None:
    """Draws Figure 2: the accuracy of PAN and GCN on Cora, with the loss as an inset."""
    picture = canvas(7, 4.6)
    main = bare(picture.subplots())
    inset = main.inset_axes((0.5, 0.12, 0.46, 0.46))
    for axis, (name, _, scale) in zip((main, inset), CURVES, strict=True):
        for label, runs in by_model.items():
            curve(axis, *band(runs, name, scale), MODELS[label], alpha=0.25, label=label)
        axis.grid(alpha=0.25)
    main.set(xlabel="epoch", ylabel=CURVES[0][1], title="PAN and GCN on Cora")
    inset.set_title(CURVES[1][1], fontsize=9)
    inset.tick_params(labelsize=SMALL)
    main.legend(loc="upper left")
    save(picture, path)


def draw_scales(cells: Mapping[str, Mapping[str, Sequence[Record]]], path: Path) -> None:
    """Draws Figure 2 once for each scale of the operator and weight decay, named by the titles of four panels."""
    picture = canvas(8, 6)
    axes = picture.subplots(2, 2, sharex=True, sharey=True)
    for axis, (title, by_model) in zip(axes.flat, cells.items(), strict=True):
        for label, runs in by_model.items():
            curve(ruled(axis), *band(runs, CURVES[0][0], 100.0), MODELS[label], alpha=0.2, label=label)
        axis.set_title(title, fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel(CURVES[0][1])
    for axis in axes[1]:
        axis.set_xlabel("epoch")
    axes[0, 0].set_xlim(0, 120)
    axes[0, 0].legend(loc="lower right")
    picture.suptitle("Figure 2 at equal scale and equal weight decay (Cora)")
    save(picture, path)
