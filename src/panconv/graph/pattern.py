"""Where a square matrix has its entries, and what follows from that alone: found when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from panconv.base.tracing import is_transforming, lasting
from panconv.graph.blocks import Blocks, known_blocks
from panconv.graph.csr import known_longest, order_by_column, rows_of

T = TypeVar("T")
Transposed = tuple[Tensor, Tensor, Tensor]  # crow, col, and the permutation that brings the values along


class Pattern:
    """The entries of a matrix (N, N) in compressed rows. Several matrices may stand on one, such as A+I and Â.

    Args:
        crow: (N + 1,)
        col: (nnz,), sorted within each row.
        symmetric: whether the mirror of each entry is there, where that is known.
        loops: how many entries stand on the diagonal, where that is known.
        longest: how many entries the longest row has, where that is known.
        row: the row of each entry, (nnz,) int64, where that is known.
        like: a pattern of the same symmetry, which is quicker to ask.
    """

    blocks: tuple[Blocks | None, Blocks | None] = (None, None)  # parts that are known, its own and its transpose's

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        symmetric: bool | None = None,
        loops: int | None = None,
        longest: int | None = None,
        row: Tensor | None = None,
        like: Pattern | None = None,
    ) -> None:
        self.crow, self.col, self._like = crow, col, like
        known = {"symmetric": symmetric, "loops": loops, "longest": longest, "row": row}
        self._found: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
        if longest is not None and crow.is_cuda and not torch.compiler.is_compiling():
            known_longest[crow] = longest

    def _find(self, name: str, look: Callable[[], T]) -> T:
        """What `look` finds, once, unless it is being traced or transformed."""
        found = self._found.get(name)
        if found is None:
            with lasting():
                found = look()
            if not torch.compiler.is_compiling() and not is_transforming():
                self._found[name] = found
        return found

    @property
    def row(self) -> Tensor:
        """The row of each entry, (nnz,) int64."""
        return self._find("row", lambda: rows_of(self.crow, self.col.numel()))

    def by_column(self) -> Transposed:
        """The transposed pattern: crow, col, and the permutation of the values."""
        return self._find("transposed", lambda: order_by_column(self.crow, self.col, self.crow.numel() - 1, self.row))

    def know_transposed(self, mirror: Pattern, perm: Tensor) -> None:
        """Takes the transposed pattern, and the permutation of the values, from one who has them."""
        self._found["transposed"] = mirror.crow, mirror.col, perm

    @property
    def is_symmetric(self) -> bool:
        """Whether the mirror of each entry is there."""
        return self._find("symmetric", self._is_mirrored)

    def _is_mirrored(self) -> bool:
        if self._like is not None:
            return self._like.is_symmetric
        crow, col, perm = self.by_column()
        mirrored = torch.equal(self.crow, crow) and torch.equal(self.col, col)
        if mirrored:
            self._found["transposed"] = self.crow, self.col, perm  # no second copy
        return mirrored

    @property
    def num_self_loops(self) -> int:
        return self._find("loops", lambda: int(torch.count_nonzero(self.row == self.col)))

    @property
    def longest(self) -> int:
        """Entries of the longest row."""
        return self._find("longest", lambda: _longest(self.crow))

    @property
    def longest_column(self) -> int:
        """Entries of the longest column."""
        return self._find("longest_column", lambda: _longest(self.by_column()[0]))

    def settle(self) -> Pattern:
        """Finds all that has to be looked at from the host, which torch.compile cannot do."""
        _ = self.is_symmetric, self.num_self_loops, self.longest
        return self

    def mirrored(self, value: Tensor) -> tuple[Tensor, bool]:
        """Values of a symmetric pattern, (nnz,), and whether each is that of its mirror."""
        mirror = value.index_select(0, self.by_column()[2])
        if torch.equal(value, mirror):
            return value, True
        # A normalisation that was computed edge by edge differs both ways by rounding, and means nothing by it.
        alike = torch.allclose(value, mirror, rtol=8 * torch.finfo(value.dtype).eps, atol=0.0)
        return (value / 2 + mirror / 2, True) if alike else (value, False)

    # ------------------------------------------------------------------ how it travels

    def known(self, name: str) -> Any:
        """What has been found under a name, or None: "symmetric", "loops", "longest", "row" or "transposed"."""
        found = self._found.get(name)
        return self._like.known(name) if found is None and name == "symmetric" and self._like is not None else found

    def changed(self, change: Callable[[Any], Any]) -> Pattern:
        """A copy with every tensor changed, by a function that takes tuples of them too."""
        known = {name: self.known(name) for name in ("symmetric", "longest")}
        other = Pattern(change(self.crow), change(self.col), **known)
        other._found.update({name: change(part) for name, part in self._found.items()})
        other.blocks = change(self.blocks)
        other._like = None if "symmetric" in other._found else change(self._like)
        return other.note_blocks()

    def note_blocks(self) -> Pattern:
        """Tells the kernels the parts that are known, so that they need not look for them."""
        own, transposed = self.blocks
        if own is not None:
            known_blocks[self.col] = own
        if transposed is not None:
            known_blocks[self._found["transposed"][1]] = transposed
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.note_blocks()


def _longest(crow: Tensor) -> int:
    return int(crow.diff().max()) if crow.numel() > 1 else 0
