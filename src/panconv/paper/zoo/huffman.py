"""The Huffman tree over nodes by how often they are visited, as padded tensors: the code of hierarchical softmax.

The two lightest subtrees are joined until one is left (Huffman, 1952). All pairs that are sure to be joined before
anything made of them are joined at once, so that a tree takes a few dozen operations.
"""

from __future__ import annotations

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
    parent, turn = torch.full((2 * N - 1,), -1), torch.zeros(2 * N - 1)
    weight, node = torch.sort(count.long(), stable=True)
    made = N
    while node.numel() > 1:
        # Nothing that is made can be lighter than the two lightest together, so what is no heavier comes before it.
        ready = int(torch.searchsorted(weight, weight[0] + weight[1], right=True)) // 2 * 2
        inner = torch.arange(made, made + ready // 2)
        parent[node[:ready]] = inner.repeat_interleave(2)
        turn[node[:ready]] = torch.tensor([1.0, -1.0]).repeat(ready // 2)
        made += ready // 2
        joined = weight[:ready:2] + weight[1:ready:2]
        weight, order = torch.sort(torch.cat([weight[ready:], joined]), stable=True)
        node = torch.cat([node[ready:], inner])[order]
    return parent, turn
