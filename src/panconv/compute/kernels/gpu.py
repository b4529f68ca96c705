"""The fused step and its companions as Triton kernels.

One program takes one row, or a chunk of a long one, and a tile of the feature columns: it gathers the rows of x that
the entries name, a few at a time, adds in float32 (float64 for float64) in a fixed order, and finishes the row while
its sum is still in registers. So the result has the same bits on every run, and nothing but inputs and outputs of the
step passes through memory.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from panconv.base.launch import launch
from panconv.compute.kernels.plain import sum_dtype
from panconv.compute.kernels.schedule import SMALL, schedule_of

WIDEST = 128  # columns of a tile
WIDE = 2**31  # values from which on their places are counted in 64 bits


@triton.jit
def _factor(pointer, row, row_stride, trial, TRIALS: tl.constexpr):  # type: ignore[no-untyped-def]
    """A coefficient of a row: one number, or one per trial for the columns of a tile."""
    return tl.load(pointer + row * row_stride + trial) if TRIALS else tl.load(pointer + row * row_stride)


@triton.jit
def _messages(  # type: ignore[no-untyped-def]
    col, value, x, right, right_stride, K: tl.constexpr, entry, there, column, live, trial,
    WEIGHTED: tl.constexpr, RIGHT: tl.constexpr, TRIALS: tl.constexpr, WIDE: tl.constexpr, TAIL: tl.constexpr,
    ACC: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """value · right[col] · x[col] of a block of entries, (BLOCK_E, BLOCK_F); masks only where they are needed."""
    node = tl.load(col + entry, mask=there, other=0) if TAIL else tl.load(col + entry)
    if WIDE:
        node = node.to(tl.int64)
    place = x + node[:, None] * K + column[None, :]
    if K % BLOCK_F != 0:
        sent = tl.load(place, mask=there[:, None] & live[None, :], other=0.0).to(ACC)
    elif TAIL:
        sent = tl.load(place, mask=there[:, None], other=0.0).to(ACC)
    else:
        sent = tl.load(place).to(ACC)
    if RIGHT:
        if TRIALS:
            sent *= tl.load(right + node[:, None] * right_stride + trial[None, :])
        else:
            sent *= tl.load(right + node * right_stride)[:, None]
    if WEIGHTED:
        weight = tl.load(value + entry, mask=there, other=0.0) if TAIL else tl.load(value + entry)
        sent *= weight.to(ACC)[:, None]
    return sent


@triton.jit
def _gather(  # type: ignore[no-untyped-def]
    col, value, x, right, right_stride, K: tl.constexpr, begin, end, column, live, trial,
    WEIGHTED: tl.constexpr, RIGHT: tl.constexpr, TRIALS: tl.constexpr, WIDE: tl.constexpr,
    ACC: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """Σ value · right[col] · x[col] over the entries from begin to end, (BLOCK_F,)."""
    total = tl.zeros((BLOCK_E, BLOCK_F), ACC)
    full = begin + (end - begin) // BLOCK_E * BLOCK_E
    for e in range(begin, full, BLOCK_E):  # without a mask: a fifth faster in half precision
        entry = e + tl.arange(0, BLOCK_E)
        total += _messages(
            col, value, x, right, right_stride, K, entry, entry < end, column, live, trial,
            WEIGHTED, RIGHT, TRIALS, WIDE, False, ACC, BLOCK_F,
        )  # fmt: skip
    if full < end:
        entry = full + tl.arange(0, BLOCK_E)
        total += _messages(
            col, value, x, right, right_stride, K, entry, entry < end, column, live, trial,
            WEIGHTED, RIGHT, TRIALS, WIDE, True, ACC, BLOCK_F,
        )  # fmt: skip
    return tl.sum(total, 0)


@triton.jit
def _finish(  # type: ignore[no-untyped-def]
    total, row, R, K: tl.constexpr, column, live, trial, tile,
    out, scale, y0, keep, running, base, hold, add, other, dots,
    scale_stride, keep_stride, hold_stride, add_stride,
    TRIALS: tl.constexpr, STORE: tl.constexpr, SCALE: tl.constexpr, KEEP: tl.constexpr, RUN: tl.constexpr,
    HOLD: tl.constexpr, DOT: tl.constexpr, WIDE: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """What is done with a row's sum: out = scale·sum + keep·y0, running = hold·base + add·out, dots = <out, other>."""
    if WIDE:
        row = row.to(tl.int64)
    place = row * K + column
    if SCALE:
        total *= _factor(scale, row, scale_stride, trial, TRIALS)
    if KEEP:
        total += _factor(keep, row, keep_stride, trial, TRIALS) * tl.load(y0 + place, mask=live, other=0.0).to(ACC)
    if STORE:
        tl.store(out + place, total, mask=live)
    if RUN:
        before = tl.load(base + place, mask=live, other=0.0).to(ACC)
        if HOLD:
            before *= _factor(hold, row, hold_stride, trial, TRIALS)
        tl.store(running + place, before + _factor(add, row, add_stride, trial, TRIALS) * total, mask=live)
    if DOT:
        product = total * tl.load(other + place, mask=live, other=0.0).to(ACC)
        tl.store(dots + tile * R + row, tl.sum(product, 0))


_FACTORS = ["right", "scale", "keep", "hold", "add"]
_NUMBERS = ["R", "width", "chunks", "right_stride", "scale_stride", "keep_stride", "hold_stride", "add_stride"]


@triton.jit(do_not_specialize=_NUMBERS, do_not_specialize_on_alignment=_FACTORS)
def _rows(  # type: ignore[no-untyped-def]
    crow, col, value, x, right, right_stride, R, K: tl.constexpr, width, chunks, chunk_start, chunk_end, partial,
    out, scale, y0, keep, running, base, hold, add, other, dots,
    scale_stride, keep_stride, hold_stride, add_stride,
    WEIGHTED: tl.constexpr, RIGHT: tl.constexpr, SPLIT: tl.constexpr, LONGEST: tl.constexpr,
    TRIALS: tl.constexpr, STORE: tl.constexpr, SCALE: tl.constexpr, KEEP: tl.constexpr, RUN: tl.constexpr,
    HOLD: tl.constexpr, DOT: tl.constexpr, WIDE: tl.constexpr, ACC: tl.constexpr,
    BLOCK_E: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """A short row from start to finish, or a chunk of a long one into `partial`."""
    program, tile = tl.program_id(0), tl.program_id(1)
    column = tile * BLOCK_F + tl.arange(0, BLOCK_F)
    live = column < K
    trial = tl.minimum(column, K - 1) // width
    if SPLIT and program < chunks:  # chunks first: the longest work begins earliest
        begin, end = tl.load(chunk_start + program), tl.load(chunk_end + program)
        total = _gather(
            col, value, x, right, right_stride, K, begin, end, column, live, trial,
            WEIGHTED, RIGHT, TRIALS, WIDE, ACC, BLOCK_E, BLOCK_F,
        )  # fmt: skip
        tl.store(partial + program.to(tl.int64) * K + column, total, mask=live)
    else:
        row = program - chunks
        begin, end = tl.load(crow + row), tl.load(crow + row + 1)
        if (not SPLIT) or end - begin <= LONGEST:
            total = _gather(
                col, value, x, right, right_stride, K, begin, end, column, live, trial,
                WEIGHTED, RIGHT, TRIALS, WIDE, ACC, BLOCK_E, BLOCK_F,
            )  # fmt: skip
            _finish(
                total, row, R, K, column, live, trial, tile,
                out, scale, y0, keep, running, base, hold, add, other, dots,
                scale_stride, keep_stride, hold_stride, add_stride,
                TRIALS, STORE, SCALE, KEEP, RUN, HOLD, DOT, WIDE, ACC,
            )  # fmt: skip


@triton.jit(do_not_specialize=_NUMBERS[:2] + _NUMBERS[4:], do_not_specialize_on_alignment=_FACTORS[1:])
def _join_chunks(  # type: ignore[no-untyped-def]
    long_rows, first, partial, R, K: tl.constexpr, width,
    out, scale, y0, keep, running, base, hold, add, other, dots,
    scale_stride, keep_stride, hold_stride, add_stride,
    TRIALS: tl.constexpr, STORE: tl.constexpr, SCALE: tl.constexpr, KEEP: tl.constexpr, RUN: tl.constexpr,
    HOLD: tl.constexpr, DOT: tl.constexpr, WIDE: tl.constexpr, ACC: tl.constexpr,
    BLOCK_E: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """A long row from the sums of its chunks."""
    which, tile = tl.program_id(0), tl.program_id(1)
    column = tile * BLOCK_F + tl.arange(0, BLOCK_F)
    live = column < K
    trial = tl.minimum(column, K - 1) // width
    sums = tl.zeros((BLOCK_E, BLOCK_F), ACC)
    end = tl.load(first + which + 1)
    for c in range(tl.load(first + which), end, BLOCK_E):
        chunk = c + tl.arange(0, BLOCK_E)
        both = (chunk < end)[:, None] & live[None, :]
        sums += tl.load(partial + chunk.to(tl.int64)[:, None] * K + column[None, :], mask=both, other=0.0)
    _finish(
        tl.sum(sums, 0), tl.load(long_rows + which), R, K, column, live, trial, tile,
        out, scale, y0, keep, running, base, hold, add, other, dots,
        scale_stride, keep_stride, hold_stride, add_stride,
        TRIALS, STORE, SCALE, KEEP, RUN, HOLD, DOT, WIDE, ACC,
    )  # fmt: skip


class Tile(NamedTuple):
    entries: int
    columns: int
    warps: int


@functools.lru_cache(maxsize=1024)
def tile_of(K: int, nnz: int, rows: int) -> Tile:
    """Entries and columns of a tile: as many rows of x in flight as registers hold, and no more than a row has.

    On a small graph there are programs enough for every row at once, and the longest row is what takes time: there a
    tile is longer.
    """
    columns = min(triton.next_power_of_2(K), WIDEST)
    if nnz < SMALL:
        return Tile(min(32, max(2, 1024 // columns)), columns, 1)
    usual = triton.next_power_of_2(max(1, round(nnz / max(rows, 1))))
    return Tile(min(max(2, 256 // columns), 32, 2 * usual), columns, 1)


def step(
    crow: Tensor,
    col: Tensor,
    value: Tensor | None,
    x: Tensor,
    *,
    width: int,
    right: Tensor | None,
    out: Tensor | None,
    scale: Tensor | None,
    y0: Tensor | None,
    keep: Tensor | None,
    running: Tensor | None,
    base: Tensor | None,
    hold: Tensor | None,
    add: Tensor | None,
    dot: Tensor | None,
    recorded: bool = False,
) -> Tensor | None:
    """The step of `panconv.compute.kernels`, into `out` and `running`; returns the dots, (tiles, R), if asked."""
    R, K = crow.numel() - 1, x.size(1)
    if R == 0 or K == 0:
        return None if dot is None else x.new_zeros(1, R, dtype=sum_dtype(x))
    plan, tile, acc = schedule_of(crow, col.numel(), recorded), tile_of(K, col.numel(), R), sum_dtype(x)
    tiles, chunks = -(-K // tile.columns), plan.row.numel()
    partial = torch.empty(chunks, K, dtype=acc, device=x.device) if chunks else x
    dots = None if dot is None else torch.empty(tiles, R, dtype=acc, device=x.device)
    pointers = _or(x, out, scale, y0, keep, running, base, hold, add, dot, dots)
    finish = (*pointers, *map(stride_of, (scale, keep, hold, add)))
    wide, by_trial = max(R, x.size(0)) * K >= WIDE, width != K
    flags = tuple(t is not None for t in (out, scale, y0, running, hold, dot))
    constants = (by_trial, *flags, wide, tl.float64 if acc == torch.float64 else tl.float32, *tile[:2])
    dtypes = (crow.dtype, *(None if t is None else t.dtype for t in (x, value, base, running)))
    key = (x.device.index, *dtypes, K, by_trial, wide, tile, flags)
    aligned = [t for t in (crow, col, x, value, y0, base, dot) if t is not None]
    launch(
        _rows,
        (chunks + R, tiles),
        (
            crow, col, *_or(x, value, x, right), stride_of(right),
            R, K, width, chunks, plan.start, plan.end, partial, *finish,
            value is not None, right is not None, chunks > 0, plan.longest, *constants,
        ),
        (*key, right is not None, chunks > 0, plan.longest),
        warps=tile.warps,
        aligned=aligned,
    )  # fmt: skip
    if chunks:
        arguments = (plan.rows, plan.first, partial, R, K, width, *finish, *constants)
        launch(_join_chunks, (plan.rows.numel(), tiles), arguments, key, warps=tile.warps, aligned=aligned)
    return dots


def _or(stand_in: Tensor, *tensors: Tensor | None) -> list[Tensor]:
    """The tensors, and in place of those that are not there one that no kernel looks at."""
    return [stand_in if tensor is None else tensor for tensor in tensors]


def stride_of(factor: Tensor | None) -> int:
    """From one row's coefficient to the next; 0 where there is one for all."""
    return 0 if factor is None or factor.size(0) == 1 else factor.stride(0)
