"""`Block`: part of a larger graph, which keeps that graph's degrees and path counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor

from panconv.base.tracing import may_look
from panconv.graph.adjacency import Adjacency
from panconv.graph.bases import BASES, with_self_loops
from panconv.graph.degrees import Facts, inverse

T = TypeVar("T")
DIVIDED = {"Â": "A+I", "D⁻¹A": "A", "D^−½AD^−½": "A"}  # bases that are another over its degrees
_COUNTS = "walks"  # under which `Walks` keeps its counts with a graph, and L


class Block(Adjacency):
    """Some nodes of a larger graph and the edges that arrive at some of them, scaled as in the whole of it.

    At its rim edges are missing: there is nobody left to send. The outputs of a layer are those on the whole graph
    where every node within the layer's steps has all its edges, provided that nothing is divided by a sum over what
    the block holds alone. So the degrees and the path counts D_n are handed in, counted on the whole graph; a count
    that was not is refused. It is never symmetric, and follows its graph in being undirected.

    Args:
        args, kwargs: as an `Adjacency` takes them; the facts are those of the whole graph.
        known: what `cached` is to give, by its key, such as the counts of walks under ``("walks", L)``. It stays with
            the block when that is moved or pickled, where what was cached is let go.
    """

    joins = False

    def __init__(self, *args: Any, known: dict[Any, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "mirrored": False})
        self.known = {} if known is None else known

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        if (found := self.known.get(key, self)) is not self:
            return found
        if isinstance(key, tuple) and key[0] == _COUNTS:
            raise ValueError(
                f"this block of a larger graph does not hold that graph's path counts up to L = {key[1]} on this base: "
                "make its loader with the model that it is for"
            )
        return super().cached(key, make)

    def base(self, name: str) -> Adjacency:
        if name not in BASES or name == "A":
            return super().base(name)
        return self.cached(name, lambda: self._base(name))

    def divide(self, name: str, degrees: Tensor) -> None:
        """Makes a base known that is divided by the degrees on the whole graph, (N,) float64: those of `DIVIDED`.

        Degrees that cancel have been refused there.
        """
        of, power = self.base(DIVIDED[name]), 1.0 if name == "D⁻¹A" else 0.5
        factor = inverse(degrees, power)
        made = Block(
            *(of.pattern, of.value),
            sides=(factor, factor if power == 0.5 else None),
            facts=Facts(1.0, 0.0, of.is_signed, of.is_positive, of._magnitude, self.is_undirected),
        )
        if (of.is_signed or (power == 0.5 and not self.is_undirected)) and self.num_nodes and may_look():
            made._growth = float(made.absolute().row_sums().max())
        self.known[name] = made

    def with_values(self, value: Tensor | None) -> Adjacency:
        raise ValueError(
            "a block of a larger graph keeps that graph's degrees and path counts, which other weights would change: "
            "weigh the whole graph, and make its loader anew"
        )

    def __repr__(self) -> str:
        return f"Block(num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def _base(self, name: str) -> Adjacency:
        if name != "A+I":
            raise ValueError(
                f"this block of a larger graph does not hold that graph's degrees, which the base {name} is divided "
                "by: make its loader with the model that it is for"
            )
        made = with_self_loops(self)
        made._undirected = self.is_undirected
        return made
