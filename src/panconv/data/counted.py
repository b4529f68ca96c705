"""`counted_graphs`: graphs with a number to learn whose answer is known, since it is counted."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_seed, checked_word
from panconv.base.random import keys, uniform
from panconv.data.graph_set import GraphSet

NODES, DEGREES = (10, 30), (3.0, 6.0)  # the least and the most: of nodes, and of neighbours in the mean
L, TEMPERATURE = 6, 1.0  # of the free energy


def triangles(A: Tensor, N: Tensor) -> Tensor:
    """How many there are per node, tr A³ / 6N, (G,)."""
    return (A @ A * A).sum((1, 2)) / 6 / N


def free_energy(A: Tensor, N: Tensor) -> Tensor:
    """−T·log of the mean over the nodes of Z, the sum over all paths to a node (eq. 2) with weights exp(−n/T), n up to
    6, (G,)."""
    arrives = (torch.arange(A.size(1)) < N.unsqueeze(1)).double().unsqueeze(2)
    Z = arrives.sum((1, 2))
    for n in range(1, L + 1):
        arrives = A @ arrives
        Z = Z + torch.exp(torch.tensor(-n / TEMPERATURE).double()) * arrives.sum((1, 2))
    return -TEMPERATURE * (Z / N).log()


TARGETS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"triangles": triangles, "free energy": free_energy}


def counted_graphs(target: str = "triangles", graphs: int = 2000, seed: int = 0) -> GraphSet:
    """Graphs of two kinds in turn, points in a square that hear who is near and pairs drawn at random, of 10 to 30
    nodes and 3 to 6 neighbours in the mean. Both kinds have the same degrees, and the first many triangles.

    A node is told its degree.

    Args:
        target: ``"triangles"``, per node, or the ``"free energy"`` −T·log(ΣᵢZᵢ/N) of all paths of up to six steps.
        graphs: how many. The first ones of a large set are those of a small one.
        seed: of all that is drawn.

    >>> counted_graphs(graphs=4)
    GraphSet(triangles: 4 graphs with a number each, 74 nodes, 185 edges, 1 feature)
    """
    known = TARGETS[checked_word(target, tuple(TARGETS), "target")]
    number = torch.arange(checked_count(graphs, "graphs"))
    key, most = keys(torch.tensor(checked_seed(seed)), number), NODES[1]
    sizes, degrees = (
        low + (high - low) * uniform(keys(key, i), (1,)).double().squeeze(1)
        for i, (low, high) in enumerate(((NODES[0], NODES[1] + 1), DEGREES))
    )
    N = sizes.long()
    chance = (degrees / (N - 1)).reshape(-1, 1, 1)
    near = _distance(uniform(keys(key, 2), (most, 2)).double()) < (chance / torch.pi).sqrt()
    drawn = uniform(keys(key, 3), (most, most)).double() < chance
    A = torch.where((number % 2 == 0).reshape(-1, 1, 1), near, drawn).triu(1)
    there = torch.arange(most) < N.unsqueeze(1)
    A &= there.unsqueeze(1) & there.unsqueeze(2)
    A = A | A.transpose(1, 2)
    return _as_set(A, N, known(A.double(), N).float(), target)


def _distance(points: Tensor) -> Tensor:
    """Between all points of a square that goes on periodically, (G, N, 2) → (G, N, N)."""
    apart = (points.unsqueeze(1) - points.unsqueeze(2)).abs()
    return torch.minimum(apart, 1 - apart).square().sum(-1).sqrt()


def _as_set(A: Tensor, N: Tensor, y: Tensor, name: str) -> GraphSet:
    ptr = torch.cat([N.new_zeros(1), N.cumsum(0)])
    graph, target, source = A.nonzero().unbind(1)
    edge_index = torch.stack([source, target]) + ptr[graph]
    x = A.sum(2)[torch.arange(A.size(1)) < N.unsqueeze(1)].float().unsqueeze(1)
    return GraphSet(x, edge_index, ptr, y, name=name, features="degree")
