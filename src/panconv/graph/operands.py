"""A matrix as products take it: its entries and those of its transpose, in any dtype, found once and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from panconv.base.checks import checked_dtype
from panconv.base.tracing import is_transforming, lasting
from panconv.graph.csr import CSR
from panconv.graph.pattern import Transposed
from panconv.graph.travelling import Travelling

T = TypeVar("T")
_KEPT = 8  # of what follows from a graph and a setting, such as the counts up to an L: the last of each kind


class Operands(Travelling):
    """Base of `Adjacency`: the matrix diag(left) · values · diag(right) on a pattern."""

    value: Tensor | None  # (nnz,); None stands for ones
    left: Tensor | None  # (N,)
    right: Tensor | None
    num_nodes: int
    is_tracked: bool  # whether a derivative may be asked for in the values
    _mirrored: bool

    @property
    def num_edges(self) -> int:
        """Stored entries: an undirected edge counts twice, a self-loop once."""
        return self.col.numel()

    @property
    def device(self) -> torch.device:
        return self.crow.device

    @property
    def row(self) -> Tensor:
        """The receiver of each stored entry, (nnz,)."""
        return self.pattern.row

    @property
    def is_symmetric(self) -> bool:
        """Whether A = Aᵀ; not where weights are trained, which moves an entry and not its mirror."""
        return self._mirrored and self.pattern.is_symmetric

    def by_column(self) -> Transposed:
        """The transposed pattern, of a symmetric graph too: crow, col, and the permutation of the values."""
        return self.pattern.by_column()

    def operand(self, dtype: torch.dtype, transposed: bool) -> CSR:
        """The matrix, or its transpose, in a dtype."""
        if transposed and not self.is_symmetric:
            return self.cached(("transposed", dtype), lambda: self._transpose(self.operand(dtype, False)))
        return self.cached(dtype, lambda: CSR(self.crow, self.col, self._values(dtype)))

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """The matrix and its transpose in a dtype, as `spmm` takes them."""
        a = self.operand(dtype, False)
        return a, a if self.is_symmetric else self.cached(("transposed", dtype), lambda: self._transpose(a))

    def _transpose(self, a: CSR) -> CSR:
        crow, col, perm = self.by_column()
        return CSR(crow, col, a.value.index_select(0, perm))

    def _values(self, dtype: torch.dtype) -> Tensor:
        if self.value is None and self.left is None and self.right is None:
            return torch.ones(self.num_edges, dtype=dtype, device=self.device)
        value = self.value
        for side, index in ((self.left, self.row), (self.right, self.col)):
            if side is not None:
                there = side.index_select(0, index)
                value = there if value is None else value * there
        assert value is not None
        return value.to(dtype)

    def row_sums(self) -> Tensor:
        """What arrives at each node, (N,) float64: the degree, where nothing weighs."""
        if self.value is None and self.left is None and self.right is None:
            return (self.crow[1:] - self.crow[:-1]).double()
        return self.operand(torch.float64, False).row_sums()

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix (N, N), for small graphs and for tests."""
        a, _ = self.operands(checked_dtype(dtype))
        dense = a.value.new_zeros(self.num_nodes, self.num_nodes)
        return dense.index_put((self.row, self.col.long()), a.value)

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """`make()`, kept under a key for the next time, unless it hangs on a gradient or is being traced."""
        if (found := self._cache.get(key, self)) is not self:  # one look: another thread may let it go
            return found
        if torch.compiler.is_compiling() or self.is_tracked:
            return make()
        with lasting(), torch.no_grad():
            result = make()
        if not is_transforming():
            self._cache[key] = result
            alike = [k for k in list(self._cache) if isinstance(k, tuple) and isinstance(key, tuple) and k[0] == key[0]]
            for old in alike[:-_KEPT]:
                self._cache.pop(old, None)
        return result
