"""Link prediction by random walks: which pairs without a link are likely to have one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import INTEGERS, check_real, check_values, checked_count, shown
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.training.metrics import area
from panconv.walkers.walk import walk_named

_BLOCK = 2**18  # numbers at a time, 2 MiB: they stay in a processor's cache; a GPU wants more, to be busy


def link_scores(
    adj: Any, pairs: Tensor, walk: str = "maximal-entropy", steps: int = 3, superposed: bool = True
) -> Tensor:
    """The local random walk's score of pairs of nodes: the larger, the likelier a link.

    sᵢⱼ(t) = πᵢ(Pᵗ)ᵢⱼ + πⱼ(Pᵗ)ⱼᵢ (Liu and Lü, 2010), or superposed, Σ_{τ≤t} sᵢⱼ(τ), so that near nodes count again and
    again; with the maximal entropy walk in place of the generic one as Li, Yu and Liu (2011) propose.

    Args:
        adj: the graph, undirected, or anything an `Adjacency` is made from.
        pairs: (2, E) node numbers.
        walk: ``"maximal-entropy"`` or ``"generic"``.
        steps: t, at least 1.
        superposed: whether to add the scores of all shorter walks.

    Returns:
        (E,) float64

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> link_scores(path, torch.tensor([[0], [2]]), walk="generic", steps=2)
    tensor([0.2500], dtype=torch.float64)
    """
    scores = walk_scores(adj, pairs, walk, steps)
    return scores.sum(0) if superposed else scores[-1]


def walk_scores(adj: Any, pairs: Tensor, walk: str, steps: int) -> Tensor:
    """sᵢⱼ(t) for t = 1 … steps, (steps, E) float64: all lengths for the price of the longest."""
    adj = Adjacency.of(adj)
    pairs, steps = _checked_pairs(pairs, adj), checked_count(steps, "steps")
    of = walk_named(adj, walk)
    weight = of.stationary[pairs[0]]  # raises on a directed graph
    # Detailed balance, πᵢPᵢⱼ = πⱼPⱼᵢ, makes the two terms of the score equal.
    return 2 * weight * _power_entries(of.transition, pairs, steps)


def common_neighbours(adj: Any, pairs: Tensor) -> Tensor:
    """The number of common neighbours, (A²)ᵢⱼ: the score with which all others are compared. (E,) float64"""
    adj = Adjacency.of(adj)
    return _power_entries(adj, _checked_pairs(pairs, adj), 2)[1]


def auc(scores: Tensor, positives: Tensor) -> float:
    """The chance that a positive scores above a negative, ties counted half.

    Args:
        scores: (E,).
        positives: (E,) bool, some True and some False.

    >>> auc(torch.tensor([3.0, 1.0, 1.0, 0.0]), torch.tensor([True, True, False, False]))
    0.875
    """
    for name, each in (("scores", scores), ("positives", positives)):
        if not isinstance(each, Tensor) or each.dim() != 1:
            raise TypeError(f"{name} must be a tensor (E,), got {shown(each)}")
        check_real(each, name)
        check_values(each, name)
    if scores.shape != positives.shape or positives.dtype != torch.bool:
        raise ValueError(
            f"scores and positives must both be (E,), positives bool, got {tuple(scores.shape)} and "
            f"{tuple(positives.shape)} {positives.dtype}"
        )
    if bool(torch.isnan(scores).any()):
        raise ValueError("scores must be numbers, got nan: there is no rank to give it")
    P = int(positives.sum())
    if not 0 < P < positives.numel():
        raise ValueError(f"positives must be True for some and False for others, got {P} True of {positives.numel()}")
    level = torch.unique(scores, return_inverse=True)[1]  # the order alone counts, and ∞ has a place in it too
    return float(area(level, positives.to(level.device)))


def _power_entries(matrix: Adjacency, pairs: Tensor, steps: int) -> Tensor:
    """(Mᵗ)ᵢⱼ of pairs (i, j) for t = 1 … steps, (steps, E) float64, rows i of a block of nodes at a time."""
    m, m_t = matrix.operands(torch.float64)
    entries = m.value.new_zeros(steps, pairs.size(1))
    rows, place = torch.unique(pairs[0], return_inverse=True)
    order = torch.argsort(place, stable=True)
    numbers = 256 * _BLOCK if matrix.device.type == "cuda" else _BLOCK
    at_once = max(numbers // max(matrix.num_nodes, 1), 1)
    pairs_of = order.split(torch.bincount(place // at_once).tolist())
    for block, pair in zip(rows.split(at_once), pairs_of, strict=False):
        x = m.value.new_zeros(matrix.num_nodes, len(block))  # column c: row i = block[c] of Mᵗ
        x[block, torch.arange(len(block), device=x.device)] = 1
        for t in range(steps):
            x = spmm(m_t, m, x)
            entries[t, pair] = x[pairs[1, pair], place[pair] % at_once]
    return entries


def _checked_pairs(pairs: Tensor, adj: Adjacency) -> Tensor:
    if not isinstance(pairs, Tensor) or pairs.dim() != 2 or pairs.size(0) != 2:
        raise ValueError(f"pairs must be a tensor (2, E) of node numbers, got {shown(pairs)}")
    if pairs.dtype not in INTEGERS:
        raise TypeError(f"pairs must hold integers, got {pairs.dtype}: convert it with .long()")
    check_values(pairs, "pairs")
    pairs = pairs.long().to(adj.device)
    outside = (pairs < 0) | (pairs >= adj.num_nodes)
    if bool(outside.any()):
        raise ValueError(
            f"pairs names node {int(pairs[outside][0])}, but the nodes are 0 … {adj.num_nodes - 1}: "
            "make the graph with Adjacency.from_edge_index(edge_index, num_nodes=…)"
        )
    return pairs
