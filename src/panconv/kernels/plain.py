"""The step and its companions in torch's own operations: MKL on the CPU, and where there is no Triton."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.csr import rows_of

# Without MKL (ARM, macOS) torch has no CSR product on the CPU; its COO product is plain C++ and runs everywhere.
_CSR_ON_CPU = torch.backends.mkl.is_available()
_PIECE = 2**16  # values
_FEWEST = 5  # columns from which a sum of bags is faster than MKL


def multiply(crow: Tensor, col: Tensor, value: Tensor | None, num_cols: int, x: Tensor) -> Tensor:
    """A·x for x (C, K)."""
    R = crow.numel() - 1
    # Autocast would hand the product half-precision operands, which no CPU kernel takes.
    with torch.autocast(x.device.type, enabled=False):
        if x.device.type == "cpu" and x.dtype == torch.float32 and x.size(1) >= _FEWEST:
            return _bags(crow, col, value, x)
        value = torch.ones(col.numel(), dtype=x.dtype, device=x.device) if value is None else value
        if x.is_cuda and torch.are_deterministic_algorithms_enabled():
            # cuSPARSE adds in any order. One sum a row, in order, costs a message an edge.
            messages = value.unsqueeze(1) * x[col]
            return torch.segment_reduce(messages, "sum", offsets=crow.long(), initial=0)
        if x.is_cuda or _CSR_ON_CPU:
            matrix = torch.sparse_csr_tensor(crow, col, value, (R, num_cols), check_invariants=False)
        else:
            index = torch.stack([rows_of(crow, col.numel()), col.long()])
            matrix = torch.sparse_coo_tensor(index, value, (R, num_cols), is_coalesced=True, check_invariants=False)
        return matrix @ x


def _bags(crow: Tensor, col: Tensor, value: Tensor | None, x: Tensor) -> Tensor:
    """Each row of A as a weighted bag of rows of x: torch's embedding bags, 2 to 4 times as fast as MKL's CSR."""
    weight = None if value is None else value.detach()
    return torch.embedding_bag(x.detach(), col, crow, False, 0, False, weight, True)[0]


def step(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,
    x: Tensor,
    right: Tensor | None,
    scale: Tensor | None,
    y0: Tensor | None,
    keep: Tensor | None,
    base: Tensor | None,
    hold: Tensor | None,
    add: Tensor | None,
    dot: Tensor | None,
    by_row: bool,
    trials: int,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """The step of `panconv.kernels`: its out, running sum and dots."""
    out = multiply(crow, col, value, x.size(0), x if right is None else _times(x, right, trials))
    if scale is not None:
        _times_(out, scale, trials)
    if y0 is not None and keep is not None:
        _plus_(out, keep, y0, trials)
    running = base if base is None or hold is None else _times(base, hold, trials)
    if running is not None and add is not None:
        _plus_(running, add, out, trials)
    return out, running, None if dot is None else paired(out, dot, trials, by_row)


def paired(a: Tensor, b: Tensor, trials: int, by_row: bool) -> Tensor:
    """<a, b> of each trial, (1, S), or of each row and trial, (R, S)."""
    if trials == 1 and not by_row:
        return torch.dot(a.reshape(-1), b.reshape(-1)).reshape(1, 1)
    piece = max(1, _PIECE // max(1, a.size(1)))  # rows whose products stay in the cache, in place of a block of them
    pairs = zip(_by_trial(a, trials).split(piece), _by_trial(b, trials).split(piece), strict=True)
    rows = torch.cat([(left * right).sum(-1) for left, right in pairs])
    return rows if by_row else rows.sum(0, keepdim=True)


def sampled(crow: Tensor, col: Tensor, g: Tensor, x: Tensor) -> Tensor:
    """<g[row], x[col]> of each stored entry, without a message for each."""
    zeros = torch.zeros(col.numel(), dtype=x.dtype, device=x.device)  # whatever stands here is multiplied by beta = 0
    with torch.autocast(x.device.type, enabled=False):
        if x.is_cuda or _CSR_ON_CPU:
            shape = (crow.numel() - 1, x.size(0))
            pattern = torch.sparse_csr_tensor(crow, col, zeros, shape, check_invariants=False)
            return torch.sparse.sampled_addmm(pattern, g, x.t(), beta=0.0).values()
        return (g[rows_of(crow, col.numel())] * x[col]).sum(-1)


def _number(factor: Tensor) -> float | None:
    """The one number that a factor is, where reading it does not wait for a device."""
    if factor.size(0) != 1 or factor.device.type != "cpu":
        return None
    numbers = set(factor[0].tolist())
    return numbers.pop() if len(numbers) == 1 else None


def _by_trial(x: Tensor, trials: int) -> Tensor:
    return x.view(x.size(0), trials, x.size(1) // trials)


def _over_columns(factor: Tensor, x: Tensor, trials: int) -> tuple[Tensor, Tensor]:
    """A factor and x in shapes that multiply: one a trial as a row of columns, whose inner loop is long."""
    if factor.size(0) == 1 and x.size(0) != 1:
        return factor.repeat_interleave(x.size(1) // trials, dim=1), x
    return factor.unsqueeze(-1), _by_trial(x, trials)


def _times(x: Tensor, factor: Tensor, trials: int) -> Tensor:
    number = _number(factor)
    if number is not None:
        return x * number
    spread, columns = _over_columns(factor, x, trials)
    return (columns * spread).view(x.shape)


def _times_(x: Tensor, factor: Tensor, trials: int) -> None:
    number = _number(factor)
    if number == 1:
        return
    spread, columns = _over_columns(factor, x, trials)
    columns.mul_(spread if number is None else number)


def _plus_(total: Tensor, factor: Tensor, x: Tensor, trials: int) -> None:
    """total += factor ⊙ x."""
    number = _number(factor)
    if number == 0:
        return
    if number is not None:
        total.add_(x, alpha=number)
        return
    spread, columns = _over_columns(factor, total, trials)
    columns.addcmul_(x.view(columns.shape), spread)
