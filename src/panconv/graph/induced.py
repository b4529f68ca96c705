"""What is left of a graph where some of its nodes are kept: the edges between them, by their places among these."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.graph.adjacency import Adjacency


def induced_edges(
    edge_index: Tensor,  # (2, E)
    edge_weight: Tensor | None,  # (E, …)
    nodes: Tensor,  # (K,), each once
    num_nodes: int,
) -> tuple[Tensor, Tensor | None]:
    """The edges with both ends among the nodes, in their order, and what they weigh.

    >>> induced_edges(torch.tensor([[0, 1, 2], [1, 2, 2]]), None, torch.tensor([2, 1]), 3)
    (tensor([[1, 0],
            [0, 0]]), None)
    """
    new = nodes.new_full((num_nodes,), -1)
    new[nodes] = torch.arange(nodes.numel(), device=nodes.device)
    ends = new[edge_index]
    kept = (ends >= 0).all(0)
    return ends[:, kept], None if edge_weight is None else edge_weight[kept]


def induced(adj: Adjacency, nodes: Tensor) -> Adjacency:
    """The graph of some of the nodes, (K,) of them, each once: node k of it is node nodes[k] of `adj`.

    >>> ring = Adjacency.from_edge_index(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]))
    >>> induced(ring, torch.tensor([2, 1])).to_dense()
    tensor([[0., 1.],
            [0., 0.]])
    """
    if not adj.joins:
        raise ValueError(
            "this block of a larger graph keeps that graph's degrees, which a part of it would not have: take the "
            "nodes of the whole graph"
        )
    value = adj.value if adj.left is None and adj.right is None else adj.operand(torch.float64, False).value
    edges, value = induced_edges(torch.stack([adj.col.long(), adj.row]), value, nodes, adj.num_nodes)
    made = Adjacency.from_edge_index(
        *(edges, value, nodes.numel()),
        loops=adj.loops,
        validate=False,
        is_undirected=adj.pattern.known("symmetric") or None,
    )
    made.repeats = adj.repeats
    return made
