"""Finds the small parts of a graph such as a batch of molecules, if each has consecutive numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.graph.blocks import MOST_ROWS, Blocks, known_blocks
from panconv.graph.csr import rows_of

_MOST_NODES = 2**20  # of a graph that is looked through for parts: with more, a launch per step costs nothing


def blocks_of(crow: Tensor, col: Tensor) -> Blocks | None:
    """The parts of a square pattern, found once or known from the start; None where one of them is too large."""
    found = known_blocks.get(col, known_blocks)
    if found is known_blocks or (found is not None and found.rows > MOST_ROWS):  # larger ones may fall into smaller
        found = known_blocks[col] = _find(crow, col)
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
