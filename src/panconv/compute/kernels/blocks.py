"""Finds the small parts of a graph such as a batch of molecules, if each has consecutive numbers."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from panconv.graph.csr import rows_of

MOST_ROWS = 128  # nodes of a part that one program can take
_MOST_NODES = 2**20  # of a graph that is looked through for parts: with more, a launch per step costs nothing


class Blocks(NamedTuple):
    """Consecutive rows that no entry leaves."""

    start: Tensor  # (blocks + 1,) first row of each
    rows: int  # of the largest
    entries: int  # of the longest row


_made: WeakIdKeyDictionary = WeakIdKeyDictionary()  # by the columns, and for as long as they live


def blocks_of(crow: Tensor, col: Tensor) -> Blocks | None:
    """The parts of a square pattern, found once; None where one of them is too large."""
    found = _made.get(col, _made)
    if found is _made:
        found = _made[col] = _find(crow, col)
    return found


def _find(crow: Tensor, col: Tensor) -> Blocks | None:
    N = crow.numel() - 1
    if not 0 < N <= _MOST_NODES:
        return None
    row, other = rows_of(crow, col.numel()), col.long()
    # An entry (i, j) stands in the way of every cut between i and j; a cut in nobody's way is where a part begins.
    steps = torch.zeros(N + 1, dtype=torch.long, device=crow.device)
    steps.index_add_(0, torch.minimum(row, other) + 1, torch.ones_like(other))
    steps.index_add_(0, torch.maximum(row, other) + 1, torch.full_like(other, -1))
    start = (steps.cumsum(0) == 0).nonzero().squeeze(1)  # 0 and N among them
    rows, entries = torch.stack([start.diff().max(), crow.diff().max().long()]).tolist()
    return Blocks(start.to(crow.dtype), rows, entries) if rows <= MOST_ROWS else None
