"""Reading a graph on a GPU: all that is to be found out about fresh edges in two launches, and Â in another.

A small graph's edges are read in less time than it takes to start a dozen kernels, so what torch would do in dozens of
operations is done in three here. Edges that are not in the order of their sources, or not undirected, go another way.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from panconv.base.launch import launch
from panconv.graph.blocks import MOST_ROWS, Blocks

_BLOCK = 128
FEW_NODES = 2**16  # up to so many it is worth while to look for small parts
_POINTERS = ["source", "target", "crow", "col", "mirror", "far", "found"]


@triton.jit
def _first(source, target, s, t, E, steps, asked):  # type: ignore[no-untyped-def]
    """The place of the first edge that is not before (s, t), by source and then target."""
    low, high = tl.zeros_like(s), tl.zeros_like(s) + E
    for _ in range(steps):
        middle, open = (low + high) // 2, asked & (low < high)
        a = tl.load(source + middle, mask=open, other=0)
        b = tl.load(target + middle, mask=open, other=0)
        before = (a < s) | ((a == s) & (b < t))
        low = tl.where(open & before, middle + 1, low)
        high = tl.where(open & (before == 0), middle, high)
    return low


@triton.jit(do_not_specialize=["E", "N", "steps"], do_not_specialize_on_alignment=_POINTERS)
def _look(source, target, crow, col, mirror, far, found, E, N, steps, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Row pointers by source, and what has to be known of the edges: `found`, as `look` names it."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = place < E
    s, t = tl.load(source + place, mask=here, other=0), tl.load(target + place, mask=here, other=0)
    follows = here & (place > 0)
    s0, t0 = tl.load(source + place - 1, mask=follows, other=0), tl.load(target + place - 1, mask=follows, other=0)
    outside = here & ((s < 0) | (s >= N) | (t < 0) | (t >= N))
    falls = follows & ((s < s0) | ((s == s0) & (t <= t0)))
    back = _first(source, target, t, s, E, steps, here)
    there = here & (back < E)
    a, b = tl.load(source + back, mask=there, other=-1), tl.load(target + back, mask=there, other=-1)
    alone = here & ((a != t) | (b != s))
    tl.store(col + place, t.to(col.dtype.element_ty), mask=here)
    tl.store(mirror + place, back, mask=here)
    begin = _first(source, target, place, place * 0, E, steps, place <= N)
    end = _first(source, target, place + 1, place * 0, E, steps, place < N)
    tl.store(crow + place, begin.to(crow.dtype.element_ty), mask=place <= N)
    tl.atomic_max(found, tl.max(outside.to(tl.int32), 0))
    tl.atomic_max(found + 1, tl.max(falls.to(tl.int32), 0))
    tl.atomic_max(found + 2, tl.max(alone.to(tl.int32), 0))
    tl.atomic_add(found + 3, tl.sum((here & (s == t)).to(tl.int32), 0))
    tl.atomic_max(found + 4, tl.max(tl.where(place < N, end - begin, 0).to(tl.int32), 0))
    last = tl.load(target + end - 1, mask=(place < N) & (end > begin), other=0)
    tl.store(far + place, tl.maximum(last, place).to(tl.int32), mask=place < N)


@triton.jit
def _larger(a, b):  # type: ignore[no-untyped-def]
    return tl.maximum(a, b)


@triton.jit(do_not_specialize=["N"], do_not_specialize_on_alignment=["far", "start", "found"])
def _cut(far, start, found, N, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Where the parts of an undirected graph begin, in one program: a part ends where nobody before reaches farther.

    found[5] gets how many there are, and found[6] the nodes of the largest.
    """
    reached, count, ended, widest = -1, 0, 0, 0
    for begin in range(0, N, BLOCK):
        node = begin + tl.arange(0, BLOCK)
        there = node < N
        reach = tl.maximum(tl.associative_scan(tl.load(far + node, mask=there, other=0), 0, _larger), reached)
        ends = there & (reach == node)
        place = count + tl.cumsum(ends.to(tl.int32), 0)
        tl.store(start + place, node + 1, mask=ends)
        before = tl.maximum(tl.associative_scan(tl.where(ends, node + 1, 0), 0, _larger), ended)
        widest = tl.maximum(widest, tl.max(tl.where(there & (ends == 0), node + 1 - before, 0), 0))
        reached, ended = tl.max(reach, 0), tl.max(before, 0)
        count += tl.sum(ends.to(tl.int32), 0)
    tl.store(start, 0)
    tl.store(found + 5, count)
    tl.store(found + 6, widest + 1)


class Looked(NamedTuple):
    """Edges as they were found. But for `outside`, it holds where they are in order."""

    crow: Tensor  # (N + 1,) int32, by source
    col: Tensor  # (E,) int32, the targets
    mirror: Tensor  # (E,) int64, where the mirror of each edge is
    outside: bool  # whether one names a node other than 0 … N − 1
    falls: bool  # whether they are not in the order of source and then target, or one is repeated
    alone: bool  # whether one has no mirror
    loops: int
    longest: int  # how many leave the node that most leave
    blocks: Blocks | None  # the parts that it falls into, where they are small


def look(edge_index: Tensor, N: int) -> Looked:
    """What is to be found out about edges: two launches, and one wait for them.

    Args:
        edge_index: (2, E) of int64, contiguous, on a GPU; N and E fit into int32.
    """
    (source, target), E, device = edge_index, edge_index.size(1), edge_index.device
    crow = torch.empty(N + 1, dtype=torch.int32, device=device)
    col = torch.empty(E, dtype=torch.int32, device=device)
    mirror, found = torch.empty(E, dtype=torch.long, device=device), torch.zeros(7, dtype=torch.int32, device=device)
    far, start = torch.empty(2, N + 1, dtype=torch.int32, device=device)
    arguments = (source, target, crow, col, mirror, far, found, E, N, max(E, 1).bit_length(), _BLOCK)
    launch(_look, (-(-max(E, N + 1) // _BLOCK), 1, 1), arguments, (device.index,), warps=4)
    if N <= FEW_NODES:
        launch(_cut, (1, 1, 1), (far, start, found, N, 1024), (device.index,), warps=4)
    outside, falls, alone, loops, longest, parts, rows = found.tolist()
    blocks = Blocks(start[: parts + 1], rows, longest) if parts > 0 and rows <= MOST_ROWS else None
    return Looked(crow, col, mirror, outside, falls, alone, loops, longest, blocks)


_MADE = ["crow", "col", "crow_out", "col_out", "value", "inverse"]


@triton.jit(do_not_specialize=["N", "longest"], do_not_specialize_on_alignment=_MADE)
def _normalise(crow, col, crow_out, col_out, value, inverse, N, longest, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """A block of rows of Â: each has one entry more than that of A, in its place by the order of columns."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = row < N
    begin = tl.load(crow + row, mask=row <= N, other=0)
    count = tl.load(crow + row + 1, mask=there, other=0) - begin
    tl.store(crow_out + row, begin + row, mask=row <= N)
    degree = tl.where(there, count + 1, 1).to(tl.float64)
    before = tl.zeros_like(row)
    for e in range(longest):
        has = there & (e < count)
        node = tl.load(col + begin + e, mask=has, other=0)
        arriving = tl.load(crow + node + 1, mask=has, other=0) - tl.load(crow + node, mask=has, other=0)
        place = begin + row + e + (node > row).to(row.dtype)
        before += (has & (node < row)).to(row.dtype)
        root = 1.0 / tl.sqrt(degree * (arriving + 1).to(tl.float64))
        tl.store(col_out + place, node, mask=has)
        tl.store(value + place, root.to(value.dtype.element_ty), mask=has)
    place = begin + row + before
    tl.store(col_out + place, row, mask=there)
    tl.store(value + place, (1.0 / degree).to(value.dtype.element_ty), mask=there)
    tl.store(inverse + row, 1.0 / tl.sqrt(degree), mask=there)


def normalise(crow: Tensor, col: Tensor, longest: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Â of an unweighted A without loops: its row pointers, columns, float32 values, and D̃^−½, (N,) float64.

    Args:
        longest: entries of the longest row.
    """
    N, nnz, device = crow.numel() - 1, col.numel(), crow.device
    made = torch.empty_like(crow), torch.empty(nnz + N, dtype=col.dtype, device=device)
    value = torch.empty(nnz + N, dtype=torch.float32, device=device)
    inverse = torch.empty(N, dtype=torch.float64, device=device)
    arguments = (crow, col, *made, value, inverse, N, longest, _BLOCK)
    launch(_normalise, (-(-(N + 1) // _BLOCK), 1, 1), arguments, (device.index, crow.dtype), warps=4)
    return *made, value, inverse
