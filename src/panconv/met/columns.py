"""Unit vectors of nodes, those of nodes that nothing mixes side by side in one: columns of many small M at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.graph.groups import Grouped

_BLOCK = 2**21  # values of a product that are held at a time


class Columns(NamedTuple):
    """Unit vectors of some nodes, of which a column holds one per group at most."""

    unit: Tensor  # (N, b)
    which: Tensor  # (k,): those of the nodes that were asked for
    at: Tensor  # (k,): the column in which the unit vector of each stands
    begin: int  # the place in its group of a node in the first column
    grouped: Grouped  # all K that were asked for

    def whose(self, group: Tensor, at: Tensor) -> Tensor:
        """Which of the nodes that were asked for has its unit vector in a column, among those of a group."""
        return self.grouped.order[self.grouped.first[group] + self.begin + at]


def columns(
    nodes: Tensor,  # (K,), each once
    group: Tensor,  # (N,): no two groups mix
    copies: int = 1,  # products of a block that are held
) -> Iterator[Columns]:
    """The unit vectors of the nodes, float64, some at a time: in as many columns as the largest group has of them.

    >>> next(columns(torch.tensor([0, 2, 1]), torch.tensor([0, 0, 1]))).unit
    tensor([[1., 0.],
            [0., 1.],
            [1., 0.]], dtype=torch.float64)
    """
    grouped, N = Grouped.of(group[nodes]), group.numel()
    width = int(grouped.size.max()) if nodes.numel() else 0
    step = max(1, _BLOCK // max(1, N * copies))
    for begin in range(0, width, step):
        place = grouped.place - begin
        which = ((place >= 0) & (place < step)).nonzero().squeeze(1)
        unit = torch.zeros(N, min(step, width - begin), dtype=torch.float64, device=group.device)
        unit[nodes[which], place[which]] = 1
        yield Columns(unit, which, place[which], begin, grouped)
