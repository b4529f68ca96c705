"""Features that are mostly zero, such as a bag of words: kept sparse through dropout and the first matrix product."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.csr import CSR, narrow, order_by_column
from panconv.spmm import spmm


class SparseRows:
    """A feature matrix (N, F) in CSR, whose stored values are shared by all trials, (nnz,), or each trial's, (S, nnz).

    `X @ W` is (N, O) for W (F, O), and (N, S, O) for W (S, F, O), always in one sparse product.
    """

    def __init__(self, pattern: _Pattern, value: Tensor) -> None:
        self._pattern = pattern
        self.value = value

    @staticmethod
    def of(x: Tensor | SparseRows) -> SparseRows:
        """From a torch sparse tensor of any layout."""
        if isinstance(x, SparseRows):
            return x
        csr = x.to_sparse_csr()
        return SparseRows(_Pattern(csr.crow_indices(), csr.col_indices(), *csr.shape), csr.values())

    @property
    def shape(self) -> tuple[int, int]:
        return self._pattern.shape

    def with_values(self, value: Tensor) -> SparseRows:
        """The same entries with other values, (nnz,) or (S, nnz)."""
        return SparseRows(self._pattern, value)

    def to(self, device: torch.device | str) -> SparseRows:
        return SparseRows(self._pattern.to(device), self.value.to(device))

    def __matmul__(self, W: Tensor) -> Tensor:
        value = self.value.to(W.dtype)
        if value.dim() == 1:
            a, a_t = self._pattern.operands(value)
            if W.dim() == 2:
                return spmm(a, a_t, W)
            return spmm(a, a_t, W.transpose(0, 1))  # (F, S, O): the trials are more columns of one product
        a, a_t = self._pattern.side_by_side(W.size(0)).operands(value)
        return spmm(a, a_t, W.flatten(0, 1)).unflatten(0, (W.size(0), -1)).transpose(0, 1)


class _Pattern:
    """Where the stored values stand: the CSR pattern and its transpose, made once."""

    def __init__(self, crow: Tensor, col: Tensor, N: int, F: int) -> None:
        bound = max(N, F, col.numel())
        self.shape = (N, F)
        self.crow, self.col = narrow(crow, bound), narrow(col, bound)
        self.crow_t, self.col_t, self.perm = order_by_column(self.crow, self.col, F)
        self._blocks: dict[int, _Pattern] = {}

    def operands(self, value: Tensor) -> tuple[CSR, CSR]:
        """The matrix and its transpose, from values (nnz,) or, on the pattern of S blocks, (S, nnz / S)."""
        moved = value[..., self.perm]
        return CSR(self.crow, self.col, value.reshape(-1)), CSR(self.crow_t, self.col_t, moved.reshape(-1))

    def side_by_side(self, S: int) -> _Pattern:
        """S copies of the pattern down the diagonal of one matrix (S·N, S·F): S products in one."""
        if S not in self._blocks:
            (N, F), nnz = self.shape, self.col.numel()
            block = object.__new__(_Pattern)
            block.shape, block.perm, block._blocks = (S * N, S * F), self.perm, {}
            bound = S * max(N, F, nnz)
            block.crow, block.col = _repeated(self.crow, self.col, S, F, bound)
            block.crow_t, block.col_t = _repeated(self.crow_t, self.col_t, S, N, bound)
            self._blocks[S] = block
        return self._blocks[S]

    def to(self, device: torch.device | str) -> _Pattern:
        moved = object.__new__(_Pattern)
        moved.__dict__.update({k: v.to(device) if isinstance(v, Tensor) else v for k, v in self.__dict__.items()})
        moved._blocks = {}
        return moved


def _repeated(crow: Tensor, col: Tensor, S: int, width: int, bound: int) -> tuple[Tensor, Tensor]:
    block = torch.arange(S, device=col.device).unsqueeze(1)
    starts = (crow[:-1].long() + block * col.numel()).reshape(-1)
    end = torch.full((1,), S * col.numel(), device=col.device)
    return narrow(torch.cat([starts, end]), bound), narrow((col.long() + block * width).reshape(-1), bound)
