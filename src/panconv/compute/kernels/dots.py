"""Dot products of rows as Triton kernels: of each stored entry, and of two matrices row by row."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from panconv.compute.kernels.gpu import WIDEST, tile_of
from panconv.compute.kernels.plain import sum_dtype
from panconv.compute.kernels.schedule import schedule_of


@triton.jit
def _entries(  # type: ignore[no-untyped-def]
    crow, col, g, x, K, chunks, chunk_row, chunk_start, chunk_end, out,
    SPLIT: tl.constexpr, LONGEST: tl.constexpr, ACC: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_F: tl.constexpr,
):  # fmt: skip
    """<g[row], x[col]> for the entries of a short row, or of a chunk."""
    program = tl.program_id(0)
    if SPLIT and program < chunks:
        row, begin, end = tl.load(chunk_row + program), tl.load(chunk_start + program), tl.load(chunk_end + program)
    else:
        row = (program - chunks).to(chunk_row.dtype.element_ty)
        begin, end = tl.load(crow + row), tl.load(crow + row + 1)
        if SPLIT and end - begin > LONGEST:
            end = begin
    for e in range(begin, end, BLOCK_E):
        entry = e + tl.arange(0, BLOCK_E)
        there = entry < end
        node = tl.load(col + entry, mask=there, other=0).to(tl.int64)
        total = tl.zeros((BLOCK_E,), ACC)
        for f in range(0, K, BLOCK_F):
            column = f + tl.arange(0, BLOCK_F)
            live = column < K
            received = tl.load(g + row.to(tl.int64) * K + column, mask=live, other=0.0).to(ACC)
            both = there[:, None] & live[None, :]
            sent = tl.load(x + node[:, None] * K + column[None, :], mask=both, other=0.0).to(ACC)
            total += tl.sum(sent * received[None, :], 1)
        tl.store(out + entry, total, mask=there)


@triton.jit
def _pairs(a, b, out, rows, K, ACC: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_F: tl.constexpr):  # type: ignore[no-untyped-def]
    """<a[i], b[i]> for a block of rows."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_E + tl.arange(0, BLOCK_E)
    there = row < rows
    total = tl.zeros((BLOCK_E,), ACC)
    for f in range(0, K, BLOCK_F):
        column = f + tl.arange(0, BLOCK_F)
        both = there[:, None] & (column < K)[None, :]
        place = row[:, None] * K + column[None, :]
        left = tl.load(a + place, mask=both, other=0.0).to(ACC)
        total += tl.sum(left * tl.load(b + place, mask=both, other=0.0).to(ACC), 1)
    tl.store(out + row, total, mask=there)


def entry_dots(crow: Tensor, col: Tensor, g: Tensor, x: Tensor) -> Tensor:
    """<g[row], x[col]> for each stored entry, (nnz,)."""
    R, K = crow.numel() - 1, x.size(1)
    out = torch.zeros(col.numel(), dtype=sum_dtype(x), device=x.device)
    if R == 0 or K == 0:
        return out.to(x.dtype)
    plan, tile = schedule_of(crow, col.numel()), tile_of(K, col.numel(), R)
    chunks = plan.row.numel()
    acc = tl.float64 if x.dtype == torch.float64 else tl.float32
    with torch.cuda.device_of(x):
        _entries[(chunks + R,)](
            crow, col, g, x, K, chunks, plan.row, plan.start, plan.end, out,
            SPLIT=chunks > 0, LONGEST=plan.longest, ACC=acc, BLOCK_E=tile.entries, BLOCK_F=tile.columns,
            num_warps=tile.warps,
        )  # fmt: skip
    return out.to(x.dtype)


def row_dots(a: Tensor, b: Tensor) -> Tensor:
    """<a[i], b[i]> for each row of (rows, K), (rows,)."""
    rows, K = a.shape
    out = torch.zeros(rows, dtype=sum_dtype(a), device=a.device)
    if rows and K:
        columns = min(triton.next_power_of_2(K), WIDEST)
        entries = max(1, 1024 // columns)
        acc = tl.float64 if a.dtype == torch.float64 else tl.float32
        with torch.cuda.device_of(a):
            _pairs[(triton.cdiv(rows, entries),)](a, b, out, rows, K, ACC=acc, BLOCK_E=entries, BLOCK_F=columns)
    return out
