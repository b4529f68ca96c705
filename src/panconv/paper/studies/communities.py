"""Communities by both walks beside the classes of a graph, one seed after another, and a picture of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.utils import subgraph

from panconv.graph import Adjacency
from panconv.paper.figures.palette import WALKS
from panconv.paper.figures.style import SMALL, bare, canvas, save
from panconv.paper.studies.links import spread
from panconv.tasks.communities import communities, largest_component, modularity, nmi
from panconv.walkers import KINDS


class Connected(NamedTuple):
    """The largest connected component of a graph with classes."""

    adj: Adjacency
    y: Tensor  # (n,)


class Found(NamedTuple):
    """How good a labelling is."""

    modularity: float
    nmi: float  # with the classes
    largest: float  # the share of nodes in the largest community


def connected_part(edge_index: Tensor, y: Tensor) -> Connected:
    adj = Adjacency.from_edge_index(edge_index, num_nodes=y.numel())
    nodes = largest_component(adj)
    inside, _ = subgraph(nodes, edge_index, relabel_nodes=True, num_nodes=y.numel())
    return Connected(Adjacency.from_edge_index(inside, num_nodes=nodes.numel()), y[nodes])


def community_round(part: Connected, k: int, steps: int, seed: int) -> dict[str, Found]:
    """Both walks with one seed of k-means."""
    return {kind: score(part, communities(part.adj, k, kind, steps, seed)) for kind in KINDS}


def score(part: Connected, labels: Tensor) -> Found:
    largest = float(torch.bincount(labels).max()) / labels.numel()
    return Found(modularity(part.adj, labels), nmi(labels, part.y), largest)


def summary(rounds: Sequence[Mapping[str, Found]]) -> dict[str, dict[str, tuple[float, float]]]:
    """The mean and the standard deviation of each figure of each walk."""
    return {
        kind: {field: spread([getattr(each[kind], field) for each in rounds]) for field in Found._fields}
        for kind in rounds[0]
    }


def communities_figure(figures: Mapping[str, Mapping[str, tuple[float, float]]], title: str, path: Path) -> None:
    """Modularity and NMI of both walks and of the classes themselves, side by side."""
    figure = canvas(6.4, 3.6)
    panels = figure.subplots(1, 2)
    for axis, field, label in zip(panels, ("modularity", "nmi"), ("modularity", "NMI with the classes"), strict=True):
        shown = {kind: of[field] for kind, of in figures.items() if not (kind == "classes" and field == "nmi")}
        means, deviations = [mean for mean, _ in shown.values()], [deviation for _, deviation in shown.values()]
        bars = axis.bar(list(shown), means, yerr=deviations, capsize=3, color=[WALKS[kind] for kind in shown])
        axis.bar_label(bars, fmt="%.3f", padding=3, fontsize=SMALL)
        axis.set_title(label, fontsize=10)
        axis.margins(y=0.15)
        axis.tick_params(axis="x", labelsize=SMALL)
        bare(axis)
    figure.suptitle(title, fontsize=11)
    save(figure, path)
