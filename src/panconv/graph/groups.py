"""Nodes in groups, such as the graphs of a batch or the components of a graph: where each stands in its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import INTEGERS, check_values, kind_of
from panconv.base.tracing import may_look
from panconv.graph.csr import stable_order

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

_SPARE = 2**16  # numbers beyond those of the nodes that groups may have, before they are numbered anew


class Grouped(NamedTuple):
    """Nodes by their group.

    >>> Grouped.of(torch.tensor([0, 1, 0, 0])).place
    tensor([0, 0, 1, 2])
    """

    group: Tensor  # (N,)
    order: Tensor  # (N,): the nodes group by group, those of a group in their order
    first: Tensor  # (G,): where each group begins in that
    size: Tensor  # (G,)
    place: Tensor  # (N,): where each node stands among those of its group, from 0

    @staticmethod
    def of(group: Tensor) -> Grouped:
        """The nodes whose groups are given, (N,) from 0; those that are named by no node are empty."""
        size = torch.bincount(group)
        order, first = stable_order(group, size.numel()), size.cumsum(0) - size
        place = torch.empty_like(order)
        place[order] = torch.arange(order.numel(), device=order.device) - first[group[order]]
        return Grouped(group, order, first, size, place)


def checked_groups(
    groups: Any,
    num_nodes: int,
    device: torch.device,
    name: str = "batch",  # of the argument
) -> Tensor:
    """The number of each node's group, (N,) int64; of None, one group of all.

    Numbers may be left out, as those of graphs without nodes are.
    """
    if groups is None:
        return torch.zeros(num_nodes, dtype=torch.long, device=device)
    if not isinstance(groups, Tensor) or groups.dtype not in INTEGERS:
        kind = groups.dtype if isinstance(groups, Tensor) else kind_of(groups)
        raise TypeError(f"{name} must be a tensor of integers, the number of each node's graph, got {kind}")
    if groups.shape != (num_nodes,):
        raise ValueError(f"{name} must have shape ({num_nodes},), a number per node, got {tuple(groups.shape)}")
    check_values(groups, name)
    if groups.device != device:
        raise ValueError(f"{name} is on {groups.device}, but the nodes are on {device}: move one of them with .to")
    groups = groups.long()
    low, high = torch.stack(groups.aminmax()).tolist() if num_nodes else (0, 0)
    if low < 0:
        raise ValueError(f"{name} must number the graphs from 0, got {low}")
    if high > 2 * num_nodes + _SPARE:  # to count them by number would fill the memory
        return torch.unique(groups, return_inverse=True)[1]
    return groups


def check_apart(
    graph: Adjacency | Tensor,  # the latter an edge_index (2, E)
    group: Tensor,  # (N,)
    name: str = "batch",  # of the argument
) -> None:
    """Refuses groups of which an edge joins two: what is taken group by group would be wrong.

    Where no value may be looked at, as while a step is recorded, they pass.
    """
    if not may_look(group):
        return
    senders, receivers = graph if isinstance(graph, Tensor) else (graph.col, graph.row)
    of_sender, of_receiver = group.index_select(0, senders), group.index_select(0, receivers)
    if torch.equal(of_sender, of_receiver):  # on a CPU three times as fast as with [] and !=, and so always asked
        return
    where = int((of_sender != of_receiver).nonzero()[0])
    nodes = int(senders[where]), int(receivers[where])
    raise ValueError(
        f"{name} puts nodes {nodes[0]} and {nodes[1]} into graphs {int(group[nodes[0]])} and {int(group[nodes[1]])}, "
        "but an edge joins them: give each node the number of the graph that it is in"
    )
