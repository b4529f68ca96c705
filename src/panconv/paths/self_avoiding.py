"""Self-avoiding paths: G(n)ᵢⱼ counts the paths of length n that visit no node twice."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from panconv.graph.csr import CSR
from panconv.paths.formed import Entries, FormedPaths, extend, merge


class SelfAvoidingPaths(FormedPaths):
    """All paths up to length L that visit no node twice; G(0) = I.

    No recurrence between G(n−1) and G(n) exists, so every path is followed, all of a block at once, each with the nodes
    it has been to. On a weighted graph a path counts with the product of its edges' weights. G(n) is formed, once per
    graph.

    Args:
        adj: the graph, or anything an `Adjacency` is made from.
        L: the longest length, at least 0.
        memory_limit: bytes that building and holding G(n) may take; None for three quarters of what is free.

    >>> square = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    >>> torch.stack(list(SelfAvoidingPaths(square, L=3).terms(torch.eye(4))))[:, 0]  # to node 0, by length
    tensor([[1., 0., 0., 0.],
            [0., 1., 0., 1.],
            [0., 0., 2., 0.],
            [0., 1., 0., 1.]])
    """

    name = "self-avoiding"
    merges = False

    def grow(self, edges: CSR, receivers: Tensor) -> Iterator[Entries]:
        N = edges.crow.numel() - 1
        visited = [receivers]  # a node per step of every path
        row = torch.arange(len(receivers), device=receivers.device)
        value = edges.value.new_ones(len(receivers), *edges.value.shape[1:])
        while len(row):
            path, edge = extend(edges, visited[-1])
            node = edges.col[edge]
            free = torch.ones_like(node, dtype=torch.bool)
            for before in visited:
                free &= before[path] != node
            path, edge, node = path[free], edge[free], node[free]
            row, value = row[path], value[path] * edges.value[edge]
            visited = [*(before[path] for before in visited), node]
            yield merge(row, node, value, N)
