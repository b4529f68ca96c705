"""Features that are mostly zero, such as a bag of words: kept sparse through dropout and the first matrix product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from panconv.base import random
from panconv.base.checks import check_sparse
from panconv.base.tracing import is_batched, is_tracked, is_transforming
from panconv.compute.feature_pattern import Pattern
from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR

# What is dropped differs by trial. On the CPU the values of only so many trials are made at a time that they stay in
# the caches, where making them costs a tenth.
_BLOCK = {"cpu": 2**20, "cuda": 2**28}


class SparseRows:
    """A feature matrix (N, F) in CSR, whose stored values are shared by all trials, (nnz,), or each trial's, (S, nnz).

    `X @ W` is (N, O) for W (F, O), and (N, S, O) for W (S, F, O), by one sparse product, in the wider dtype of the two.
    """

    def __init__(self, pattern: Pattern, value: Tensor) -> None:
        self._pattern = pattern
        self.value = value
        self._kept: dict[tuple[torch.dtype, int, int], tuple[CSR, CSR]] = {}

    @staticmethod
    def of(x: Tensor | SparseRows) -> SparseRows:
        """From a torch sparse tensor of any layout."""
        return x if isinstance(x, SparseRows) else _read(x)

    @property
    def shape(self) -> tuple[int, int]:
        return self._pattern.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.value.dtype

    @property
    def device(self) -> torch.device:
        return self._pattern.col.device

    def dim(self) -> int:
        return 2

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Tensor:
        """`F.linear` and `torch.matmul`: any module that begins with a linear map takes such features."""
        known: dict[Any, Any] = {linear: _linear, torch.matmul: _matmul}
        return known[func](*args, **(kwargs or {})) if func in known else NotImplemented

    def with_values(self, value: Tensor) -> SparseRows:
        """The same entries with other values, (nnz,) or (S, nnz)."""
        return SparseRows(self._pattern, value)

    def drop(self, keys: Tensor | None, p: float | Tensor) -> SparseRows:
        """Each stored value dropped with probability p, the others scaled by 1/(1 − p).

        Args:
            keys: of one trial, (), or of S, (S,), whose values are then (S, nnz); None for torch's generator.
            p: the probability, in [0, 1), or those of S trials, (S,) of float64.
        """
        if isinstance(p, Tensor) and p.dim() and keys is not None:
            keys = keys.expand(p.shape)
        if keys is None:
            return self.with_values(self._drawn(p))
        if self.value.dim() == 1 and not torch.compiler.is_compiling() and not is_tracked(self.value):
            return _Dropped(self, keys, p)
        return self.with_values(self._remaining(keys, p))

    def times(self, factor: Tensor) -> SparseRows:
        """Each row times a number, (N, 1), or times one per trial, (N, S, 1)."""
        return _Scaled(self, factor)

    def _remaining(self, keys: Tensor, p: float | Tensor) -> Tensor:
        position, p = self._pattern.positions()[0], _column(p)
        return random.survivors(self.value, position, _column(keys), p, 1 / (1 - p))

    def _drawn(self, p: float | Tensor) -> Tensor:
        """What remains by torch's generator."""
        if not isinstance(p, Tensor):
            return torch.nn.functional.dropout(self.value, p)
        p = _column(p)
        kept = torch.rand(torch.broadcast_tensors(p, self.value)[1].shape, device=self.device) >= p
        return torch.where(kept, random.times(self.value, 1 / (1 - p)), 0)

    def to(self, device: torch.device | str) -> SparseRows:
        return SparseRows(self._pattern.to(device), self.value.to(device))

    def to_dense(self) -> Tensor:
        """The matrix (N, F), or (N, S, F) of each trial's values."""
        (N, F), value, place = self.shape, self.value, (self._pattern.row(), self._pattern.col.long())
        if value.dim() == 1:
            return value.new_zeros(N, F).index_put(place, value)
        return value.new_zeros(N, F, value.size(0)).index_put(place, value.T).transpose(1, 2).contiguous()

    def __matmul__(self, W: Tensor) -> Tensor:
        W = _widen(W, self.dtype)
        if self.value.dim() == 1:
            # (F, S, O): the trials are more columns of one product
            return spmm(*self.operands(W.dtype), W if W.dim() == 2 else W.transpose(0, 1))
        a, a_t = self._pattern.side_by_side(W.size(0)).operands(self.value.to(W.dtype))
        return spmm(a, a_t, W.flatten(0, 1)).unflatten(0, (W.size(0), -1)).transpose(0, 1)

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """The matrix and its transpose in a dtype, of values (nnz,); kept, unless they hang on a gradient."""
        if torch.compiler.is_compiling() or is_tracked(self.value) or self.value.is_inference():
            return self._pattern.operands(self.value.to(dtype))
        key = dtype, id(self.value), self.value._version  # values changed in place are other values
        found = self._kept.get(key)
        if found is None:
            with torch.inference_mode(False), torch.no_grad():
                found = self._pattern.operands(self.value.to(dtype))
            self._kept = {key: found}  # another thread may put its own there: neither is lost to the one who made it
        return found


@torch.compiler.disable
def _read(x: Tensor) -> SparseRows:
    check_sparse(x, "x")
    csr = x.to_sparse_csr()
    # The compiler takes no views of a sparse tensor, nor the tensor itself.
    crow, col, value = (part.clone() for part in (csr.crow_indices(), csr.col_indices(), csr.values()))
    return SparseRows(Pattern(crow, col, *csr.shape), value)


class _Dropped(SparseRows):
    """Features of which each trial keeps some values, found anew wherever they are needed and never held for all."""

    def __init__(self, full: SparseRows, keys: Tensor, p: float | Tensor) -> None:
        self._pattern, self._full, self._keys, self._p = full._pattern, full, keys, p

    @property
    def value(self) -> Tensor:  # type: ignore[override]
        return self._full._remaining(self._keys, self._p)

    @property
    def dtype(self) -> torch.dtype:
        return self._full.dtype  # without finding the values

    def to(self, device: torch.device | str) -> SparseRows:
        p = self._p.to(device) if isinstance(self._p, Tensor) else self._p
        return _Dropped(self._full.to(device), self._keys.to(device), p)

    def drop(self, keys: Tensor | None, p: float | Tensor) -> SparseRows:
        return self.with_values(self.value).drop(keys, p)

    def __matmul__(self, W: Tensor) -> Tensor:
        if torch.compiler.is_compiling() or is_transforming():
            return self.with_values(self.value) @ W
        p = self._p.reshape(-1, 1, 1) if isinstance(self._p, Tensor) else self._p
        scaled = random.times(_widen(W, self.dtype), 1 / (1 - p))
        if self._keys.dim():
            return _DroppedProduct.apply(scaled, self, False)
        return _DroppedProduct.apply(scaled.unsqueeze(0), self, False).squeeze(1)

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        return self.with_values(self.value).operands(dtype)

    def at_once(self, x: Tensor, transposed: bool) -> Tensor:
        """What `product` gives, by operations that take many gradients at a time."""
        (N, F), S, width = self.shape, self._keys.numel(), x.size(-1)
        value = random.times(self.value, 1 - _column(self._p)).to(x.dtype).reshape(S, -1)
        a, a_t = self._pattern.side_by_side(S).operands(value)
        if transposed:
            return spmm(a_t, a, x.transpose(0, 1).reshape(S * N, width)).reshape(S, F, width)
        return spmm(a, a_t, x.reshape(S * F, width)).reshape(S, N, width).transpose(0, 1)

    def product(self, x: Tensor, transposed: bool) -> Tensor:
        """X·W (N, S, O) from W (S, F, O), or Xᵀ·g (S, F, O) from g (N, S, O), without the scale."""
        (N, F), keys, width = self.shape, self._keys.reshape(-1), x.size(-1)
        value = self._full.operands(x.dtype)[transposed].value
        position = self._pattern.positions()[transposed]
        S = keys.numel()
        out = x.new_empty((S, F, width) if transposed else (N, S, width))
        for start, end in _blocks(S, value.numel(), x.device.type):
            p = self._p.reshape(-1, 1)[start:end] if isinstance(self._p, Tensor) else self._p
            kept = random.survivors(value, position, keys[start:end, None], p).reshape(-1)
            pattern = self._pattern.side_by_side(end - start)
            # Its partner is asked for a shape alone: no gradient is taken in here.
            a, a_t = CSR(pattern.crow, pattern.col, kept), CSR(pattern.crow_t, pattern.col_t, kept)
            if transposed:
                y = spmm(a_t, a, x[:, start:end].transpose(0, 1).flatten(0, 1))
                out[start:end] = y.unflatten(0, (end - start, F))
            else:
                y = spmm(a, a_t, x[start:end].flatten(0, 1))
                out[:, start:end] = y.unflatten(0, (end - start, N)).transpose(0, 1)
        return out


class _DroppedProduct(torch.autograd.Function):
    """`_Dropped.product`, whose derivative is the same with the transpose."""

    @staticmethod
    def forward(x: Tensor, rows: _Dropped, transposed: bool) -> Tensor:
        return rows.product(x, transposed)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, _Dropped, bool], output: Tensor) -> None:
        _, ctx.rows, ctx.transposed = inputs

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        if is_batched(g):
            return ctx.rows.at_once(g, not ctx.transposed), None, None
        return _DroppedProduct.apply(g, ctx.rows, not ctx.transposed), None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, *_: None) -> Tensor:
        return _DroppedProduct.apply(dx, ctx.rows, ctx.transposed)


class _Scaled(SparseRows):
    """Features whose rows are multiplied, by numbers that may differ by trial: behind the product, where it costs
    least."""

    def __init__(self, full: SparseRows, factor: Tensor) -> None:
        self._pattern, self._full, self._factor = full._pattern, full, factor

    @property
    def value(self) -> Tensor:  # type: ignore[override]
        by_entry = self._factor.squeeze(-1)[self._pattern.row()]  # (nnz,) or (nnz, S)
        return self._full.value * (by_entry.T if by_entry.dim() == 2 else by_entry)

    @property
    def dtype(self) -> torch.dtype:
        return self._full.dtype

    def to(self, device: torch.device | str) -> SparseRows:
        return _Scaled(self._full.to(device), self._factor.to(device))

    def drop(self, keys: Tensor | None, p: float | Tensor) -> SparseRows:
        return _Scaled(self._full.drop(keys, p), self._factor)

    def __matmul__(self, W: Tensor) -> Tensor:
        y = self._full @ W
        return (y.unsqueeze(1) if y.dim() < self._factor.dim() else y) * _beside(self._factor, y)

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        return self.with_values(self.value).operands(dtype)


def _beside(factor: Tensor, y: Tensor) -> Tensor:
    """A factor of rows (N, 1), also where y is (N, S, O)."""
    return factor.unsqueeze(1) if factor.dim() < y.dim() else factor


def _column(by_trial: Any) -> Any:
    """A tensor (S,) as (S, 1), beside the stored values; what is no such tensor as it is."""
    return by_trial.unsqueeze(-1) if isinstance(by_trial, Tensor) and by_trial.dim() else by_trial


def _widen(W: Tensor, dtype: torch.dtype) -> Tensor:
    """W in the wider dtype of the two: features are never rounded to that of a model."""
    return W.to(torch.promote_types(W.dtype, dtype))


def _blocks(S: int, nnz: int, device: str) -> list[tuple[int, int]]:
    """S trials in even blocks whose stored values stay within bounds, as (start, end)."""
    count = -(-S // max(1, _BLOCK.get(device, _BLOCK["cuda"]) // max(nnz, 1)))
    size = -(-S // count)
    return [(start, min(start + size, S)) for start in range(0, S, size)]


# By the names that the arguments have in torch.
def _matmul(input: Any, other: Any) -> Tensor:
    return input @ other if isinstance(input, SparseRows) else NotImplemented


def _linear(input: Any, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    made = _matmul(input, weight.T)  # whose matrix stands the other way round
    return made if bias is None else made + bias
