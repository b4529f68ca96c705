"""What a graph that falls into parts knows of each: its size, and what is known of its values and of its pattern."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import Tensor

from panconv.graph.degrees import Facts

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency


class _Rows(NamedTuple):
    sizes: np.ndarray  # (P, 3): nodes, entries, edges of the edge_index where it is remembered
    facts: np.ndarray  # (P, 7) float64: `Facts` without the magnitude, whether mirrored, whether weighted
    patterns: np.ndarray  # (P, 3) float64: whether symmetric, self-loops, the longest row


class Pieces(_Rows):
    """What a joined graph remembers of those it was joined from, a row for each; NaN for what is not known."""

    def at(self, which: np.ndarray) -> Pieces:
        """Those of some of the graphs, in that order."""
        taken = Pieces(*(rows.take(which, 0) for rows in self))
        if self._are_alike:  # and so are any of them
            taken.__dict__.update(_least=self._least, _most=self._most)
        return taken

    @cached_property
    def first(self) -> np.ndarray:
        """Which node, entry and edge is the first of each, and how many there are of all, (3, P + 1)."""
        return np.stack([starts(sizes) for sizes in self.sizes.T])

    @cached_property
    def _least(self) -> list[float]:
        """Of each fact the least of all, NaN where one is not known."""
        return np.minimum.reduce(self.facts).tolist()

    @cached_property
    def _most(self) -> list[float]:
        """The most among those that are known."""
        return np.fmax.reduce(self.facts).tolist()

    @cached_property
    def lacks_patterns(self) -> bool:
        return bool(np.isnan(self.patterns).any())

    @cached_property
    def _are_alike(self) -> bool:
        return np.array_equal(self.facts, np.broadcast_to(self.facts[:1], self.facts.shape), equal_nan=True)

    @property
    def is_signed(self) -> bool:
        return bool(self._most[2])

    @property
    def is_mirrored(self) -> bool:
        return bool(self._least[5])

    @property
    def is_weighted(self) -> bool:
        return bool(self._most[6])

    @property
    def symmetric(self) -> np.ndarray:
        """Whether each matrix is, (P,): its values and its pattern."""
        return self.facts[:, 5] * self.patterns[:, 0]

    def joined_facts(self, magnitude: Tensor | None) -> Facts:
        """What is known of the values of all together.

        Where a growth is known, the longest rows of the others must be; and where a direction is, whether they are
        symmetric.
        """
        growth, decay, _, positive, undirected, *_ = self._least
        if growth != growth and self._most[0] == self._most[0]:
            growth = np.where(np.isnan(self.facts[:, 0]), self.patterns[:, 2], self.facts[:, 0]).max()
        elif growth == growth:
            growth = self._most[0]
        if undirected != undirected and self._most[4] == self._most[4]:
            undirected = np.where(np.isnan(self.facts[:, 4]), self.symmetric, self.facts[:, 4]).min()
        return Facts(
            None if growth != growth else float(growth),
            decay,
            self.is_signed,
            bool(positive),
            magnitude,
            None if undirected != undirected else bool(undirected),
        )

    def joined_pattern(self) -> dict[str, Any]:
        """What a `Pattern` of all together is told."""
        symmetric, loops, longest = self.patterns.T
        found = float(np.minimum.reduce(symmetric)), float(np.add.reduce(loops)), float(np.maximum.reduce(longest))
        kinds = {"symmetric": bool, "loops": int, "longest": int}
        return {
            name: None if number != number else kind(number)
            for (name, kind), number in zip(kinds.items(), found, strict=True)
        }


def parted(adj: Adjacency, sizes: Tensor) -> Adjacency:
    """The graph itself, which from now on knows the parts it falls into, as if `block_diagonal` had joined them.

    Args:
        adj: where it was made from weights, its edges must stand part by part.
        sizes: nodes of each part, (P,), which no edge leaves.

    >>> from panconv.graph import Adjacency
    >>> two = parted(Adjacency.from_edge_index(torch.tensor([[0, 1, 3, 4], [1, 0, 4, 3]])), torch.tensor([3, 2]))
    >>> two[0], two[1]
    (Adjacency(num_nodes=3, num_edges=2, symmetric), Adjacency(num_nodes=2, num_edges=2, symmetric))
    """
    adj.pieces = _looked(adj, sizes.cpu().numpy(), None)
    return adj


def pieces_of(adj: Adjacency, of: Adjacency) -> Pieces:
    """What is known of the parts of a graph, or of a base of it that was computed when it was joined already.

    What was not known before is found in one look for all parts, and kept.
    """
    assert of.pieces is not None
    if adj.pieces is None:
        adj.pieces = _looked(adj, of.pieces.sizes[:, 0], of.pieces)
    elif adj.pieces.lacks_patterns:
        adj.pieces = adj.pieces._replace(patterns=_patterns(adj, adj.pieces.sizes[:, 0], None))
    return adj.pieces


def starts(sizes: np.ndarray) -> np.ndarray:
    """Where each of some parts begins, and where the last one ends: (P,) → (P + 1,)."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def _looked(adj: Adjacency, nodes: np.ndarray, of: Pieces | None) -> Pieces:
    """The parts of a graph that nobody told of; of a base with what is known of the graph.

    Growth and decay are bounds: those of the whole serve for each part.
    """
    at = _cpu(adj.crow)[starts(nodes)]  # first entry of each
    edges = np.zeros(len(nodes), np.int64)
    if adj._entry_of_edge is not None:
        part = np.searchsorted(at, _cpu(adj._entry_of_edge), "right") - 1
        if (np.diff(part) < 0).any():
            raise ValueError("the edges of a graph in parts must stand part by part: sort edge_index and edge_weight")
        edges = np.bincount(part, minlength=len(nodes))
    patterns, facts = _patterns(adj, nodes, of), np.empty((len(nodes), 7))
    facts[:, 0] = np.nan if adj._growth is None else adj.growth
    facts[:, 1], facts[:, 5], facts[:, 6] = adj.decay, adj._mirrored, adj.value is not None
    if of is not None:
        facts[:, 2], facts[:, 3] = of.facts[:, 2] * adj.is_signed, np.maximum(of.facts[:, 3], adj.is_positive)
    else:
        value = np.ones(adj.num_edges) if adj.value is None else _cpu(adj.value)
        facts[:, 2], facts[:, 3] = (
            _each(np.logical_or, value < 0, at, False),
            _each(np.logical_and, value > 0, at, True),
        )
    found = Pieces(np.stack([nodes, np.diff(at), edges], 1).astype(np.int64), facts, patterns)
    known = adj._undirected
    facts[:, 4] = np.nan if known is None else np.maximum(known, (found if of is None else of).symmetric)
    return found


def _patterns(adj: Adjacency, nodes: np.ndarray, of: Pieces | None) -> np.ndarray:
    """Of each part: whether it is symmetric, as a base is where the graph is; self-loops; the longest row, (P, 3)."""
    crow, first = _cpu(adj.crow), starts(nodes)
    at, rows = crow[first], np.diff(crow)
    mirrored = np.ones(len(nodes)) if of is None else of.patterns[:, 0]
    if of is None and not adj.pattern.is_symmetric:
        crow_t, col_t = (_cpu(each) for each in adj.by_column()[:2])
        mirrored = _each(np.logical_and, rows == np.diff(crow_t), first, True)
        mirrored &= _each(np.logical_and, _cpu(adj.col) == col_t, at, True)
    loops = _each(np.add, _cpu(adj.row == adj.col).astype(np.int64), at, 0)
    return np.stack([mirrored, loops, _each(np.maximum, rows, first, 0)], 1).astype(np.float64)


def _each(reduce: np.ufunc, values: np.ndarray, at: np.ndarray, nothing: Any) -> np.ndarray:
    """What the values of each part are reduced to, (P,); `nothing` where it has none."""
    found = np.full(len(at) - 1, nothing)
    some = at[1:] > at[:-1]
    if some.any():
        found[some] = reduce.reduceat(values, at[:-1][some])
    return found


def _cpu(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()
