"""Shortest paths: G(n)ᵢⱼ counts them where the distance is n, and is 0 elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from panconv.graph.csr import CSR
from panconv.paths.formed import Entries, FormedPaths, extend, merge

_TABLE = 2**26  # pairs of receiver and sender of which a table says whether a path was found


class ShortestPaths(FormedPaths):
    """All shortest paths up to length L: G(n)ᵢⱼ is their number where j is n hops from i, else 0; G(0) = I.

    The frontier of a breadth-first search, one level per step: G(n) = G(n−1)·A where no shorter path was found.
    "Shortest" counts hops; on a weighted graph each path counts with the product of its edges' weights. A self-loop is
    part of no shortest path. G(n) is formed, once per graph.

    Args:
        adj: the graph, or anything an `Adjacency` is made from.
        L: the longest length, at least 0.
        memory_limit: bytes that building and holding G(n) may take; None for three quarters of what is free.

    >>> square = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    >>> torch.stack(list(ShortestPaths(square, L=3).terms(torch.eye(4))))[:, 0]  # to node 0, by length
    tensor([[1., 0., 0., 0.],
            [0., 1., 0., 1.],
            [0., 0., 2., 0.],
            [0., 0., 0., 0.]])
    """

    name = "shortest"
    merges = True

    def grow(self, edges: CSR, receivers: Tensor) -> Iterator[Entries]:
        N = edges.crow.numel() - 1
        row = torch.arange(len(receivers), device=receivers.device)
        col, value = receivers, edges.value.new_ones(len(receivers), *edges.value.shape[1:])
        found = row * N + col
        # A table of all pairs where it is small: a search through what was found takes longer with every step.
        table = torch.zeros(len(row) * N if len(row) * N <= _TABLE else 0, dtype=torch.bool, device=row.device)
        while len(row):
            if table.numel():
                table[found] = True
            path, edge = extend(edges, col)
            row, col, value = merge(row[path], edges.col[edge], value[path] * edges.value[edge], N)
            key = row * N + col
            new = ~table[key] if table.numel() else ~torch.isin(key, found, assume_unique=True)
            row, col, value = row[new], col[new], value[new]
            found = key[new] if table.numel() else torch.cat([found, key[new]])
            yield row, col, value
