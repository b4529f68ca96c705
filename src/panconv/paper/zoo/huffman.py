"""The Huffman tree over nodes by how often they are visited, as padded tensors: the code of hierarchical softmax.

The two lightest subtrees are joined until one is left (Huffman, 1952); of equals, the one that was there first.
"""

from __future__ import annotations

import heapq

import torch
from torch import Tensor


def huffman(count: Tensor) -> tuple[Tensor, Tensor]:
    """The way from each leaf to the root.

    Args:
        count: how heavy each leaf is, (N,) of positive integers, on the CPU; N ≥ 2.

    Returns:
        The inner nodes on the way, 0 … N − 2, (N, D) int64, and the turn taken at each, ±1, (N, D) float32. Ways that
        are shorter than the longest are filled up with node 0 and turn 0.
    """
    parent, turn = _joined(count)
    N = count.numel()
    ways, turns, at = [], [], torch.arange(N)
    while bool((parent[at] >= 0).any()):
        inner = parent[at] >= 0
        ways.append(torch.where(inner, parent[at] - N, 0))
        turns.append(torch.where(inner, turn[at], 0.0))
        at = torch.where(inner, parent[at], at)
    return torch.stack(ways, 1), torch.stack(turns, 1)


def _joined(count: Tensor) -> tuple[Tensor, Tensor]:
    """For the N leaves and N − 1 inner nodes, the parent (−1 for the root) and the side on which they hang, ±1."""
    N = count.numel()
    parent, turn = [-1] * (2 * N - 1), [0.0] * (2 * N - 1)
    queue = [(weight, leaf) for leaf, weight in enumerate(count.tolist())]
    heapq.heapify(queue)
    for inner in range(N, 2 * N - 1):
        (light, one), (heavy, other) = heapq.heappop(queue), queue[0]
        parent[one] = parent[other] = inner
        turn[one], turn[other] = 1.0, -1.0
        heapq.heapreplace(queue, (light + heavy, inner))
    return torch.tensor(parent), torch.tensor(turn)
