"""The whole sum in one launch, on a graph that falls into small parts, such as a batch of molecules.

A program takes a part that no entry leaves through all the steps, so that the only thing that waits is its own threads.
On such graphs a launch takes longer than a step.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from panconv.kernels.blocks import Blocks
from panconv.kernels.gpu import WIDEST, accurate, stride_of


@triton.jit
def _parts(  # type: ignore[no-untyped-def]
    crow, col, value, x, y, spare, starts, K: tl.constexpr, width, L, longest,
    own, own_stride, w, outer, outer_stride, right, right_stride, other, dots,
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
    total = term * _over(own, row, own_stride, trial, there, TRIALS)
    if RIGHT:
        term *= _over(right, row, right_stride, trial, there, TRIALS)
    if OUTER:
        scale = _over(outer, row, outer_stride, trial, there, TRIALS)
    if DOT:
        with_what = tl.load(other + place, mask=live, other=0.0).to(ACC)
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
        factor = tl.load(w + n * (K // width) + trial)[None, :] if TRIALS else tl.load(w + n)
        if OUTER:
            total += scale * factor * term
        else:
            total += factor * term
        if DOT:
            product = tl.sum(tl.where(live, term * with_what, 0.0), 0)
            if not TRIALS:
                tl.store(dots + (n * tl.num_programs(0) + part) * tl.num_programs(1) + tile, tl.sum(product, 0))
            else:
                tl.store(dots + (n * tl.num_programs(0) + part) * K + column, product, mask=column < K)
    tl.store(y + place, total, mask=live)


@triton.jit
def _over(pointer, row, row_stride, trial, there, TRIALS: tl.constexpr):  # type: ignore[no-untyped-def]
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
    own: Tensor,
    w: Tensor,
    outer: Tensor | None,
    right: Tensor | None,
    dot: Tensor | None,
    trials: int,
) -> tuple[Tensor, Tensor | None]:
    """own ⊙ x + outer ⊙ Σ wₙ Aⁿ(right ⊙ x), and <Aⁿ(right ⊙ x), dot> of each n, (L, S), where asked for."""
    (N, K), L = x.shape, w.size(0)
    columns = min(triton.next_power_of_2(K), WIDEST)
    rows, tiles, count = triton.next_power_of_2(blocks.rows), triton.cdiv(K, columns), blocks.start.numel() - 1
    acc = accurate(x)
    y, spare = torch.empty_like(x), torch.empty(2, N, K, dtype=x.dtype, device=x.device)
    dots = None if dot is None else torch.empty(L, count, tiles if trials == 1 else K, dtype=acc, device=x.device)
    _parts[(count, tiles)](
        crow, col, x if value is None else value, x, y, spare, blocks.start, K, K // trials, L, blocks.entries,
        own, stride_of(own), w, x if outer is None else outer, stride_of(outer), x if right is None else right,
        stride_of(right), x if dot is None else dot, x if dots is None else dots,
        WEIGHTED=value is not None, TRIALS=trials > 1, OUTER=outer is not None, RIGHT=right is not None,
        DOT=dot is not None, ACC=tl.float64 if acc == torch.float64 else tl.float32, ROWS=rows, BLOCK_F=columns,
        num_warps=max(1, min(8, rows * columns // 512)),
    )  # fmt: skip
    if dots is None:
        return y, None
    return y, dots.sum((1, 2)).unsqueeze(1) if trials == 1 else dots.view(L, count, trials, -1).sum((1, 3))
