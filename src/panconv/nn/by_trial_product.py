"""Each trial's features times its own matrix.

The gradient of a matrix is a sum over all nodes. With few trials and narrow matrices a GPU has few sums to take, each
of them long, and most of it idles. So the nodes are cut into blocks there, and each block has a sum of its own.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

_TILE = 64  # rows and columns of a product that one processor of a GPU takes
_TILES = 256  # that keep it busy: about two for each processor
_LEAST = 256  # nodes to a block: shorter sums are not worth adding up


def times(x: Tensor, W: Tensor) -> Tensor:
    """x·W by trial, (N, S, F) and (S, F, O) → (N, S, O)."""
    blocks = _blocks(x, W)
    return in_blocks(x, W, blocks) if blocks > 1 else torch.einsum("nsf,sfo->nso", x, W)


def plus_times(total: Tensor, x: Tensor, W: Tensor) -> Tensor:
    """total + x·W by trial, for a total (N, S, O)."""
    blocks = _blocks(x, W)
    if blocks > 1:
        return total + in_blocks(x, W, blocks)
    return torch.baddbmm(total.transpose(0, 1), x.transpose(0, 1), W).transpose(0, 1)


def _blocks(x: Tensor, W: Tensor) -> int:
    """1 where no gradient of W is asked for, and on a CPU."""
    return blocks_of(x, W) if x.is_cuda and torch.is_grad_enabled() and W.requires_grad else 1


def blocks_of(x: Tensor, W: Tensor) -> int:
    """Into how many blocks the nodes are cut."""
    tiles = W.size(0) * math.ceil(W.size(1) / _TILE) * math.ceil(W.size(2) / _TILE)
    return max(1, min(x.size(0) // _LEAST, math.ceil(_TILES / tiles)))


def in_blocks(x: Tensor, W: Tensor, blocks: int) -> Tensor:
    """`times`, block by block of the nodes, the last one filled up with zeros."""
    (N, S, _), each = x.shape, math.ceil(x.size(0) / blocks)
    x = F.pad(x, (0, 0, 0, 0, 0, blocks * each - N))
    x = x.unflatten(0, (blocks, each)).transpose(1, 2).flatten(0, 1)  # (blocks·S, each, F)
    out = x @ W.expand(blocks, -1, -1, -1).flatten(0, 1)
    return out.unflatten(0, (blocks, S)).transpose(1, 2).flatten(0, 1)[:N]
