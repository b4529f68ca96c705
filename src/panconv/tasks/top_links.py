"""The likeliest links that a graph does not have, of all pairs that a short walk joins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.checks import checked_count
from panconv.graph import Adjacency
from panconv.walkers.walk import walk_named

_AT_ONCE = 2**24  # pairs that are scored at a time


def top_links(adj: Any, count: int, walk: str = "generic", steps: int = 3) -> tuple[Tensor, Tensor]:
    """The pairs without a link that the superposed local random walk scores highest (see `link_scores`).

    Args:
        adj: the graph, undirected, or anything an `Adjacency` is made from.
        count: how many pairs, at most: fewer come out where fewer are joined by a walk.
        walk: ``"maximal-entropy"`` or ``"generic"``.
        steps: the longest walk, at least 2: one step leads to a neighbour.

    Returns:
        pairs (2, count), the smaller number first, and their scores (count,) float64, the highest first; equal scores
        by the numbers of the nodes.

    >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> top_links(path, 2, steps=2)[0].tolist()
    [[0, 1], [2, 3]]
    """
    adj = Adjacency.of(adj)
    count, steps = checked_count(count, "count"), checked_count(steps, "steps", least=2)
    of = walk_named(adj, walk)
    weight = of.stationary.cpu().numpy()  # raises on a directed graph
    P = _matrix(of.transition)
    best = np.empty((2, 0), np.int64), np.empty(0)
    for rows in _blocks(P, steps):
        reached = total = P[rows]
        for _ in range(steps - 1):
            reached = reached @ P
            total = total + reached
        pairs, entry = _unlinked(total, P[rows], rows.start)
        pairs, score = np.concatenate([best[0], pairs], 1), np.concatenate([best[1], 2 * weight[pairs[0]] * entry])
        best = _kept(pairs, score, count)
    return torch.from_numpy(best[0]), torch.from_numpy(best[1])


def _matrix(transition: Adjacency) -> sp.csr_matrix:
    p, _ = transition.operands(torch.float64)
    parts = (p.value.numpy(), p.col.numpy(), p.crow.numpy())
    return sp.csr_matrix(parts, shape=(transition.num_nodes, transition.num_nodes))


def _blocks(P: sp.csr_matrix, steps: int) -> list[slice]:
    """Rows that are taken together: those whose walks, so many steps long, end in not too many places."""
    ends = np.diff(P.indptr).astype(np.float64)
    pattern = sp.csr_matrix((np.ones(P.nnz), P.indices, P.indptr), P.shape)
    for _ in range(steps - 1):
        ends = np.minimum(pattern @ ends, P.shape[0])
    place = (np.cumsum(ends) // _AT_ONCE).astype(np.int64)
    cuts = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), P.shape[0]]
    return [slice(start, end) for start, end in pairwise(cuts) if end > start]


def _unlinked(total: sp.csr_matrix, linked: sp.csr_matrix, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j that have an entry and no link, (2, E), and the entries."""
    N = total.shape[1]
    found, there = total.tocoo(), linked.tocoo()
    i, j = found.row.astype(np.int64) + start, found.col.astype(np.int64)
    later = (i < j) & (found.data > 0)
    i, j, entry = i[later], j[later], found.data[later]
    new = np.isin(i * N + j, (there.row.astype(np.int64) + start) * N + there.col, invert=True)
    return np.stack([i[new], j[new]]), entry[new]


def _kept(pairs: np.ndarray, score: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The best so many."""
    if len(score) > count:  # all that are as good as the last one stay, so that the order of blocks does not matter
        enough = score >= np.partition(score, len(score) - count)[len(score) - count]
        pairs, score = pairs[:, enough], score[enough]
    order = np.lexsort((pairs[1], pairs[0], -score))[:count]
    return pairs[:, order], score[order]
