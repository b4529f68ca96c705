"""Link prediction with both walks on one split after another, and a picture of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.paper.figures.palette import GREY, WALKS
from panconv.paper.figures.style import SMALL, canvas, ruled, save
from panconv.records.ranking import std
from panconv.tasks.link_prediction import auc, common_neighbours, walk_scores
from panconv.tasks.link_splits import split_links
from panconv.walkers import KINDS

# A curve per name: the AUC for t = 1, 2, …; common neighbours have one value alone.
Curves = dict[str, list[float]]
BASELINE = "common neighbours"


def link_round(edge_index: Tensor, num_nodes: int, fraction: float, steps: int, seed: int) -> Curves:
    """The AUC of both walks, plain and superposed, for t = 1 … steps, on one split of the links."""
    split = split_links(edge_index, fraction, seed, num_nodes)
    adj = Adjacency.from_edge_index(split.edge_index, num_nodes=num_nodes)
    pairs = torch.cat([split.positives, split.negatives], 1)
    truth = torch.arange(pairs.size(1), device=pairs.device) < split.positives.size(1)
    curves: Curves = {}
    for kind in KINDS:
        scores = walk_scores(adj, pairs, kind, steps)
        curves[kind] = [auc(each, truth) for each in scores]
        curves[f"{kind}, superposed"] = [auc(each, truth) for each in scores.cumsum(0)]
    curves[BASELINE] = [auc(common_neighbours(adj, pairs), truth)]
    return curves


def mean_and_std(rounds: Sequence[Curves]) -> dict[str, list[tuple[float, float]]]:
    """The mean and the standard deviation over the rounds, for each curve and t."""
    return {
        name: [spread([each[name][t] for each in rounds]) for t in range(len(rounds[0][name]))] for name in rounds[0]
    }


def spread(values: Sequence[float]) -> tuple[float, float]:
    return statistics.fmean(values), std(values)


def links_figure(rounds: Sequence[Curves], title: str, path: Path) -> None:
    """AUC against the number of steps: solid for superposed walks, dashed for the last step alone."""
    figure = canvas(6.4, 4.2)
    axis = ruled(figure.subplots())
    curves = mean_and_std(rounds)
    ((level, width),) = curves.pop(BASELINE)
    axis.axhspan(level - width, level + width, color=GREY, alpha=0.25, linewidth=0)
    axis.axhline(level, color=GREY, linewidth=1, label=BASELINE)
    for name, points in curves.items():
        mean, deviation = zip(*points, strict=True)
        style = "-" if "superposed" in name else "--"
        steps = range(1, len(points) + 1)
        axis.errorbar(
            steps, mean, deviation, fmt=f"o{style}", ms=4, capsize=2, color=WALKS[name.split(",")[0]], label=name
        )
    axis.set(title=title, xlabel="steps t", ylabel="AUC")
    axis.set_xticks(list(steps))
    axis.legend(frameon=False, fontsize=SMALL, loc="lower right")
    save(figure, path)
