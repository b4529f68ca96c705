"""A sampler of random walks: all walkers take a step in a handful of operations, on a CPU or a GPU.

A node's row of P divides the whole numbers from 0 to 2³² among its neighbours, each by its share, and the rows of all
nodes follow one another. A walker's step is then one search for node · 2³² + word in one sorted list, with a random
word of 32 bits. A transition less likely than 2⁻³³ is never taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from panconv.base.checks import INTEGERS, check_values, checked_count, checked_seed, free_bytes, shown
from panconv.base.random import keys, words
from panconv.graph import Adjacency
from panconv.graph.csr import compress

_BITS = 32
_WORDS = 2**18  # random words made at a time


class Sampler:
    """Draws the next node of many walkers at once.

    Args:
        transition: P, whose row i holds the probabilities of the steps away from node i. A walker on a node whose row
            is empty stays there.
    """

    def __init__(self, transition: Adjacency) -> None:
        N, device = transition.num_nodes, transition.device
        value = transition.operands(torch.float64)[0].value
        taken = value > 0
        leaves = torch.zeros(N, dtype=torch.bool, device=device).index_fill(0, transition.row[taken], True)
        stay = (~leaves).nonzero().squeeze(1)
        row = torch.cat([transition.row[taken], stay])
        order = torch.argsort(row, stable=True)
        row = row[order]
        share = torch.cat([value[taken], value.new_ones(stay.numel())])[order]
        self.num_nodes = N
        self._col = torch.cat([transition.col[taken].long(), stay])[order]  # (K,)
        self._first = compress(row, N)[:N]  # (N,)
        self._degree = torch.bincount(row, minlength=N)
        # All neighbours alike: the step is a product in place of a search.
        self._even = bool((share == share[self._first][row]).all())
        self._end = self._ends(row, share)  # (K,)

    def _ends(self, row: Tensor, share: Tensor) -> Tensor:
        """Where each entry's share ends, on the line on which row i is the stretch from i · 2³² to (i + 1) · 2³²."""
        total = (share * 2.0**_BITS).round().long().cumsum(0)  # in integers, so that no row adds to another's rounding
        before = torch.cat([total.new_zeros(1), total])[self._first]
        end = (row << _BITS) + (total - before[row]).clamp(max=1 << _BITS)
        last = self._first + self._degree - 1
        return end.index_copy(0, last, (row[last] + 1) << _BITS)

    def step(self, node: Tensor, word: Tensor) -> Tensor:
        """The next node of each walker, (B,), from its node and 32 random bits."""
        if self._even:
            return self._col[self._first[node] + ((self._degree[node] * word) >> _BITS)]
        return self._col[torch.searchsorted(self._end, (node << _BITS) + word, right=True)]

    def sample(self, starts: Tensor | Sequence[int], steps: int, seed: int) -> Tensor:
        """Walks of so many steps, (B, steps + 1); see `RandomWalk.sample`."""
        node = checked_starts(starts, self.num_nodes).to(self._col.device)
        count, number = checked_count(steps, "steps", least=0), checked_seed(seed)
        needed = 16 * (count + 1) * node.numel()  # the walks, and once more by walker
        if needed > 2**30 and needed > (free := free_bytes(node.device)):
            raise ValueError(
                f"steps = {count} of {node.numel()} walkers take {needed / 2**30:.3g} GiB, of which "
                f"{free / 2**30:.3g} GiB are free: take fewer at a time"
            )
        origin = torch.tensor(number, device=node.device)
        nodes = node.new_empty(count + 1, node.numel())  # a step's nodes side by side in memory
        nodes[0] = node
        at_once = max(_WORDS // max(node.numel(), 1), 1)
        for first in range(0, count, at_once):
            t = torch.arange(first, min(first + at_once, count), device=node.device)
            for word in words(keys(origin, t), node.shape):  # the same as step by step, in fewer operations
                nodes[first + 1] = self.step(nodes[first], word)
                first += 1
        return nodes.T.contiguous()


def checked_starts(starts: Tensor | Sequence[int], N: int) -> Tensor:
    try:
        node = torch.as_tensor(starts)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"starts must be node numbers (B,), got {shown(starts)}") from None
    check_values(node, "starts")
    if node.dim() != 1:
        raise ValueError(f"starts must have shape (B,), a node per walker, got {tuple(node.shape)}")
    if node.numel() and node.dtype not in INTEGERS:
        raise TypeError(f"starts must hold integers, got {shown(starts)}: convert it with .long()")
    node = node.long()
    outside = (node < 0) | (node >= N)
    if bool(outside.any()):
        raise ValueError(f"starts names node {int(node[outside][0])}, but the nodes are 0 … {N - 1}")
    return node
