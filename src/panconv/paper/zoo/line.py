"""LINE: vectors from single edges, drawn with probability proportional to their weights, in two independent parts that
are put side by side. First-order proximity wants neighbours alike, second-order proximity nodes with like neighbours:

    log σ(uᵢᵀuⱼ) + K·E log σ(−uᵢᵀuₙ),   log σ(uᵢᵀcⱼ) + K·E log σ(−uᵢᵀcₙ),   n drawn by degree^¾,

then logistic regression. On M the weights are its entries. To draw by weight is to draw an edge as often as the generic
walk meets it, πᵢ·Pᵢⱼ; with ``walk="maximal-entropy"`` it is drawn as often as that walk meets it.

Tang, Qu, Wang, Zhang, Yan & Mei, LINE: large-scale information network embedding, WWW 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.random import keys, uniform, words
from panconv.graph import Adjacency
from panconv.paper.zoo.deepwalk import SCALES
from panconv.paper.zoo.logistic import classified
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.skipgram import lookup
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.epoch import descend
from panconv.walkers.walk import walk_named

_START, _EDGE, _NOISE = range(30, 33)  # streams of random numbers
_POWER = 0.75


class Draws(NamedTuple):
    """Edges with how often each is drawn, and nodes with how often each is a negative."""

    source: Tensor  # (E,)
    target: Tensor
    edges: Tensor  # (E,) float64, the shares of all edges up to and with this one, 1 at the end
    nodes: Tensor  # (N,) the same of the nodes

    def drawn(self, shares: Tensor, key: Tensor, count: int) -> Tensor:
        """Places of one of the two tables, (…key's shape, count)."""
        chance = words(key, (count,)).double() * 2.0**-32
        return torch.searchsorted(shares, chance, right=True).clamp(max=len(shares) - 1)


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    z = embedded(draws(graph(data, device), how["walk"]), how, seeds, tell)
    both = torch.cat([SCALES[how["scale"]](part) for part in z], dim=-1)
    return classified(both, data.y, data.train_mask, data.val_mask)


def draws(adj: Adjacency, walk: str) -> Draws:
    """The edges of a graph between two nodes, by their weights or by how often a walk meets them."""
    P = walk_named(adj, walk)  # refuses weights below 0
    if walk == "generic":  # which on an undirected graph meets an edge as often as its weight says
        source, target, value = adj.col.long(), adj.row.long(), adj.operands(torch.float64)[0].value
    else:
        source, target = P.transition.row.long(), P.transition.col.long()
        value = P.stationary[source] * P.transition.operands(torch.float64)[0].value
    value = value.where(source != target, 0)  # a node's edge to itself tells nothing of it
    if not bool((value > 0).any()):
        raise ValueError("the graph must have an edge between two nodes for LINE, which learns from edges: it has none")
    degree = torch.zeros(adj.num_nodes, dtype=torch.float64, device=value.device).index_add(0, target, value)
    return Draws(source, target, _shares(value), _shares(degree**_POWER))


def _shares(weight: Tensor) -> Tensor:
    total = weight.cumsum(0)
    return total / total[-1]


def embedded(draws: Draws, how: How, seeds: Seeds, tell: Tell = silent) -> tuple[Tensor, Tensor]:
    """Vectors of the nodes by first and by second order, each (S, N, dimension), by Adam with a rate that falls to 0.

    Args:
        draws: what edges and negatives are drawn from.
        how: dimension (of each part), steps, batch (edges of a step), negatives (K) and lr.
        seeds: one per trial.
        tell: called with the share that is done.
    """
    N, d = len(draws.nodes), how["dimension"]
    seed = torch.tensor(list(seeds), device=draws.nodes.device)
    start = (uniform(keys(seed, _START), (2, N, d)) - 0.5) / d  # (S, 2, N, d)
    first, second = (part.clone().requires_grad_() for part in start.unbind(1))
    context = torch.zeros_like(second).requires_grad_()
    optimizer = torch.optim.Adam([first, second, context], lr=how["lr"], fused=True)
    for step in range(how["steps"]):
        optimizer.param_groups[0]["lr"] = how["lr"] * (1 - step / how["steps"])
        edge = draws.drawn(draws.edges, keys(seed, _EDGE, step), how["batch"])
        noise = draws.drawn(draws.nodes, keys(seed, _NOISE, step), how["batch"] * how["negatives"])
        ends = draws.source[edge], draws.target[edge], noise.unflatten(1, (how["batch"], -1))
        descend(optimizer, surprise(first, first, *ends) + surprise(second, context, *ends))
        tell((step + 1) / how["steps"])
    return first.detach(), second.detach()


def surprise(table: Tensor, others: Tensor, source: Tensor, target: Tensor, noise: Tensor) -> Tensor:
    """−Σ log σ(uᵢᵀvⱼ) − Σₙ log σ(−uᵢᵀvₙ) over the edges that were drawn.

    Args:
        table, others: the vectors u and v, (S, N, d).
        source, target: the ends of the edges, (S, B).
        noise: the negatives of each, (S, B, K).
    """
    u = lookup(table, source).unsqueeze(-2)  # (S, B, 1, d)
    near = (u * lookup(others, target).unsqueeze(-2)).sum(-1)
    far = (u * lookup(others, noise)).sum(-1)
    return -F.logsigmoid(near).sum() - F.logsigmoid(-far).sum()
