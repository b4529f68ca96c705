"""A picture of localisation: where on a graph there are many paths.

The entropy of the paths to a node tells how many paths it listens to. On a regular graph it is the same everywhere. A
few missing edges are enough to concentrate it in one region, for which the maximal entropy walk is known.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from torch import Tensor

from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paper.figures.palette import BLUE, DARK_BLUE, PALE_BLUE
from panconv.paper.figures.style import bare, canvas, save

LARGEST_DRAWING = 400  # nodes; a larger graph is shown by distributions


def draw_localisation(M: MET, title: str, path: Path, positions: Tensor | None = None) -> None:
    """Where a graph is small, its drawing: the path entropy of each node, and how much all nodes hear of it.

    On a larger graph the distributions of path entropy and mean length.

    Args:
        M: an operator with positive weights of one trial.
        title: above the picture.
        path: where to save it, in the format of its ending.
        positions: (N, 2), where the nodes are drawn; None to lay them out by springs.
    """
    with torch.no_grad():
        if not M.shape[0]:
            raise ValueError("the graph has no nodes: there is nothing to draw")
        entropy, length = M.path_entropy.cpu().numpy(), M.mean_path_length.cpu().numpy()
    adj = M.paths.adj
    figure = canvas(10, 4.4)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    if adj.num_nodes <= LARGEST_DRAWING:
        at = spring_layout(adj) if positions is None else positions.cpu().numpy()
        heard = M.T @ torch.full((adj.num_nodes,), 1 / adj.num_nodes, device=adj.device)  # sums to 1 where M's rows do
        figure.colorbar(_graph(left, adj, at, entropy), ax=left, label="path entropy Sᵢ")
        figure.colorbar(_graph(right, adj, at, heard.detach().cpu().numpy()), ax=right, label="mean of Mᵢⱼ over i")
        left.set_title("entropy of the paths to each node")
        right.set_title("how much all nodes hear of each node")
    else:
        _histogram(left, entropy, "path entropy Sᵢ")
        _histogram(right, length, "mean path length ⟨n⟩ᵢ")
    figure.suptitle(title)
    save(figure, path)


def spring_layout(adj: Adjacency, rounds: int = 300) -> np.ndarray:
    """Places (N, 2) where edges pull and nodes push (Fruchterman and Reingold), the same on every call."""
    N = adj.num_nodes
    place = np.random.default_rng(0).uniform(-1, 1, (N, 2))
    row, col = adj.row.cpu().numpy(), adj.col.cpu().numpy()
    rest = 2 / np.sqrt(max(N, 1))
    for round_ in range(rounds):
        apart = place[:, None] - place[None]  # (N, N, 2), for the few nodes that are drawn
        far = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = (apart * (rest**2 / far**2)[..., None]).sum(1)
        pull = (place[col] - place[row]) * (np.linalg.norm(place[col] - place[row], axis=1) / rest)[:, None]
        np.add.at(force, row, pull)
        force -= 0.05 * place / rest  # keeps the components together
        step = 0.1 * (1 - round_ / rounds)
        place += force / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9) * step
    return place


def _graph(axis, adj: Adjacency, at: np.ndarray, shade: np.ndarray):  # type: ignore[no-untyped-def]
    row, col = adj.row.cpu().numpy(), adj.col.cpu().numpy()
    axis.add_collection(
        LineCollection(list(np.stack([at[row], at[col]], axis=1)), colors="0.8", linewidths=0.6, zorder=0)
    )
    size = float(np.clip(6000 / max(len(at), 1), 6, 120))
    low = float(np.percentile(shade, 2)) if len(shade) else 0.0  # a lone node far below must not hide the rest
    image = axis.scatter(*at.T, c=shade, s=size, cmap="viridis", vmin=low, zorder=1)
    axis.set_aspect("equal")
    axis.axis("off")
    return image


def _histogram(axis: Axes, values: np.ndarray, label: str) -> None:
    values = values.astype(float)
    room = 1e-3 * (1 + abs(float(values.mean())))  # on a regular graph all nodes are alike
    span = (values.min() - room, values.max() + room)
    bare(axis).hist(values, bins=60, range=span, color=PALE_BLUE, edgecolor=BLUE, linewidth=0.4)
    axis.set(xlabel=label, ylabel="nodes")
    axis.axvline(float(np.median(values)), color=DARK_BLUE, linewidth=1.2, label=f"median {np.median(values):.2f}")
    axis.legend()
