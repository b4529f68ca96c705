"""Cuts long rows into chunks, so that a whole grid of programs need not wait for one hub."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from panconv.graph.csr import known_longest

LONG = 128  # entries of a row that one program takes; measured between 64 and 512 on power-law graphs
SMALL = 2**20  # entries of a graph below which a second launch costs more than a long row,
LONG_OF_SMALL = 1024  # unless it is as long as this


class Schedule(NamedTuple):
    """The rows with more than `longest` entries, and their chunks, in order."""

    rows: Tensor  # (long,) the long rows
    first: Tensor  # (long + 1,) the first chunk of each
    row: Tensor  # (chunks,) the row of each chunk
    start: Tensor  # (chunks,) its first entry,
    end: Tensor  # (chunks,) and the one after its last
    longest: int  # entries of a row that is not cut


_made: WeakIdKeyDictionary = WeakIdKeyDictionary()  # by the row pointers, and for as long as they live


def schedule_of(crow: Tensor, nnz: int, recorded: bool = False) -> Schedule:
    """The schedule of a pattern of so many entries, made once.

    None is made where it may be `recorded` into a CUDA graph, whose memory nobody may keep: small graphs do without.
    """
    found = _made.get(crow)
    if found is None and recorded and nnz < SMALL:
        return _without_long(crow, LONG_OF_SMALL)
    if found is None:
        longest = LONG if nnz >= SMALL else LONG_OF_SMALL
        if known_longest.get(crow, longest + 1) <= longest:
            return _without_long(crow, longest)  # which holds the row pointers, and so would keep them for ever
        found = _made[crow] = _make(crow, longest)
    return found


def _without_long(crow: Tensor, longest: int) -> Schedule:
    """Where no row is long: nothing is looked for, and nobody looks at the rest."""
    nothing = crow[:0]
    return Schedule(nothing, nothing, nothing, crow, crow, longest)


def _make(crow: Tensor, longest: int) -> Schedule:
    length = crow.diff()
    rows = (length > longest).nonzero().squeeze(1)
    begin, length = crow[rows].long(), length[rows].long()
    chunks = (length + longest - 1) // longest
    first = torch.cat([chunks.new_zeros(1), chunks.cumsum(0)])
    which = torch.repeat_interleave(chunks)  # (chunks,) the long row of each, by its place among the long
    within = torch.arange(which.numel(), device=crow.device) - first[which]
    start = begin[which] + within * longest
    end = torch.minimum(start + longest, (begin + length)[which])
    rows, first, row, start, end = (part.to(crow.dtype) for part in (rows, first, rows[which], start, end))
    return Schedule(rows, first, row, start, end, longest)
