"""`point_patterns`: disks in equilibrium, points anywhere, disks added one by one. Which of them is a graph of?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from tqdm import tqdm

from panconv.base.checks import as_integer, as_number, checked_count, checked_seed, shown
from panconv.base.random import keys, uniform
from panconv.data.points.adsorption import adsorbed
from panconv.data.points.hard_disks import equilibrium
from panconv.data.points.near import near

CLASSES = ("hard disks", "Poisson", "random sequential adsorption")
_TOGETHER = 768  # graphs that are made side by side
_HAIR = 2.0**-23  # by which disks are wider while they move, so that rounding to float32 makes none overlap
_MOST, _LEAST_NODES = 0.45, 32  # far enough from jamming, at 0.547, where a disk may find no room for ever


@dataclass(frozen=True, eq=False, repr=False)
class PointPatterns(Sequence[Data]):
    """Graphs of points, each a PyG `Data` with ``x``, ``edge_index``, ``pos`` and ``y``; and all of them as tensors."""

    points: Tensor  # (G, N, 2) float32, in squares of side 1
    y: Tensor  # (G,): 0 … 2, the index of a name in `classes`
    edge_index: Tensor  # (2, ΣE) of all graphs side by side: node i of graph g is g·N + i
    name: str
    classes: tuple[str, ...] = CLASSES
    features: str = "degree"

    @cached_property
    def x(self) -> Tensor:
        """The degree of each node, (G·N, 1) float32."""
        G, N, _ = self.points.shape
        return torch.bincount(self.edge_index[0], minlength=G * N).float().unsqueeze(1)

    @cached_property
    def ptr(self) -> Tensor:
        """The first node of each graph, and G·N at the end, (G + 1,)."""
        G, N, _ = self.points.shape
        return torch.arange(G + 1) * N

    @cached_property
    def edge_ptr(self) -> Tensor:
        """The first edge of each graph, and ΣE at the end, (G + 1,)."""
        return torch.searchsorted(self.edge_index[0], self.ptr)

    @property
    def tensors(self) -> dict[str, Any]:
        """All graphs as one that falls into them: x, edge_index, ptr, y, and the words name, classes, features."""
        return {each: getattr(self, each) for each in ("x", "edge_index", "ptr", "y", "name", "classes", "features")}

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Any) -> Any:
        """A graph by its number, or a list of those of a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        G, i = len(self), as_integer(index)
        if i is None or not -G <= i < G:
            raise IndexError(f"the index of a graph must be an integer from {-G} to {G - 1}, got {shown(index)}")
        i %= G
        (begin, end), (first, last) = self.ptr[i : i + 2].tolist(), self.edge_ptr[i : i + 2].tolist()
        edges = self.edge_index[:, first:last] - begin
        return Data(self.x[begin:end], edges, y=self.y[i : i + 1], pos=self.points[i])

    def __repr__(self) -> str:
        G, N, _ = self.points.shape
        return f"PointPatterns({self.name}: {G:,} graphs of {N} nodes, {self.edge_index.size(1) // 2:,} edges)"


def point_patterns(
    fraction: float = 0.35,
    graphs: int = 15_000,
    seed: int = 0,
    *,
    nodes: int = 200,
    threshold: float = 1.3,
    chains: int = 50,
) -> PointPatterns:
    """Graphs of points in a square, of three classes in turn: what process placed the points?

    Class 0 are hard disks in equilibrium, class 1 is a Poisson process (of so many points), class 2 random sequential
    adsorption, as in Ma, Xuan, Wang, Li, Liò, "Path integral based convolution and pooling for graph neural networks",
    NeurIPS 2020. All have the same number of points per area, the disks of both classes the same radius. The square
    goes on periodically, an edge joins points that are closer than a threshold, and a node's feature is its degree.
    docs/point_patterns.md is the data card.

    Args:
        fraction: of the area that the disks cover, up to 0.45; 0.3, 0.35 and 0.4 are ever easier to tell apart.
        graphs: G. The first graphs of a large set are those of a small one.
        seed: of all that is drawn; the same seed gives the same set, to the bit, on every machine.
        nodes: N, the points of each graph, at least 32.
        threshold: of the edges, in units of 1/√density: a Poisson point has π·threshold² neighbours on the average.
        chains: that take the hard disks from adsorption to equilibrium, about 2N hits each.

    Returns:
        A sequence of PyG's `Data`, with the same as tensors: `points` (G, N, 2), `y` (G,), `x` (G·N, 1), `edge_index`
        (2, ΣE) and `ptr` (G + 1,) of all graphs side by side.

    >>> from panconv.data import point_patterns
    >>> graphs = point_patterns(0.35, graphs=6)
    >>> [graphs.classes[y] for y in graphs.y[:3]]
    ['hard disks', 'Poisson', 'random sequential adsorption']
    >>> graphs[0].x.shape, graphs[0].pos.shape
    (torch.Size([200, 1]), torch.Size([200, 2]))
    """
    eta, G, seed = _checked_fraction(fraction), checked_count(graphs, "graphs"), checked_seed(seed)
    N, chains = checked_count(nodes, "nodes", _LEAST_NODES), checked_count(chains, "chains", 0)
    reach = _checked_threshold(threshold, N)
    points, edges = torch.empty(G, N, 2), []
    with tqdm(total=G, desc="point patterns", unit="graphs", delay=1, disable=None, leave=False) as bar:
        for first in range(0, G, _TOGETHER):
            number = torch.arange(first, min(first + _TOGETHER, G))
            made = _made(keys(torch.tensor(seed), number), number % 3, N, _diameter(eta, N), chains)
            points[number] = torch.from_numpy(made)
            edges.append(near(made, reach) + first * N)
            bar.update(len(number))
    return PointPatterns(points, torch.arange(G) % 3, torch.cat(edges, 1), f"point patterns {eta:g}")


def _made(key: Tensor, y: Tensor, N: int, diameter: float, chains: int) -> np.ndarray:
    """The points of some graphs by their keys and classes, (G, N, 2) float32, from left to right in every class."""
    points = uniform(keys(key, 0), (N, 2)).numpy()
    disks = y != 1
    placed, _ = adsorbed(keys(key[disks], 1), N, diameter)
    moving = (y[disks] == 0).numpy()
    placed[moving] = equilibrium(keys(key[y == 0], 2), placed[moving], diameter, chains)
    points[disks.numpy()] = placed
    points[points == 1] = 0  # what was rounded up
    return np.take_along_axis(points, points[..., :1].argsort(1, kind="stable"), 1)


def _diameter(fraction: float, N: int) -> float:
    return 2 * math.sqrt(fraction / (N * math.pi)) + _HAIR


def _checked_fraction(fraction: float) -> float:
    value = as_number(fraction)
    if value is None or not 0 < value <= _MOST:
        raise ValueError(
            f"fraction must be a share of the area above 0 and at most {_MOST}, since disks that arrive one by one "
            f"find no room beyond 0.547, got {shown(fraction)}"
        )
    return value


def _checked_threshold(threshold: float, N: int) -> float:
    """In units of the square's side."""
    value, most = as_number(threshold), math.sqrt(N) / 2
    if value is None or not 0 < value < most:
        raise ValueError(
            f"threshold must be above 0 and below {most:.3g}, half of the square's side in units of 1/√density, got "
            f"{shown(threshold)}"
        )
    return value / math.sqrt(N)
