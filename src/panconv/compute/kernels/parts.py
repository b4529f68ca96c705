"""The whole sum in one launch, on a graph that falls into small parts, such as a batch of molecules.

No entry leaves its part, so one program can take a part through all the steps, and only its own threads wait for each
other. On such graphs a launch takes longer than a step.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from panconv.base.launch import launch
from panconv.compute.kernels.gpu import WIDEST, stride_of
from panconv.compute.kernels.plain import sum_dtype
from panconv.graph.blocks import Blocks

_POINTERS = ["crow", "col", "value", "x", "y", "spare", "starts", "own", "w", "outer", "right", "other", "dots"]
_NUMBERS = ["width", "L", "longest", "own_stride", "outer_stride", "right_stride"]


@triton.jit(do_not_specialize=_NUMBERS, do_not_specialize_on_alignment=_POINTERS)
def _parts(  # type: ignore[no-untyped-def]
    crow, col, value, x, y, spare, starts, width, L, longest,
    own, own_stride, w, outer, outer_stride, right, right_stride, other, dots, K: tl.constexpr,
    WEIGHTED: tl.constexpr, TRIALS: tl.constexpr, OUTER: tl.constexpr, RIGHT: tl.constexpr, DOT: tl.constexpr,
    ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """The whole sum on a part that no entry leaves: all its steps in one program, its sum in registers."""
    part, tile = tl.program_id(0), tl.program_id(1)
    column = tile * BLOCK_F + tl.arange(0, BLOCK_F)
    trial = tl.minimum(column, K - 1) // width
    end = tl.load(starts + part + 1)
    row = tl.load(starts + part) + tl.arange(0, ROWS)
    there = row < end
    live = there[:, None] & (column < K)[None, :]
    place = row[:, None] * K + column[None, :]
    begin = tl.load(crow + row, mask=there, other=0)
    count = tl.load(crow + row + 1, mask=there, other=0) - begin
    N = tl.load(starts + tl.num_programs(0))
    term = tl.load(x + place, mask=live, other=0.0).to(ACC)
    total = term * _coefficients(own, row, own_stride, trial, there, TRIALS)
    if RIGHT:
        term *= _coefficients(right, row, right_stride, trial, there, TRIALS)
    if OUTER:
        scale = _coefficients(outer, row, outer_stride, trial, there, TRIALS)
    if DOT:
        with_what = tl.load(other + place, mask=live, other=0.0).to(ACC)
        _store_dot(term, with_what, live, dots, 0, part, tile, column, K, TRIALS)
    for n in range(0, L):
        store = spare + (n % 2) * N * K
        tl.store(store + place, term, mask=live)
        tl.debug_barrier()
        term = tl.zeros((ROWS, BLOCK_F), ACC)
        for e in range(0, longest):
            has = e < count
            node = tl.load(col + begin + e, mask=has, other=0)
            sent = tl.load(store + node[:, None] * K + column[None, :], mask=has[:, None] & live, other=0.0).to(ACC)
            if WEIGHTED:
                sent *= tl.load(value + begin + e, mask=has, other=0.0).to(ACC)[:, None]
            term += sent
        factor = tl.load(w + (n + 1) * (K // width) + trial)[None, :] if TRIALS else tl.load(w + n + 1)
        if OUTER:
            total += scale * factor * term
        else:
            total += factor * term
        if DOT:
            _store_dot(term, with_what, live, dots, n + 1, part, tile, column, K, TRIALS)
    tl.store(y + place, total, mask=live)


@triton.jit
def _store_dot(term, other, live, dots, n, part, tile, column, K: tl.constexpr, TRIALS: tl.constexpr):  # type: ignore[no-untyped-def]
    """<term, other> of a part, to be added to those of the other parts."""
    product = tl.sum(tl.where(live, term * other, 0.0), 0)
    if TRIALS:
        tl.store(dots + (n * tl.num_programs(0) + part) * K + column, product, mask=column < K)
    else:
        tl.store(dots + (n * tl.num_programs(0) + part) * tl.num_programs(1) + tile, tl.sum(product, 0))


@triton.jit
def _coefficients(pointer, row, row_stride, trial, there, TRIALS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The coefficients of a block of rows, (ROWS, 1) or, by trial, (ROWS, BLOCK_F)."""
    if TRIALS:
        found = tl.load(pointer + row[:, None] * row_stride + trial[None, :], mask=there[:, None], other=0.0)
    else:
        found = tl.load(pointer + row * row_stride, mask=there, other=0.0)[:, None]
    return found


def parts(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,
    blocks: Blocks,
    x: Tensor,
    w: Tensor,
    own: Tensor | None,
    outer: Tensor | None,
    right: Tensor | None,
    dot: Tensor | None,
    trials: int,
) -> tuple[Tensor, Tensor | None]:
    """own ⊙ x + outer ⊙ Σ wₙ Aⁿ(right ⊙ x) over n = 1 … L, and <Aⁿ(right ⊙ x), dot> of n = 0 … L, (L+1, S).

    Args:
        w: (L+1, S); w₀ is `own` where none is given.
    """
    (N, K), L = x.shape, w.size(0) - 1
    rows, columns = triton.next_power_of_2(blocks.rows), min(triton.next_power_of_2(K), WIDEST)
    grid = (blocks.start.numel() - 1, -(-K // columns), 1)
    y, spare = torch.empty_like(x), torch.empty(2, N, K, dtype=x.dtype, device=x.device)
    dots = None
    if dot is not None:
        dots = torch.empty(L + 1, grid[0], grid[1] if trials == 1 else K, dtype=sum_dtype(x), device=x.device)
    arguments = (
        crow, col, x if value is None else value, x, y, spare, blocks.start, K // trials, L, blocks.entries,
        w if own is None else own, stride_of(own), w, x if outer is None else outer, stride_of(outer),
        x if right is None else right, stride_of(right), x if dot is None else dot, x if dots is None else dots,
        K, value is not None, trials > 1, outer is not None, right is not None, dot is not None,
        tl.float64 if x.dtype == torch.float64 else tl.float32, rows, columns,
    )  # fmt: skip
    # tl's own types are slow to hash; x's dtype stands for that of the sums
    types = (crow.dtype, x.dtype, x.device.index, None if value is None else value.dtype)
    warps = max(1, min(8, rows * columns // 512))
    launch(_parts, grid, arguments, (*types, *arguments[19:25], rows, columns), warps=warps)
    if dots is None:
        return y, None
    return y, dots.sum((1, 2)).unsqueeze(1) if trials == 1 else dots.view(L + 1, grid[0], trials, -1).sum((1, 3))
