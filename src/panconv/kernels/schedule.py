"""Long rows cut into chunks, so that one hub does not hold a whole grid of programs."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

LONG = 128  # entries of a row that one program takes; measured between 64 and 512 on power-law graphs


class Schedule(NamedTuple):
    """The rows with more than `LONG` entries, and their chunks, in order."""

    rows: Tensor  # (long,) the long rows
    first: Tensor  # (long + 1,) the first chunk of each
    row: Tensor  # (chunks,) the row of each chunk
    start: Tensor  # (chunks,) its first entry,
    end: Tensor  # (chunks,) and the one after its last


_made: WeakIdKeyDictionary = WeakIdKeyDictionary()  # by the row pointers, and for as long as they live


def schedule_of(crow: Tensor) -> Schedule:
    """The schedule of a pattern, made once."""
    found = _made.get(crow)
    if found is None:
        found = _made[crow] = _make(crow)
    return found


def _make(crow: Tensor) -> Schedule:
    length = crow.diff()
    rows = (length > LONG).nonzero().squeeze(1)
    begin, length = crow[rows].long(), length[rows].long()
    chunks = (length + LONG - 1) // LONG
    first = torch.cat([chunks.new_zeros(1), chunks.cumsum(0)])
    which = torch.repeat_interleave(chunks)  # (chunks,) the long row of each, by its place among the long
    within = torch.arange(which.numel(), device=crow.device) - first[which]
    start = begin[which] + within * LONG
    end = torch.minimum(start + LONG, (begin + length)[which])
    return Schedule(*(part.to(crow.dtype) for part in (rows, first, rows[which], start, end)))
