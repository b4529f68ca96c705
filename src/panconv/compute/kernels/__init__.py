"""The bare products, without derivatives, on the best kernel at hand: Triton on a GPU, torch's own elsewhere.

A *step* is a product with all that surrounds it, so that a GPU passes over memory once:

    out     = scale ⊙ A (right ⊙ x) + keep ⊙ y₀
    running = hold ⊙ base + add ⊙ out
    dots    = <out, dot>, row by row

The factors are (R or 1, S or 1) for the S trials that lie side by side in the columns of x, (C, S·width); on the CPU
they may be plain numbers, for which nothing has to be waited.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.compute.kernels import plain
from panconv.compute.kernels.blocks import blocks_of
from panconv.compute.kernels.plain import Factor, sum_dtype


class _Kernels(NamedTuple):
    """What Triton does here."""

    step: Callable[..., Tensor | None]
    entry_dots: Callable[..., Tensor]
    row_dots: Callable[..., Tensor]
    parts: Callable[..., tuple[Tensor, Tensor | None]]


class StepResult(NamedTuple):
    """What a step gave, None where it was not asked for."""

    out: Tensor | None  # (R, S·width)
    running: Tensor | None  # (R, S·width)
    dots: Tensor | None  # (R, S); where they are asked for in all, (any, S), to be summed


@functools.cache
def _triton() -> _Kernels | None:
    try:
        from panconv.compute.kernels import dots, gpu, parts
    except (ImportError, TypeError):  # no Triton, or one too old: torch's own products give the same, only slower
        return None
    return _Kernels(gpu.step, dots.entry_dots, dots.row_dots, parts.parts)


def _gpu(x: Tensor) -> _Kernels | None:
    """The Triton kernels, where they can take x."""
    return _triton() if x.is_cuda else None


def has_kernels(x: Tensor) -> bool:
    """Whether x is where kernels of our own are."""
    return _gpu(x) is not None


def multiply(
    crow: Tensor, col: Tensor, value: Tensor | None, num_cols: int, x: Tensor, recorded: bool = False
) -> Tensor:
    """A·x for x (C, K); `recorded` where it may become part of a CUDA graph, in which nothing is made to be kept."""
    if _gpu(x) is None:
        return plain.multiply(crow, col, value, num_cols, x)
    out = step(crow, col, value, x, recorded=recorded).out
    assert out is not None
    return out


def step(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,  # (nnz,), or None for ones
    x: Tensor,  # (C, S·width)
    *,
    right: Factor | None = None,
    scale: Factor | None = None,
    y0: Tensor | None = None,  # (R, S·width), with
    keep: Factor | None = None,
    base: Tensor | None = None,  # (R, S·width): with it the running sum is asked for,
    hold: Factor | None = None,  # and without `hold` it is added to in place
    add: Factor | None = None,
    dot: Tensor | None = None,  # (R, S·width): with it the dots are asked for,
    by_row: bool = True,  # of each row, or in all
    store: bool = True,
    trials: int = 1,
    recorded: bool = False,
) -> StepResult:
    """A product with what surrounds it."""
    R, width = crow.numel() - 1, x.size(1) // trials
    gpu = _gpu(x)
    if gpu is None:
        return StepResult(
            *plain.step(crow, col, value, x, right, scale, y0, keep, base, hold, add, dot, by_row, trials)
        )
    x, value, y0, dot = _in_order(x, value, y0, dot)
    base = base if hold is None else _in_order(base)[0]
    store = store or (dot is not None and trials > 1)
    out = torch.empty(R, x.size(1), dtype=x.dtype, device=x.device) if store else None
    running = base if base is None or hold is None else torch.empty_like(base, dtype=sum_dtype(x))
    factors = {"right": right, "scale": scale, "keep": keep, "hold": hold, "add": add}
    spread = {name: None if f is None else _per_trial(f, trials, x) for name, f in factors.items()}
    dots = gpu.step(
        crow, col, value, x, width=width, out=out, y0=y0, running=running, base=base,
        dot=dot if trials == 1 else None, recorded=recorded, **spread,
    )  # fmt: skip
    if dot is not None and trials > 1:  # a tile holds columns of several trials
        assert out is not None
        return StepResult(out, running, row_dots(out, dot, trials, by_row))
    if dots is not None:  # (tiles, R)
        dots = dots.sum(0).unsqueeze(1) if by_row else dots.view(-1, 1)
    return StepResult(out, running, dots)


def whole(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,
    x: Tensor,
    w: Tensor,  # (L+1, 1, S)
    own: Tensor | None,  # (N, S)
    outer: Tensor | None,
    right: Tensor | None,
    dot: Tensor | None,
    trials: int,
) -> tuple[Tensor, Tensor | None] | None:
    """own ⊙ x + outer ⊙ Σ wₙ Aⁿ(right ⊙ x) in one launch, and <Aⁿ(right ⊙ x), dot>, (L+1, S), where asked for.

    None where it cannot be: the graph does not fall into small parts, or there are no such kernels. Without `own` it
    is w₀.
    """
    gpu = _gpu(x)
    if gpu is None or not 0 < x.numel() * w.size(0) < 2**31:  # what a program counts with
        return None
    blocks = blocks_of(crow, col)
    if blocks is None:
        return None
    x, value, dot = _in_order(x, value, dot)
    own, outer, right = (None if f is None else _per_trial(f, trials, x) for f in (own, outer, right))
    w = _per_trial(w.reshape(-1, trials), trials, x)
    return gpu.parts(crow, col, value, blocks, x, w, own, outer, right, dot, trials)


def plain_whole(
    crow: Tensor, col: Tensor, value: Tensor | None, x: Tensor, lengths: int
) -> Callable[..., tuple[Tensor, Tensor | None]] | None:
    """`whole` on a pattern where there is nothing but a number per length, w (L+1, 1): a function of x, w and `dot`.

    None where there is no such kernel. What does not change from call to call is found here.
    """
    gpu = _gpu(x)
    blocks = None if gpu is None or not 0 < x.numel() * lengths < 2**31 else blocks_of(crow, col)
    if gpu is None or blocks is None:
        return None
    parts, (value,) = gpu.parts, _in_order(value)
    return lambda x, w, dot=None: parts(crow, col, value, blocks, x, w, None, None, None, dot, 1)


def row_dots(a: Tensor, b: Tensor, trials: int = 1, by_row: bool = True) -> Tensor:
    """<a, b> of each row and trial, (R, S), or in all, (1, S), for a and b (R, S·width)."""
    gpu = _gpu(a)
    if gpu is None:
        return plain.row_dots(a, b, trials, by_row)
    width = a.size(1) // trials
    rows = gpu.row_dots(*(t.reshape(a.size(0) * trials, width) for t in (a, b))).reshape(a.size(0), trials)
    return rows if by_row else rows.sum(0, keepdim=True)


def entry_dots(crow: Tensor, col: Tensor, g: Tensor, x: Tensor) -> Tensor:
    """<g[row], x[col]> of each stored entry, (nnz,): the gradient of its value."""
    gpu = _gpu(x)
    if gpu is None:
        return plain.entry_dots(crow, col, g, x)
    return gpu.entry_dots(crow, col, g.contiguous(), x.contiguous())


def _in_order(*tensors: Any) -> tuple[Any, ...]:
    """The tensors as the kernels read them, one value after another; None where there is none."""
    return tuple(None if tensor is None else tensor.contiguous() for tensor in tensors)


def numbers(w: Tensor) -> Sequence[Factor]:
    """The factors of w (L, R or 1, S), one by one: as plain numbers where they are, and can be read at once."""
    if w.device.type != "cpu" or w.size(1) != 1:
        return w.unbind(0)
    if w.size(2) > 1 and not bool((w == w[..., :1]).all()):
        return w.unbind(0)
    return w[:, 0, 0].tolist()


def _per_trial(factor: Factor, trials: int, x: Tensor) -> Tensor:
    """A factor with a column for every trial, of the accuracy that sums are taken in."""
    dtype = sum_dtype(x)
    if isinstance(factor, float):
        return torch.full((1, trials), factor, dtype=dtype, device=x.device)
    if factor.dtype == dtype and factor.size(1) == trials and factor.is_contiguous():
        return factor
    return factor.to(dtype).expand(-1, trials).contiguous()
