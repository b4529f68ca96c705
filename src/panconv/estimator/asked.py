"""`Asked`: a graph that an estimator is asked about, and the part of it that answers about some nodes look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from panconv.base.checks import free_bytes
from panconv.data.blocks import cut, needs_of
from panconv.data.edge_source import AdjacencySource
from panconv.estimator.nodes import Matrix, Nodes, adjacency_of
from panconv.nn import num_hops

AT_ONCE = 2**31  # bytes of what is computed for a whole graph at once; half of what is free, where that is less
SMALL = 5_000  # nodes of a graph that is always taken whole
_TIMES = 4  # blocks may cost at most this many times the work of the whole graph
_FIRST = 256  # nodes that the first block is around


class Asked(NamedTuple):
    """A graph that was read, whose features are made where they are needed; or one with features."""

    names: Nodes  # without features, where they are still to be made
    graph: Any
    learned: Any  # how its columns become features; None where they are made

    @staticmethod
    def of(graph: Any, X: Any, learned: Any) -> Asked:
        """Arguments as in `Nodes.of`."""
        if X is None and learned is not None and hasattr(graph, "learned_features"):
            N = graph.num_nodes
            return Asked(Nodes(adjacency_of(graph, N), np.zeros((N, 0)), graph.ids, learned.names), graph, learned)
        return Asked(Nodes.of(graph, X, learned), graph, None)

    @property
    def num_nodes(self) -> int:
        return self.names.adj.num_nodes

    @property
    def width(self) -> int:
        """F."""
        return self.names.x.shape[1] if self.learned is None else len(self.names.names)

    def whole(self) -> Nodes:
        """All of it."""
        return self.names._replace(x=self.x())

    def x(self, rows: Any = None) -> Matrix:
        """The features of some nodes, or of all."""
        if self.learned is not None:
            return self.learned.transform(self.graph, rows)
        return self.names.x if rows is None else self.names.x[rows]


def at_once() -> int:
    """The bytes that what is computed for a graph may take at once."""
    return min(AT_ONCE, free_bytes(torch.device("cpu")) // 2)


class Around:
    """Blocks around some nodes of a graph, in which a model's rows are those on the whole graph.

    Degrees and path counts are found once, for the whole graph; features are made for the nodes of a block alone.

    Args:
        asked: the graph.
        model: whose layers say how far it looks.
    """

    def __init__(self, asked: Asked, model: nn.Module) -> None:
        self.asked, self.source = asked, AdjacencySource(asked.names.adj)
        self.hops = num_hops(model, stored=True)
        self.needs = needs_of(model, self.source.facts)
        self._prepared = False

    def size(self, seeds: Tensor, most: int) -> int | None:
        """How many nodes a block around some nodes has; None if they are more than so many."""
        seen = torch.zeros(self.source.num_nodes, dtype=torch.bool)
        seen[seeds] = True
        frontier, found = seeds, len(seeds)
        for _ in range(int(self.hops)):
            sender = self.source.in_edges(frontier).sender.unique()
            frontier = sender[~seen[sender]]
            found += len(frontier)
            if found > most or not len(frontier):
                break
            seen[frontier] = True
        return found if found <= most else None

    def block(self, seeds: Tensor) -> Nodes:
        """The block around some nodes, which are the first of it, in their order."""
        if not self._prepared:
            for base, L, counted in sorted(self.needs):
                self.source.prepare(base, L if counted else None)
            self._prepared = True
        adj, nodes = cut(self.source, seeds, int(self.hops), self.needs)
        return Nodes(adj, self.asked.x(nodes.numpy()), None, self.asked.names.names)

    def batches(self, rows: Tensor, fits: int) -> Iterator[tuple[Tensor, Nodes]]:
        """Blocks around all of some nodes, a few at a time, each with as many nodes as fit, or around one; with these
        rows. Ends before the last of them where the rest would be more work than a few times the whole graph."""
        start, size, N = 0, min(_FIRST, len(rows)), self.source.num_nodes
        while start < len(rows):
            some = rows[start : start + size]
            most = min(N, int(_TIMES * N * len(some) / (len(rows) - start)))
            found = self.size(some, most if size == 1 else min(most, fits))
            if found is None:
                if size == 1 or most < fits:
                    return
                size = max(1, size // 4)
                continue
            yield some, self.block(some)
            start += len(some)
            size = size * 2 if found < fits / 4 else size


def around_few(
    asked: Asked, model: nn.Module, rows: np.ndarray, most: int | None = None
) -> tuple[Nodes, Tensor] | None:
    """A block around some nodes, and the place of each in it; None where taking the whole graph is just as fast.

    Args:
        asked: the graph.
        model: whose layers say how far it looks.
        rows: the numbers of the nodes.
        most: nodes that the block may have.
    """
    N = asked.num_nodes
    if N <= SMALL or not len(rows):
        return None
    once, place = torch.from_numpy(rows).unique(return_inverse=True)
    try:
        around = Around(asked, model)
    except ValueError:  # what a block cannot tell, as of negative weights, the whole graph can
        return None
    if around.size(once, N // 2 if most is None else min(most, N // 2)) is None:
        return None
    return around.block(once), place
