"""The step and its companions in torch's own operations: embedding bags and MKL on the CPU, cuSPARSE without Triton."""

from __future__ import annotations

from typing import Union

import torch
from torch import Tensor

from panconv.graph.csr import CSR, rows_of

Factor = Union[Tensor, float]  # (R or 1, S or 1), or one number  # noqa: UP007

# Without MKL (ARM, macOS) torch has no CSR product on the CPU; its COO product is plain C++ and runs everywhere.
_CSR_ON_CPU = torch.backends.mkl.is_available()
_GRAIN = 2**15  # values up to which torch does an element-wise operation on the thread that asks for it
_ALONE = 2**24  # values, times the square of the threads, up to which one thread goes through them alone
_FEWEST = 5  # columns from which a sum of bags is faster than MKL


def sum_dtype(x: Tensor) -> torch.dtype:
    """The dtype that sums are taken in."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def multiply(crow: Tensor, col: Tensor, value: Tensor | None, num_cols: int, x: Tensor) -> Tensor:
    """A·x for x (C, K)."""
    device = x.device.type
    if device == "cpu" and x.dtype == torch.float32 and x.size(1) >= _FEWEST:
        return _bags(crow, col, value, x)
    if torch.is_autocast_enabled(device):
        # Autocast would hand the product half-precision operands, which no CPU kernel takes.
        with torch.autocast(device, enabled=False):
            return _sparse(crow, col, value, num_cols, x)
    return _sparse(crow, col, value, num_cols, x)


def _sparse(crow: Tensor, col: Tensor, value: Tensor | None, num_cols: int, x: Tensor) -> Tensor:
    R = crow.numel() - 1
    value = torch.ones(col.numel(), dtype=x.dtype, device=x.device) if value is None else value
    if x.is_cuda and torch.are_deterministic_algorithms_enabled():
        # cuSPARSE adds in any order. One sum per row, in order, costs a message per edge.
        messages = value.unsqueeze(1) * x[col]
        return torch.segment_reduce(messages, "sum", offsets=crow.long(), initial=0)
    if x.is_cuda or _CSR_ON_CPU:
        matrix = torch.sparse_csr_tensor(crow, col, value, (R, num_cols), check_invariants=False)
    else:
        matrix = CSR(crow, col, value).to_coo((R, num_cols))
    return matrix @ x


def _bags(crow: Tensor, col: Tensor, value: Tensor | None, x: Tensor) -> Tensor:
    """Each row of A as a weighted bag of rows of x: torch's embedding bags, 2 to 4 times as fast as MKL's CSR."""
    # For what asks for a gradient torch makes ready, which takes time.
    weight = value.detach() if value is not None and value.requires_grad else value
    rows = x.detach() if x.requires_grad else x
    return torch.embedding_bag(rows.contiguous(), col, crow, False, 0, False, weight, True)[0]


def step(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,
    x: Tensor,
    right: Factor | None,
    scale: Factor | None,
    y0: Tensor | None,
    keep: Factor | None,
    base: Tensor | None,
    hold: Factor | None,
    add: Factor | None,
    dot: Tensor | None,
    by_row: bool,
    trials: int,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """The step of `panconv.compute.kernels`: its out, running sum and dots."""
    out = multiply(crow, col, value, x.size(0), x if right is None else _times(x, right, trials))
    if scale is not None:
        _times_(out, scale, trials)
    if y0 is not None and keep is not None:
        _plus_(out, keep, y0, trials)
    running = base if base is None or hold is None else _times(base, hold, trials)
    if running is not None and add is not None:
        _plus_(running, add, out, trials)
    return out, running, None if dot is None else row_dots(out, dot, trials, by_row)


def row_dots(a: Tensor, b: Tensor, trials: int, by_row: bool) -> Tensor:
    """<a, b> of each trial, (1, S), or of each row and trial, (R, S)."""
    rows = _rows_at_once(a)
    pairs = iter([(a, b)]) if a.size(0) <= rows else zip(a.split(rows), b.split(rows), strict=True)
    if by_row:
        return torch.cat([(_by_trial(left, trials) * _by_trial(right, trials)).sum(-1) for left, right in pairs])
    # Place by place over the blocks, then over the places: one long sum of float32 numbers would lose digits.
    total = torch.mul(*next(pairs))
    for left, right in pairs:
        total[: left.size(0)].addcmul_(left, right)
    return total.sum().view(1, 1) if trials == 1 else _by_trial(total, trials).sum((0, 2)).unsqueeze(0)


def _rows_at_once(x: Tensor) -> int:
    """How many rows of x to take at a time, so that what is made of them stays in the caches.

    To open a parallel region takes a wake and a barrier, at which all wait where a thread does not run because the
    machine is busy. What one thread can do about as fast it does alone, in blocks for which torch opens no region. The
    more threads there are, the less that is.
    """
    threads = torch.get_num_threads()
    if threads == 1:  # it opens none
        return max(1, 2 * _GRAIN // max(1, x.size(1)))
    alone = x.numel() * threads**2 <= _ALONE
    return max(1, (_GRAIN if alone else 8 * _GRAIN * threads) // max(1, x.size(1)))


def entry_dots(crow: Tensor, col: Tensor, g: Tensor, x: Tensor) -> Tensor:
    """<g[row], x[col]> of each stored entry, without a message for each."""
    zeros = torch.zeros(col.numel(), dtype=x.dtype, device=x.device)  # whatever stands here is multiplied by beta = 0
    with torch.autocast(x.device.type, enabled=False):
        if x.is_cuda or _CSR_ON_CPU:
            shape = (crow.numel() - 1, x.size(0))
            pattern = torch.sparse_csr_tensor(crow, col, zeros, shape, check_invariants=False)
            return torch.sparse.sampled_addmm(pattern, g, x.t(), beta=0.0).values()
        return (g[rows_of(crow, col.numel())] * x[col]).sum(-1)


def _by_trial(x: Tensor, trials: int) -> Tensor:
    return x.view(x.size(0), trials, x.size(1) // trials)


def _over_columns(factor: Tensor, x: Tensor, trials: int) -> tuple[Tensor, Tensor]:
    """A factor and x in shapes that multiply: one per trial as a row of columns, whose inner loop is long."""
    if factor.size(0) == 1 and x.size(0) != 1:
        return factor.repeat_interleave(x.size(1) // trials, dim=1), x
    return factor.unsqueeze(-1), _by_trial(x, trials)


def _times(x: Tensor, factor: Factor, trials: int) -> Tensor:
    if isinstance(factor, float):
        return x * factor
    spread, columns = _over_columns(factor, x, trials)
    return (columns * spread).view(x.shape)


def _times_(x: Tensor, factor: Factor, trials: int) -> None:
    if isinstance(factor, float):
        if factor != 1:
            x.mul_(factor)
        return
    spread, columns = _over_columns(factor, x, trials)
    columns.mul_(spread)


def _plus_(total: Tensor, factor: Factor, x: Tensor, trials: int) -> None:
    """total += factor ⊙ x."""
    if isinstance(factor, float):
        if factor != 0:
            total.add_(x, alpha=factor)
        return
    spread, columns = _over_columns(factor, total, trials)
    columns.addcmul_(x.view(columns.shape), spread)
