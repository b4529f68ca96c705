"""Where the loader of seed nodes gets its edges from: a small protocol, and a graph in memory that follows it."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.graph.block import DIVIDED
from panconv.graph.csr import CSR
from panconv.graph.degrees import Facts
from panconv.graph.repeated import Reading
from panconv.paths import Counts, Walks
from panconv.paths.formed import extend


class InEdges(NamedTuple):
    """The edges that arrive at some nodes, node by node."""

    receiver: Tensor  # (E,) int64, ascending: where the receiver stands among the nodes that were asked for
    sender: Tensor  # (E,) int64
    weight: Tensor | None  # (E,) float32 or float64; None for an unweighted graph


@runtime_checkable
class EdgeSource(Protocol):
    """A graph, wherever its edges are kept. Nodes are asked for by number, (n,) int64, in any order, repeated or not.

    A source is pickled for each worker of a loader.
    """

    @property
    def num_nodes(self) -> int: ...

    @property
    def device(self) -> torch.device:
        """Where nodes are asked for, and edges come."""

    @property
    def facts(self) -> Facts:
        """What is known of the values of the whole graph."""

    @property
    def reading(self) -> Reading:
        """How self-loops and repeated edges were read."""

    def prepare(self, base: str, L: int | None) -> None:
        """Finds what is asked for later: the degrees that a base is divided by, and its walks of up to L steps."""

    def in_edges(self, nodes: Tensor) -> InEdges:
        """The edges that arrive at the nodes, no two of them between the same two nodes."""

    def degrees(self, base: str, nodes: Tensor) -> Tensor:
        """The row sums of A or A+I of the whole graph, (n,) float64."""

    def counts(self, base: str, L: int, nodes: Tensor) -> Counts:
        """The walks that arrive at each by their number of steps, on a base of the whole graph."""


class AdjacencySource:
    """The edges of a graph in memory.

    Args:
        adj: the graph; its edge weights ask for no gradient.
    """

    def __init__(self, adj: Adjacency) -> None:
        if adj.is_tracked:
            raise ValueError(
                "edge_weight asks for a gradient, which would have to pass through the degrees and path counts of the "
                "whole graph: detach it, or train on the whole graph at once"
            )
        self.adj = adj
        self._degrees: dict[str, Tensor] = {}
        self._counts: dict[tuple[str, int], Counts] = {}

    @property
    def num_nodes(self) -> int:
        return self.adj.num_nodes

    @property
    def device(self) -> torch.device:
        return self.adj.device

    @property
    def facts(self) -> Facts:
        adj = self.adj
        return Facts(adj.growth, adj.decay, adj.is_signed, adj.is_positive, undirected=adj.is_undirected)

    @property
    def reading(self) -> Reading:
        return Reading(self.adj.loops, self.adj.repeats)

    def prepare(self, base: str, L: int | None) -> None:
        if (of := DIVIDED.get(base)) is not None and of not in self._degrees:
            self.adj.base(base)  # which refuses degrees that cancel
            self._degrees[of] = self.adj.base(of).row_sums()
        if L is not None:
            self._counts[base, L] = Walks(self.adj.base(base), L).counts()

    def in_edges(self, nodes: Tensor) -> InEdges:
        crow, col, value = self.adj.crow, self.adj.col, self.adj.value
        receiver, edge = extend(CSR(crow, col, col), nodes)  # which takes no look at the values
        return InEdges(receiver, col[edge].long(), None if value is None else value[edge])

    def degrees(self, base: str, nodes: Tensor) -> Tensor:
        return self._degrees[base][nodes]

    def counts(self, base: str, L: int, nodes: Tensor) -> Counts:
        counted = self._counts[base, L]
        exponent, ratio = (None if part is None else part[:, nodes] for part in (counted.exponent, counted.ratio))
        return counted._replace(value=counted.value[:, nodes], exponent=exponent, ratio=ratio)
