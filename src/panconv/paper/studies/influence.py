"""The influencer of the paper's Section 4: how much of what a hub sends arrives, beside what an ordinary node sends.

The influence of sender j on receiver i is the entry (i, j) of an operator Σₙ wₙ Bₙ, with wₙ = exp(−n/T). Each walk has
three: what a path brings is divided at its receiver, as an average is; at its sender, as walkers who set out are; or by
the roots of both. A ratio of 1 means that a hub is heard as an ordinary node is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.data.small_worlds import preferential_attachment, ring_with_hub
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paper.studies.links import spread
from panconv.paths import Walks, paths_from
from panconv.spectral import perron
from panconv.walkers import RandomWalk
from panconv.weights import PowerLaw


@dataclass(frozen=True)
class How:
    """Which paths count, and how much."""

    L: int = 3  # the longest path, and the farthest distance that is looked at
    temperature: float = 1.0
    paths: str = "walks"  # or "shortest", "self_avoiding": those that never come back to their sender

    @cached_property
    def weights(self) -> PowerLaw:
        return PowerLaw(self.L, temperature=self.temperature, trained=False)


class Sent:
    """What senders (S,) are heard of at all nodes, (N, S) float64, by one operator after another."""

    def __init__(self, adj: Adjacency, how: How, senders: Tensor) -> None:
        self.adj, self.how = adj, how
        self.one = torch.zeros(adj.num_nodes, senders.numel(), dtype=torch.float64)
        self.one[senders, torch.arange(senders.numel())] = 1

    def met(self, method: int, transposed: bool = False) -> Tensor:
        """By M, or by Mᵀ, which on an undirected graph divides at the other end."""
        M = MET(paths_from(self.how.paths)(self.adj, self.how.L), self.how.weights, method)
        return (M.T if transposed else M) @ self.one

    def walk(self, transposed: bool = False) -> Tensor:
        """By Σ wₙPⁿ of the maximal entropy walk P, or by its transpose."""
        return self.summed(self._transition, transposed=transposed)

    @cached_property
    def _transition(self) -> Adjacency:
        return RandomWalk.maximal_entropy(self.adj).transition

    def paths(self, growth: bool = False) -> Tensor:
        """By Σ wₙ G(n), or with G(n) divided by λⁿ, how fast walks multiply."""
        return self.summed(self.adj, perron(self.adj).value.unsqueeze(1) if growth else None)

    def summed(self, base: Adjacency, growth: Tensor | None = None, transposed: bool = False) -> Tensor:
        terms, weights = paths_from(self.how.paths)(base, self.how.L).summands(self.how.weights)
        if transposed:
            return terms.adjoint([w * self.one for w in weights.exact()])
        each = enumerate(zip(weights.exact(), terms.terms(self.one), strict=True))
        return torch.stack([w * term if growth is None else w * term / growth**n for n, (w, term) in each]).sum(0)


class Operator(NamedTuple):
    """A row of the table."""

    walk: str
    divided: str  # where: at the receiver, at both ends, at the sender, or nowhere
    formula: str  # M₁ and M₂ are those of methods 1 and 2
    send: Callable[[Sent], Tensor]

    def __str__(self) -> str:
        return f"{self.walk.replace('maximal', 'max.')}, {self.divided}: {self.formula}"


OPERATORS = (
    Operator("generic", "receiver", "D⁻¹A", lambda sent: sent.met(8)),
    Operator("generic", "both", "D^−½AD^−½", lambda sent: sent.met(9)),
    Operator("generic", "sender", "AD⁻¹", lambda sent: sent.met(8, transposed=True)),
    Operator("maximal-entropy", "receiver", "P", lambda sent: sent.walk()),
    Operator("maximal-entropy", "both", "A/λ", lambda sent: sent.paths(growth=True)),
    Operator("maximal-entropy", "sender", "Pᵀ", lambda sent: sent.walk(transposed=True)),
    Operator("M", "receiver", "M₁", lambda sent: sent.met(1)),
    Operator("M", "both", "M₂", lambda sent: sent.met(2)),
    Operator("M", "sender", "M₁ᵀ", lambda sent: sent.met(1, transposed=True)),
    Operator("paths", "nowhere", "Σ wₙG(n)", lambda sent: sent.paths()),
)

# The generated graphs, by the number of nodes and the seed.
GRAPHS: dict[str, Callable[[int, int], Tensor]] = {
    "ring": lambda nodes, seed: ring_with_hub(nodes, links=nodes // 10, seed=seed),
    "preferential attachment": lambda nodes, seed: preferential_attachment(nodes, seed=seed),
}

FOLLOWERS = (3, 10, 30, 100, 300)


class Influence(NamedTuple):
    """Of an operator, by distance 1 … L; NaN where no node is that far away."""

    hub: list[float]  # the mean over the nodes at that distance from the hub
    ordinary: list[float]  # of an ordinary node: the mean over those at that distance from it, and over all such nodes
    same: list[float]  # the hub over the mean of the ordinary nodes as far away from one receiver; the mean over those


class Round(NamedTuple):
    """A graph's hub and its ordinary nodes."""

    hub_degree: int
    ordinary_degree: int
    found: list[Influence]  # by OPERATORS


def influence_round(edge_index: Tensor, num_nodes: int, how: How) -> Round:
    """The influence of the node with the most links, beside that of the nodes with the median number of links."""
    adj = Adjacency.from_edge_index(edge_index, num_nodes=num_nodes)
    degree = adj.row_sums()
    hub = int(degree.argmax())
    ordinary = (degree == degree.median()).nonzero().flatten()
    ordinary = ordinary[ordinary != hub]
    senders = torch.cat([torch.tensor([hub]), ordinary])
    sent, far = Sent(adj, how, senders), distances(adj, senders, how.L)
    at = [(far == d).double() for d in range(1, how.L + 1)]
    found = [_influence(operator.send(sent), at) for operator in OPERATORS]
    return Round(int(degree[hub]), int(degree.median()), found)


def _influence(value: Tensor, at: Iterable[Tensor]) -> Influence:
    """From what the hub (the first column) and the ordinary nodes send, and the masks of each distance, all (N, S)."""
    by_distance = []
    for mask in at:
        inside = value * mask
        mean = inside.sum(0) / mask.sum(0)  # of each sender; NaN where no node is that far away
        others, count = inside[:, 1:].sum(1), mask[:, 1:].sum(1)
        shared = (mask[:, 0] > 0) & (count > 0)
        same = inside[shared, 0] / (others / count)[shared]
        by_distance.append((float(mean[0]), float(mean[1:].nanmean()), float(same.mean())))
    return Influence(*map(list, zip(*by_distance, strict=True)))


def distances(adj: Adjacency, senders: Tensor, farthest: int) -> Tensor:
    """The number of steps from each sender to each node, (N, S); −1 beyond the farthest."""
    far = torch.full((adj.num_nodes, senders.numel()), -1)
    for n, walks in enumerate(Walks(adj, farthest).terms(Sent(adj, How(farthest), senders).one)):
        far = torch.where((far < 0) & (walks > 0), n, far)
    return far


# ------------------------------------------------------------------ one sender, given more and more links

Kept = list[list[list[float]]]  # by OPERATORS, by distance 1 … L, by the number of followers


def followers_round(num_nodes: int, seed: int, counts: Sequence[int], how: How) -> Kept:
    """Node 0 of a ring is given followers, nodes that have no other link: what then arrives where it arrived before.

    Args:
        counts: of followers, from few to many.

    Returns:
        the mean influence of node 0 on the nodes that are a distance away from it on the ring, over what it is without
        followers.
    """
    ring, sender = ring_with_hub(num_nodes, links=0, seed=seed), torch.tensor([0])
    far = distances(Adjacency.from_edge_index(ring, num_nodes=num_nodes), sender, how.L).flatten()
    receivers = [(far == d).nonzero().flatten() for d in range(1, how.L + 1)]

    def heard(count: int) -> list[list[float]]:
        """By OPERATORS, by distance."""
        adj = Adjacency.from_edge_index(with_followers(ring, num_nodes, count), num_nodes=num_nodes + count)
        sent = Sent(adj, how, sender)
        at_all = [operator.send(sent).flatten() for operator in OPERATORS]
        return [[float(each[at].mean()) for at in receivers] for each in at_all]

    before, levels = heard(0), [heard(count) for count in counts]
    return [
        [[_over(level[row][d], before[row][d]) for level in levels] for d in range(how.L)]
        for row in range(len(OPERATORS))
    ]


def with_followers(edge_index: Tensor, num_nodes: int, count: int) -> Tensor:
    """The graph with so many more nodes, each joined to node 0 alone."""
    new = torch.arange(num_nodes, num_nodes + count)
    links = torch.stack([new, torch.zeros_like(new)])
    return torch.cat([edge_index, links, links.flip(0)], 1)


# ------------------------------------------------------------------ many seeds

Spread = tuple[float, float]  # mean and standard deviation


class Summary(NamedTuple):
    """Of an operator, by distance, over the seeds: as in `Influence`, and the hub over the ordinary."""

    hub: list[Spread]
    ordinary: list[Spread]
    same: list[Spread]
    ratio: list[Spread]


@dataclass(frozen=True)
class Study:
    """What was found on graphs of every kind."""

    rounds: dict[str, list[Round]]  # by kind, by seed
    followers: list[list[list[Spread]]]  # by OPERATORS, by distance, by FOLLOWERS

    def degree(self, kind: str) -> Spread:
        """The links of the hub."""
        return over_seeds([each.hub_degree for each in self.rounds[kind]])

    def summary(self, kind: str) -> list[Summary]:
        """By OPERATORS."""
        found = []
        for of_seeds in zip(*(each.found for each in self.rounds[kind]), strict=True):
            hub, ordinary, same = (list(zip(*part, strict=True)) for part in zip(*of_seeds, strict=True))
            ratio = [[_over(h, o) for h, o in zip(*both, strict=True)] for both in zip(hub, ordinary, strict=True)]
            found.append(Summary(*([over_seeds(each) for each in part] for part in (hub, ordinary, same, ratio))))
        return found

    def plain(self) -> dict[str, Any]:
        """As JSON: every list is by distance, and that of the followers then by their number."""
        names = [{"walk": each.walk, "divided": each.divided, "formula": each.formula} for each in OPERATORS]
        graphs = {
            kind: {
                "hub_degrees": [each.hub_degree for each in rounds],
                "ordinary_degrees": [each.ordinary_degree for each in rounds],
                "operators": [name | _named(of._asdict()) for name, of in zip(names, self.summary(kind), strict=True)],
            }
            for kind, rounds in self.rounds.items()
        }
        relative = [name | {"relative": _named(of)} for name, of in zip(names, self.followers, strict=True)]
        return {"graphs": graphs, "followers": {"counts": list(FOLLOWERS), "operators": relative}}


def study(nodes: int, seeds: Iterable[int], how: How) -> Study:
    """Graphs of every kind with every seed, and the followers of a node of the ring."""
    rounds: dict[str, list[Round]] = {kind: [] for kind in GRAPHS}
    followed = []
    for seed in seeds:
        for kind, make in GRAPHS.items():
            rounds[kind].append(influence_round(make(nodes, seed), nodes, how))
        followed.append(followers_round(nodes, seed, FOLLOWERS, how))
    by_operator = (zip(*of, strict=True) for of in zip(*followed, strict=True))
    followers = [[[over_seeds(count) for count in zip(*d, strict=True)] for d in of] for of in by_operator]
    return Study(rounds, followers)


def over_seeds(values: Iterable[float]) -> Spread:
    """The mean and the standard deviation of those that are known."""
    known = [value for value in values if math.isfinite(value)]
    return spread(known) if known else (math.nan, math.nan)


def _over(value: float, other: float) -> float:
    return value / other if other else math.nan  # of weights so small that nothing arrives


def _named(value: Any) -> Any:
    """The pairs (mean, std) by their names."""
    if isinstance(value, dict):
        return {key: _named(each) for key, each in value.items()}
    return [_named(each) for each in value] if isinstance(value, list) else {"mean": value[0], "std": value[1]}
