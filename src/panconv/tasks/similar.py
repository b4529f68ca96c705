"""Nodes that are alike: those from which walkers come to the same places."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import checked_count
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.walkers.walk import walk_named

_CANDIDATES = 512


def similar(adj: Any, node: int, count: int = 10, walk: str = "generic", steps: int = 2) -> tuple[Tensor, Tensor]:
    """The nodes most alike a node, and how much, 1 for the same places with the same chances.

    Alike is the cosine between the rows of Pᵗ, each entry divided by √πₖ: Σₖ (Pᵗ)ᵢₖ(Pᵗ)ⱼₖ/πₖ, which on a reversible
    walk is (P²ᵗ)ᵢⱼ/πⱼ. It is taken of the nodes to which a walk of 2t steps is likeliest, 512 at most.

    Args:
        adj: the graph, undirected, or anything an `Adjacency` is made from.
        node: its number.
        count: how many nodes, at most.
        walk: ``"maximal-entropy"`` or ``"generic"``.
        steps: t, at least 1.

    >>> star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    >>> nodes, cosine = similar(star, 1)
    >>> nodes.tolist(), [round(each, 6) for each in cosine.tolist()]
    ([2, 3], [1.0, 1.0])
    """
    adj = Adjacency.of(adj)
    count, steps = checked_count(count, "count"), checked_count(steps, "steps")
    number = checked_count(node, "node", least=0, most=adj.num_nodes - 1)
    of = walk_named(adj, walk)
    pi = of.stationary  # raises on a directed graph
    there = pi > 0
    scale = torch.where(there, pi, 1).rsqrt() * there
    ends = _rows(of.transition, torch.tensor([number]), 2 * steps)[:, 0] * scale
    ends[number] = 0
    best = ends.argsort(descending=True, stable=True)[: max(_CANDIDATES, count)]
    nodes = torch.cat([torch.tensor([number], device=best.device), best[ends[best] > 0]])
    rows = _rows(of.transition, nodes, steps) * scale.unsqueeze(1)  # (N, n)
    rows = rows / rows.norm(dim=0).clamp_min(1e-300)
    cosine = rows[:, 1:].T @ rows[:, 0]
    order = cosine.argsort(descending=True, stable=True)[:count]
    return nodes[1:][order], cosine[order]


def _rows(transition: Adjacency, nodes: Tensor, steps: int) -> Tensor:
    """Rows of Pᵗ as columns, (N, n) float64."""
    p, p_t = transition.operands(torch.float64)
    x = p.value.new_zeros(transition.num_nodes, nodes.numel())
    x[nodes, torch.arange(nodes.numel(), device=x.device)] = 1
    for _ in range(steps):
        x = spmm(p_t, p, x)
    return x
