"""Which nodes a pool keeps: the best of each graph."""

from __future__ import annotations

from torch import Tensor

from panconv.graph.groups import Grouped

_SLACK = 1 - 1e-12  # of a share of the nodes: 0.07 · 100 is 7.000000000000001


def top_nodes(
    score: Tensor,  # (N,)
    below: Tensor,  # (N,): what tells nodes of equal score apart, the larger the better
    graph: Tensor,  # (N,): the number of each node's graph
    ratio: float,
    number: int | None = None,
) -> Tensor:
    """The best ⌈ratio · n⌉ of the n nodes of each graph, or a number of them, (K,): graph by graph, the best first.

    Of nodes that nothing tells apart those of smaller numbers come first. A graph that has fewer keeps all it has.

    >>> score = torch.tensor([0.1, 0.9, 0.5, 0.5, 0.2])
    >>> top_nodes(score, score, torch.tensor([0, 0, 0, 0, 1]), ratio=0.5)
    tensor([1, 2, 4])
    """
    order = below.argsort(descending=True, stable=True)
    order = order[score[order].argsort(descending=True, stable=True)]
    grouped = Grouped.of(graph[order])
    most = (ratio * _SLACK * grouped.size.double()).ceil() if number is None else grouped.size.clamp(max=number)
    in_order = grouped.order  # of `order`, graph by graph
    kept = grouped.place < most[grouped.group]
    return order[in_order[kept[in_order]]]
