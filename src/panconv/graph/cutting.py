"""One of many graphs that were joined, taken out again by slices alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_integer, shown
from panconv.graph.csr import CSR
from panconv.graph.degrees import Facts
from panconv.graph.pattern import Pattern
from panconv.graph.travelling import Travelling

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

S = TypeVar("S")


def piece_of(joined: Adjacency, index: int) -> Adjacency:
    """The graph of a number among those that were joined, with what is prepared of it."""
    if joined.pieces is None:
        raise TypeError("this graph was not joined from others: only what block_diagonal or a Batch made has an [i]")
    P, i = len(joined.pieces.sizes), as_integer(index)
    if i is None or not -P <= i < P:
        raise IndexError(f"the index of a graph must be an integer from {-P} to {P - 1}, got {shown(index)}")
    return _Cutting(i % P).cut(joined)


class _Cutting:
    """The slices that belong to one of the graphs, each taken once."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.made: dict[int, Any] = {}

    def once(self, whole: Any, make: Callable[[], S]) -> S:
        if id(whole) not in self.made:
            self.made[id(whole)] = make()
        return self.made[id(whole)]

    def cut(self, joined: Adjacency) -> Adjacency:
        return self.once(joined, lambda: self._cut(joined))

    def _cut(self, joined: Adjacency) -> Adjacency:
        assert joined.pieces is not None
        i, (sizes, facts, patterns) = self.index, joined.pieces
        (n0, e0, g0), (n1, e1, g1) = sizes[:i].sum(0).tolist(), sizes[: i + 1].sum(0).tolist()
        growth, decay, signed, positive, undirected, mirrored, weighted = map(_or_none, facts[i].tolist())
        magnitude = joined._magnitude if signed else None
        made = type(joined)(
            self.once(joined.pattern, lambda: self._pattern(joined.pattern, (n0, n1), (e0, e1), patterns[i])),
            self.part(joined.value if weighted else None, e0, e1),
            mirrored=bool(mirrored),
            sides=(self.part(joined.left, n0, n1), self.part(joined.right, n0, n1)),
            entry_of_edge=self.part(joined._entry_of_edge, g0, g1, e0),
            facts=Facts(
                *(growth, decay or 0.0, bool(signed), bool(positive), self.part(magnitude, e0, e1)),
                None if undirected is None else bool(undirected),
            ),
        )
        made.loops, made.repeats, made._overruled = joined.loops, joined.repeats, self.part(joined._overruled, g0, g1)
        for key, kept in joined.prepared_parts().items():
            if isinstance(kept, CSR):
                self.put(made, key, kept.value, e0, e1)
            elif not isinstance(kept, Travelling):
                made._cache[key] = kept.part(n0, n1)
            elif kept.pieces is not None:  # type: ignore[attr-defined]  # computed before they were joined
                made._cache[key] = self.cut(kept)  # type: ignore[arg-type]
        return made

    def put(self, made: Adjacency, key: Any, value: Tensor, begin: int, end: int) -> None:
        if isinstance(key, torch.dtype):
            made._cache[key] = CSR(made.crow, made.col, self.part(value, begin, end))
        elif not made.is_symmetric:
            crow, col, _ = made.by_column()
            made._cache[key] = CSR(crow, col, self.part(value, begin, end))

    def _pattern(self, joined: Pattern, nodes: tuple[int, int], entries: tuple[int, int], facts: np.ndarray) -> Pattern:
        (n0, n1), (e0, e1), (symmetric, loops, longest) = nodes, entries, map(_or_none, facts.tolist())

        def rows(crow: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
            return self.part(crow, n0, n1 + 1, e0), self.part(col, e0, e1, n0)

        made = Pattern(
            *rows(joined.crow, joined.col),
            symmetric=None if symmetric is None else bool(symmetric),
            loops=None if loops is None else int(loops),
            longest=None if longest is None else int(longest),
        )
        if (transposed := joined.known("transposed")) is not None:
            crow, col, perm = transposed
            made.know_transposed(Pattern(*rows(crow, col)), self.part(perm, e0, e1, e0))
        return made

    def part(self, tensor: Tensor | None, begin: int, end: int, less: int = 0) -> Any:
        """A slice, in numbers of its own."""
        if tensor is None:
            return None
        return self.once(tensor, lambda: tensor[begin:end] - less if less else tensor[begin:end])


def _or_none(number: float) -> float | None:
    return None if number != number else number
