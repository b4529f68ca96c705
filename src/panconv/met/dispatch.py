"""Which scaling a method comes to on a graph, and in which dtype it is taken: from a row of the table to a `Plan`."""

from __future__ import annotations

import math

import torch

from panconv.base.tracing import may_look
from panconv.graph import Adjacency
from panconv.graph.degrees import UnscalableError
from panconv.met.methods import METHODS, Method, check_compatible, check_paths
from panconv.met.plan import Plan
from panconv.met.scalings import (
    Scaled,
    by_length,
    by_length_roots,
    by_partition,
    by_partition_alike,
    by_partition_roots,
    outnumbered,
    unscaled,
    unscaled_frexp,
)
from panconv.paths.family import WIDEST, Counts, PathFamily, Weighing
from panconv.weights import PathWeights

_SHARE = {"row": 1.0, "sym": 0.5, None: 0.0}  # of Z that stands on the left


def make_plan(
    paths: PathFamily, weights: PathWeights, rule: Method, dtype: torch.dtype, low_memory: bool = False
) -> Plan:
    """The operator as it is applied to features of a dtype, in a wider one where that one does not hold it.

    Args:
        paths: on the rule's base.
    """
    terms, weighing = paths.summands(weights)
    counts = terms.counts() if rule.divides or _grows(paths) else None
    if counts is not None and rule.divides and outnumbered(weighing, counts, rule.per_length is not None):
        counts = counts.frexp()
    scaled = _scale(paths, weighing, counts, rule, dtype)
    if scaled.wide or (counts is not None and not counts.held_by(dtype)) or _edges_need_more(paths.adj, scaled):
        dtype = torch.float64
    family = terms.scaled() if counts is not None and counts.exponent is not None else terms
    return Plan(family, scaled.factors.to(dtype), right_varies=rule.per_length == "sym", low_memory=low_memory)


def _scale(paths: PathFamily, weights: Weighing, counts: Counts | None, rule: Method, dtype: torch.dtype) -> Scaled:
    """What stands before and behind each G(n): a row of the table of methods."""
    adj = paths.adj
    if not rule.divides or counts is None:
        return unscaled(weights) if counts is None or counts.exponent is None else unscaled_frexp(weights, counts, adj)
    undirected = adj.is_undirected and not adj.is_signed
    if undirected and (weights.positive or rule.per_length):
        dtype = torch.float64  # to judge the roots by: no entry of what they scale is beyond 1
    if rule.per_length == "row":
        return by_length(weights, counts)
    if rule.per_length == "sym":
        return by_length_roots(weights, counts, adj, dtype)
    # On other graphs a path weight may be negligible at one node and all there is at another: each takes its own.
    if undirected and paths.has_every_length and weights.positive and counts.exponent is None:
        return by_partition_alike(weights, counts, _SHARE[rule.overall])
    if rule.overall == "row":
        return by_partition(weights, counts, adj)
    return by_partition_roots(weights, counts, adj, dtype)


def _grows(paths: PathFamily) -> bool:
    """Whether Gⁿ may leave float32, as that of a normalised base does where weights are negative or one-way."""

    def beyond(growth: float) -> bool:
        return paths.L * math.log(max(growth, 1.0)) > math.log(WIDEST[torch.float32])

    return beyond(paths.adj.growth_at_most) and beyond(paths.adj.growth)


def _edges_need_more(adj: Adjacency, scaled: Scaled) -> bool:
    """Whether a path weighs so little that its share in the edges' gradient may be lost in float32.

    That gradient is divided by edge weights, which may be small too.
    """
    return adj.is_tracked and may_look() and scaled.least() < 1 / WIDEST[torch.float32]


def refusal(error: UnscalableError, paths: PathFamily, weights: PathWeights, method: int) -> ValueError:
    """What to say where a method refuses a graph: why, and which methods take it, tried one by one."""
    taking = []
    for other, rule in METHODS.items():
        try:
            check_paths(other, paths)
            check_compatible(other, weights)
            make_plan(paths.on(rule.base), weights, rule, torch.float32)
        except ValueError:
            continue
        taking.append(str(other))
    remedy = "use positive edge weights and path weights; no method takes it as it is"
    if taking:
        remedy = f"use positive weights, or a method that takes it as it is ({', '.join(taking)})"
    return ValueError(f"method {method} does not take this graph: {error}; {remedy}")
