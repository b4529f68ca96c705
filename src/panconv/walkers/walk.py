"""`RandomWalk`: a walk by its transition matrix, its stationary distribution and entropy rate, and samples of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import kind_of, shown
from panconv.base.near import meant
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.graph.degrees import Facts
from panconv.graph.pattern import Pattern
from panconv.spectral.perron import log_perron, row_log_sum
from panconv.walkers.sampler import Sampler


class RandomWalk:
    """A random walk on a graph.

    ``P[i, j]`` is the probability that a walker on node i steps to node j: rows sum to 1, or to 0 on a node that
    nothing leaves, where a walker stays. On a directed graph a walker follows the edges, from source to target. (An
    `Adjacency` holds the edge from j to i in row i, so there P has the pattern of its transpose.)

    Make one with `RandomWalk.generic` or `RandomWalk.maximal_entropy`, or by its name in `KINDS`.

    Args:
        transition: P.
        stationary: π, (N,) float64, or None where it is not known.

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> walk = RandomWalk.maximal_entropy(path)
    >>> walk.transition.to_dense()
    tensor([[0.0000, 1.0000, 0.0000],
            [0.5000, 0.0000, 0.5000],
            [0.0000, 1.0000, 0.0000]])
    >>> walk.sample([0, 1], steps=3).shape
    torch.Size([2, 4])
    """

    def __init__(self, transition: Adjacency, stationary: Tensor | None) -> None:
        if not isinstance(transition, Adjacency):
            raise TypeError(
                f"transition must be an Adjacency, got {kind_of(transition)}: make a walk with RandomWalk.generic(adj)"
            )
        if stationary is not None and getattr(stationary, "shape", None) != (transition.num_nodes,):
            raise ValueError(f"stationary must be a tensor ({transition.num_nodes},), got {shown(stationary)}")
        self.transition = transition
        self._stationary = stationary

    @staticmethod
    def generic(adj: Any) -> RandomWalk:
        """The walk that chooses evenly at each step: P = D⁻¹A, π = d/Σd, by weights where there are any.

        Args:
            adj: the graph, or anything an `Adjacency` is made from; weights of at least 0.
        """
        adj = _checked(adj)
        _, out = adj.operands(torch.float64)  # row i: the edges that leave i
        degree = out.row_sums()
        value = out.value / degree.masked_fill(degree == 0, 1)[out.row()]
        return RandomWalk(stochastic(out, value), degree / degree.sum() if adj.is_symmetric else None)

    @staticmethod
    def maximal_entropy(adj: Any) -> RandomWalk:
        """The walk that chooses evenly among whole paths: Pᵢⱼ = Aᵢⱼψⱼ/(λψᵢ), πᵢ = ψᵢ² (Burda et al., 2009).

        All paths of one length between two given nodes are equally likely (by the product of their weights, where
        there are any). On an unweighted graph no other walk along its edges has a higher entropy rate. λ and ψ are the
        largest eigenvalue of A and its positive eigenvector, of each connected component for itself. Components share
        π by their Σd, as in the generic walk, so that the two can be compared: an isolated node has π = 0.

        ψ is kept in logarithms (see `log_perron`), and each row of P is divided by its sum.

        Args:
            adj: the graph, undirected, or anything an `Adjacency` is made from; weights of at least 0.
        """
        adj = _checked(adj)
        if not adj.is_symmetric:
            raise ValueError(
                "the graph must be undirected for the maximal entropy walk, got a directed one: add the reverse edges "
                "(torch_geometric.utils.to_undirected), and detach weights that are being trained"
            )
        (a, _), log = adj.operands(torch.float64), log_perron(adj)
        largest = row_log_sum(a, adj.row, log)[adj.row]
        value = a.value * (log[a.col] - largest).exp()
        value = torch.where(a.value > 0, value, 0)  # an edge of weight 0 may lead out of the component: 0 · ∞
        return RandomWalk(stochastic(a, value), _per_component(2 * log, adj.row_sums(), adj.components))

    @property
    def num_nodes(self) -> int:
        return self.transition.num_nodes

    @property
    def stationary(self) -> Tensor:
        """π with πP = π, (N,) float64, sum 1."""
        if self._stationary is None:
            raise ValueError(
                "the stationary distribution of a walk on a directed graph has no closed form and need not be unique: "
                "make the graph undirected"
            )
        return self._stationary

    @property
    def entropy_rate(self) -> float:
        """−Σᵢ πᵢ Σⱼ Pᵢⱼ log Pᵢⱼ, in nats per step.

        The generic walk has Σ πᵢ log dᵢ and the maximal entropy walk log λ on a connected, unweighted graph.
        """
        p, _ = self.transition.operands(torch.float64)
        return -float((self.stationary[self.transition.row] * torch.xlogy(p.value, p.value)).sum())

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.transition)

    def sample(self, starts: Tensor | Sequence[int], steps: int, seed: int = 0) -> Tensor:
        """Walks of so many steps from given nodes.

        The numbers depend on seed, step and the walker's place in `starts` alone, so that the walks are the same on a
        CPU and on a GPU (but for a step in a few billion, where P rounds differently).

        Args:
            starts: the node of each walker, (B,).
            steps: at least 0.
            seed: at least 0.

        Returns:
            (B, steps + 1) int64, the starts first.
        """
        return self._sampler.sample(starts, steps, seed)

    def __repr__(self) -> str:
        return f"RandomWalk(num_nodes={self.num_nodes}, num_edges={self.transition.num_edges})"


KINDS: dict[str, Callable[[Any], RandomWalk]] = {
    "generic": RandomWalk.generic,
    "maximal-entropy": RandomWalk.maximal_entropy,
}


def walk_named(adj: Any, name: str) -> RandomWalk:
    """The walk of that name in `KINDS`."""
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"walk must be one of {', '.join(KINDS)}, got {shown(name)}{meant(name, KINDS)}")
    return KINDS[name](adj)


def _checked(graph: Any) -> Adjacency:
    adj = Adjacency.of(graph).detach()
    if adj.is_signed:
        least = float(adj.operands(torch.float64)[0].value.min())
        raise ValueError(f"edge_weight must be at least 0 for a random walk, as probabilities are, got {least:g}")
    if not bool((adj.operands(torch.float64)[0].value > 0).any()):
        raise ValueError(f"the graph has {adj.num_edges} edges, none of positive weight: a walker has nowhere to go")
    return adj


def stochastic(pattern: CSR, value: Tensor) -> Adjacency:
    """P over a pattern, its rows divided once more by their sums, which are 1 but for rounding."""
    row = pattern.row()
    total = pattern._replace(value=value).row_sums()
    value = value / total.masked_fill(total == 0, 1)[row]
    return Adjacency(Pattern(pattern.crow, pattern.col), value, mirrored=False, facts=Facts(growth=1.0))


def _per_component(log: Tensor, degree: Tensor, component: Tensor) -> Tensor:
    """exp(log), scaled so that each component holds its share of the degrees."""
    largest = torch.full_like(log, -torch.inf).scatter_reduce(0, component, log, "amax")
    size = (log - largest[component]).exp()
    total, edges = (torch.zeros_like(log).index_add(0, component, each) for each in (size, degree))
    return size * (edges / degree.sum() / total.masked_fill(total == 0, 1))[component]
