"""Some of many graphs that were joined, taken out again: one by slices alone; `picking` has several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_integer, shown
from panconv.graph.csr import CSR, narrow
from panconv.graph.pattern import Pattern
from panconv.graph.pieces import Pieces, pieces_of
from panconv.graph.travelling import Travelling

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

S = TypeVar("S")


def piece_of(joined: Adjacency, index: int) -> Adjacency:
    """The graph of a number among those that were joined, with what is prepared of it."""
    check_joined(joined)
    assert joined.pieces is not None
    P, i = len(joined.pieces.sizes), as_integer(index)
    if i is None or not -P <= i < P:
        raise IndexError(f"the index of a graph must be an integer from {-P} to {P - 1}, got {shown(index)}")
    return _Cutting(i % P, joined.pieces).take(joined)


def check_joined(joined: Adjacency) -> None:
    if joined.pieces is None:
        raise TypeError("this graph was not joined from others: only what block_diagonal or a Batch made has an [i]")


class Span(Protocol):
    """The nodes, entries or edges of the graphs that are taken."""

    @property
    def count(self) -> int:
        """How many they are."""

    @property
    def places(self) -> Any:
        """Where they stand in the joined graph: a slice or numbers."""

    def of(self, tensor: Tensor) -> Tensor:
        """Their values, of a value for each in the joined graph."""

    def renumbered(self, tensor: Tensor, among: Any) -> Tensor:
        """Their values, which are numbers of nodes or entries: as those are numbered `among` the ones taken."""

    def pointers(self, crow: Tensor, among: Any) -> Tensor:
        """Of nodes: where their rows begin and end among the entries taken."""


class Taking:
    """Takes some graphs out of a joined one, each tensor once: bases share tensors, and so they do afterwards."""

    nodes: Span
    with_mirrors = False  # whether a symmetric pattern is told of its transpose too, from which it differs in order

    def __init__(self, which: np.ndarray) -> None:
        self.which = which
        self.made: dict[Any, Any] = {}

    def span(self, pieces: Pieces, column: int) -> Span:
        """The nodes, entries or edges of the graphs that are taken: by the column of `Pieces.sizes`."""
        raise NotImplementedError

    def once(self, name: Any, make: Callable[[], S]) -> S:
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def take(self, joined: Adjacency, of: Adjacency | None = None) -> Adjacency:
        """The graphs as one, from the joined graph or from a base `of` one."""
        return self.once(id(joined), lambda: self._take(joined, pieces_of(joined, joined if of is None else of)))

    def _take(self, joined: Adjacency, pieces: Pieces) -> Adjacency:
        pattern, taken = joined.pattern, pieces.at(self.which)
        entries = self.once((id(pattern), "entries"), lambda: self.span(pieces, 1))
        told = joined._entry_of_edge is not None or joined._overruled is not None
        edges = self.span(pieces, 2) if told else entries  # which nothing is told of
        made = type(joined)(
            self.once(id(pattern), lambda: self._pattern(pattern, entries, taken)),
            self.of(joined.value if taken.is_weighted else None, entries),
            mirrored=taken.is_mirrored,
            sides=(self.of(joined.left, self.nodes), self.of(joined.right, self.nodes)),
            entry_of_edge=self.numbers(joined._entry_of_edge, edges, entries),
            facts=taken.joined_facts(self.of(joined._magnitude if taken.is_signed else None, entries)),
        )
        made.loops, made.repeats, made._overruled = joined.loops, joined.repeats, self.of(joined._overruled, edges)
        self.keep_pieces(made, taken)
        for key, kept in joined.prepared_parts().items():
            if isinstance(kept, CSR):
                self.put(made, key, kept.value, entries)
            elif isinstance(key, str):  # a base, whose nodes are the same
                made._cache[key] = self.take(kept, joined)
            elif not isinstance(kept, Travelling):
                made._cache[key] = kept.part(self.nodes.places)
        return made

    def keep_pieces(self, made: Adjacency, taken: Pieces) -> None:
        """What a graph that was taken remembers of its parts."""

    def put(self, made: Adjacency, key: Any, value: Tensor, entries: Span) -> None:
        if isinstance(key, torch.dtype):
            made._cache[key] = CSR(made.crow, made.col, self.of(value, entries))
        elif not made.is_symmetric:
            crow, col, _ = made.by_column()
            made._cache[key] = CSR(crow, col, self.of(value, entries))

    def _pattern(self, joined: Pattern, entries: Span, taken: Pieces) -> Pattern:
        bound = max(self.nodes.count, entries.count)

        def rows(crow: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
            return (
                self.once(id(crow), lambda: narrow(self.nodes.pointers(crow, entries), bound)),
                self.once(id(col), lambda: narrow(entries.renumbered(col, self.nodes), bound)),
            )

        made = Pattern(*rows(joined.crow, joined.col), **taken.joined_pattern())
        transposed = joined.known("transposed")
        if transposed is not None and (self.with_mirrors or not made.known("symmetric")):
            crow, col, perm = transposed
            made.know_transposed(Pattern(*rows(crow, col)), self.numbers(perm, entries, entries))
        return made

    def of(self, tensor: Tensor | None, span: Span) -> Any:
        """What a tensor holds of the graphs that are taken."""
        return None if tensor is None else self.once(id(tensor), lambda: span.of(tensor))

    def numbers(self, tensor: Tensor | None, span: Span, among: Span) -> Any:
        """The same, in numbers of its own."""
        return None if tensor is None else self.once(id(tensor), lambda: span.renumbered(tensor, among))


class _Slice:
    """Those of one graph stand next to each other."""

    def __init__(self, first: np.ndarray, index: int) -> None:
        self.begin, self.end = first[index : index + 2].tolist()
        self.count = self.end - self.begin

    @property
    def places(self) -> slice:
        return slice(self.begin, self.end)

    def of(self, tensor: Tensor) -> Tensor:
        return tensor[self.begin : self.end]

    def renumbered(self, tensor: Tensor, among: _Slice) -> Tensor:
        return self.of(tensor) - among.begin if among.begin else self.of(tensor)

    def pointers(self, crow: Tensor, among: _Slice) -> Tensor:
        own = crow[self.begin : self.end + 1]
        return own - among.begin if among.begin else own


class _Cutting(Taking):
    """Takes out one, by views where its numbers stay."""

    with_mirrors = True

    def __init__(self, index: int, pieces: Pieces) -> None:
        super().__init__(np.array([index]))
        self.index = index
        self.nodes = self.span(pieces, 0)

    def span(self, pieces: Pieces, column: int) -> Span:
        return _Slice(pieces.first[column], self.index)
