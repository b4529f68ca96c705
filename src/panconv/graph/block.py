"""`Block`: part of a larger graph, which keeps that graph's degrees and path counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from panconv.base.tracing import may_look
from panconv.graph.adjacency import Adjacency
from panconv.graph.bases import BASES, with_self_loops
from panconv.graph.degrees import Facts, inverse

T = TypeVar("T")
_COUNTS = "walks"  # under which `Walks` keeps its counts with a graph, and L


class Block(Adjacency):
    """Some nodes of a larger graph and the edges that arrive at some of them, scaled as in the whole of it.

    At its rim edges are missing: there is nobody left to send. The outputs of a layer are those on the whole graph
    where every node within the layer's steps has all its edges, provided that nothing is divided by a sum over what
    the block holds alone. So the degrees and the path counts D_n are handed in, counted on the whole graph; a count
    that was not is refused. It is never symmetric, and follows its graph in being undirected.

    Args:
        crow, col, value, transposed, sides, entry_of_edge, facts: as an `Adjacency` takes them; the facts are those of
            the whole graph, but for the number of self-loops.
        degrees: the row sums on the whole graph, (N,) float64; None where a base is divided by them already.
        known: what `cached` is to give, by its key, such as the counts of walks under ``("walks", L)``. It stays with
            the block when that is moved or pickled, where what was cached is let go.
    """

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        value: Tensor | None,
        *,
        transposed: tuple[Tensor, Tensor, Tensor] | None,
        sides: tuple[Tensor | None, Tensor | None] = (None, None),
        entry_of_edge: Tensor | None = None,
        facts: Facts,
        degrees: Tensor | None = None,
        known: dict[Any, Any] | None = None,
    ) -> None:
        super().__init__(
            *(crow, col, value), transposed=transposed, sides=sides, entry_of_edge=entry_of_edge, facts=facts
        )
        self.degrees, self.known = degrees, {} if known is None else known

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

    def with_values(self, value: Tensor | None) -> Adjacency:
        raise ValueError(
            "a block of a larger graph keeps that graph's degrees and path counts, which other weights would change: "
            "weigh the whole graph, and make its loader anew"
        )

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Adjacency:
        other = super().to(device)
        if isinstance(other, Block) and other is not self:
            other.known = {key: _moved(value, other.device) for key, value in self.known.items()}
        return other

    def __repr__(self) -> str:
        return f"Block(num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def _base(self, name: str) -> Block:
        if name == "A+I":
            made = with_self_loops(self)
            assert isinstance(made, Block)
            made.is_undirected, made.degrees = self.is_undirected, self._degrees() + 1
            return made
        if name == "Â":
            loops = self.base("A+I")
            assert isinstance(loops, Block)
            return loops._over_degrees(0.5)
        return self._over_degrees(1.0 if name == "D⁻¹A" else 0.5)

    def _over_degrees(self, power: float) -> Block:
        """As `over_degrees` does it, by the degrees on the whole graph, where those that cancel have been refused."""
        factor = inverse(self._degrees(), power)
        made = Block(
            *(self.crow, self.col, self.value),
            transposed=self._transposed,
            sides=(factor, factor if power == 0.5 else None),
            facts=Facts(
                *(1.0, 0.0, self.is_signed, self.is_positive),
                *(self.num_self_loops, self._magnitude, self.is_undirected),
            ),
        )
        if (self.is_signed or (power == 0.5 and not self.is_undirected)) and self.num_nodes and may_look():
            made.growth = float(made.absolute().row_sums().max())
        return made

    def _degrees(self) -> Tensor:
        if self.degrees is None:
            raise ValueError("this base of a block is divided by its degrees already: take one of the block itself")
        return self.degrees


def _moved(value: Any, device: torch.device) -> Any:
    """A graph, or a named tuple of tensors and numbers, on another device."""
    if isinstance(value, Adjacency):
        return value.to(device)
    return type(value)(*(part.to(device) if isinstance(part, Tensor) else part for part in value))
