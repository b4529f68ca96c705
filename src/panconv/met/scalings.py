"""The scalings of M by the row sums D_n and by the partition function Z: the factors before and behind each G(n).

    M = Z^a · Σₙ wₙ · D_n^b · G(n) · D_n^b' · Z^a'  =  outer ⊙ Σₙ leftₙ ⊙ G(n) · rightₙ  (+ alone)

Each function is one row of the table of methods. All factors are float64 here, whatever the features are, or in the
narrower dtype that path weights are stored in, where there are no others. Where B_n
leaves float64 the terms come as 2^−eₙ G(n), with eₙ the exponent of B_n, which `leftₙ` makes good.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import may_look
from panconv.compute.series import Factors
from panconv.graph import Adjacency
from panconv.graph.degrees import UnscalableError, inverse
from panconv.met.partition import EPS, match, may_vanish, partition
from panconv.paths.family import WIDEST, Counts, Weighing
from panconv.weights import LOG_2

# How large the factors on one side of M may be, by the logarithm: M itself may have entries as large.
ROOM = {dtype: 0.9 * math.log(torch.finfo(dtype).max) for dtype in (torch.float32, torch.float64)}
_LEAST = math.log(torch.finfo(torch.float64).tiny)


class Scaled(NamedTuple):
    """What stands around G(n), in float64."""

    factors: Factors
    wide: bool = False  # whether the factors leave the range in which float32 is safe

    def least(self) -> float:
        """The smallest factor before a G(n) that is not 0, its sign aside."""
        size = self.factors.left.detach().abs()
        return float(size.where(size > 0, torch.inf).min()) if size.numel() else math.inf


def unscaled(weights: Weighing) -> Scaled:
    """Σₙ wₙ G(n): methods 5, 8 and 9, which are eq. 10 without D_n, on Â or on a random walk's matrix."""
    w = weights.held().unsqueeze(1)
    if not may_look() or (w.is_cuda and not weights.may_overflow):  # a look would make the GPU wait
        return Scaled(Factors(w))
    largest = max(map(abs, w.detach().flatten().tolist()))
    if weights.may_overflow and largest == math.inf:
        n = int((w.detach() == torch.inf).nonzero()[0, 0])
        raise ValueError(
            f"weights overflow: that of length {n} is exp({float(weights.log().detach()[n].max()):.3g}); raise the "
            "energies or the temperature, or use a method that divides by Z (1, 2, 7, 10, 11), where a common factor "
            "cancels"
        )
    return Scaled(Factors(w), largest > WIDEST[torch.float32])


def unscaled_frexp(weights: Weighing, counts: Counts, adj: Adjacency) -> Scaled:
    """Σₙ wₙ 2^eₙ · 2^−eₙ G(n): the same where a signed or directed base leaves float64, though wₙ G(n) does not."""
    _check_growth(weights, counts)
    assert counts.exponent is not None
    w = weights.exact().detach()
    largest = w.abs().argmax(0, keepdim=True)  # (1[, S])
    mantissa, exponent = weights.over_frexp(largest)  # (L+1, 1[, S])
    top, of_top = torch.frexp(w.gather(0, largest).abs())
    exponent = exponent + of_top + match(counts.exponent, mantissa.dim())
    left = mantissa * top * torch.exp2(exponent.clamp(max=1023))
    if not may_vanish(counts, adj):
        left = left.masked_fill(~match(counts.arrive, left.dim()), 0)
    return Scaled(Factors(left), wide=True)


def outnumbered(weights: Weighing, counts: Counts, per_length: bool) -> bool:
    """Whether float64 would lose a path weight although paths are many, or divided by D_n because they are."""
    log = weights.log().detach()
    if counts.exponent is not None or log.is_cuda or not may_look() or not counts.value.numel():
        return False  # a look would make the GPU wait
    log = log if per_length else log - log.amax(0)
    if float(log.amin()) > _LEAST / 2:  # the counts are within 10^±150
        return False
    largest = counts.log.detach().amax(1).reshape(-1, *[1] * (log.dim() - 1))
    lost, kept = (log - largest, log) if per_length else (log, log + largest)
    return bool(((lost < _LEAST) & (kept > _LEAST)).any())


def by_length(weights: Weighing, counts: Counts) -> Scaled:
    """Σₙ wₙ D_n⁻¹ G(n): methods 3 and 4 (eq. 10)."""
    _check_lengths(counts)
    (w, *_), wide = unscaled(weights)
    return Scaled(Factors(w * match(inverse(_row_sums(counts), 1), w.dim())), wide)


def by_length_roots(weights: Weighing, counts: Counts, adj: Adjacency, dtype: torch.dtype) -> Scaled:
    """Σₙ wₙ D_n^−½ G(n) D_n^−½: method 6, eq. 10 with D_n on both sides, for features of a dtype."""
    _check_lengths(counts)
    (w, *_), wide = unscaled(weights)
    root = inverse(_row_sums(counts), 0.5)
    middle = torch.zeros_like(counts.value)
    if math.log(counts.span) > 2 * ROOM[dtype]:
        middles, halves = zip(*(centre(log, counts, adj) for log in counts.log), strict=True)
        middle = torch.stack(middles)
        _check_span(max(halves), dtype)
    left = right = root
    if counts.exponent is not None:
        half = (counts.exponent - (middle / LOG_2).round()) / 2  # what is common to both sides may go to either
        left, right = ((sign * half).where(counts.arrive, 0).exp2() * root for sign in (1, -1))
    return Scaled(Factors(w * match(left, w.dim()), right=match(right, w.dim())), wide)


def by_partition_alike(weights: Weighing, counts: Counts, share: float) -> Scaled:
    """Z^−share · Σₙ wₙ G(n) [· Z^−share], with a number per length: methods 1, 2, 7, 10 and 11 (eq. 7).

    For graphs on which each node is reached by walks of every length, or by the one of length 0 alone: there Z is never
    much smaller than the largest wₙ, but at nodes that nothing reaches, which keep their own features as they are.
    """
    log_w = weights.log().detach()
    w = weights.over(log_w.argmax(0, keepdim=True))  # (L+1, 1[, S])
    reached = match(counts.arrive[1:].any(0, keepdim=True), w.dim()).squeeze(0)  # (N[, 1])
    z = (w * match(counts.value, w.dim())).sum(0)
    outer = inverse(z.where(reached, 0), share)
    alone = (~reached & (log_w[0] > -torch.inf)).to(z.dtype)
    return Scaled(Factors(w, alone.expand_as(z), outer, outer if share == 0.5 else None))


def by_partition(weights: Weighing, counts: Counts, adj: Adjacency) -> Scaled:
    """Z⁻¹ Σₙ wₙ G(n), with a number per node and length: methods 1, 7, 10 and 11 on other graphs (eq. 7)."""
    Z = partition(weights, counts, adj)
    return Scaled(Factors(Z.over * Z.inverse(1)), may_vanish(counts, adj))


def by_partition_roots(weights: Weighing, counts: Counts, adj: Adjacency, dtype: torch.dtype) -> Scaled:
    """Z^−½ Σₙ wₙ G(n) Z^−½, with a number per node and length: method 2 on other graphs, eq. 7 with Z on both sides."""
    Z = partition(weights, counts, adj)
    middle, widest = centre(Z.log(common=False), counts, adj)
    _check_span(widest, dtype)
    half = ((Z.exponent - (middle / LOG_2).round()) / 2).masked_fill(Z.z == 0, 0)
    root, unit = Z.inverse(0.5), Z.unit.sqrt()
    wide = may_vanish(counts, adj) or not may_look() or 2 * widest > math.log(WIDEST[torch.float32])
    return Scaled(Factors(Z.over * root * (unit * half.exp2()), right=root * ((-half).exp2() / unit)), wide)


def _row_sums(counts: Counts) -> Tensor:
    """D_n, or its mantissa, (L+1, N)."""
    return counts.value if counts.ratio is None else counts.value * counts.ratio


def centre(log: Tensor, counts: Counts, adj: Adjacency) -> tuple[Tensor, float]:
    """The middle of a node quantity's range, (N, …), and half the range; within each component where it is wide.

    Paths join nodes of one component only, so what is taken from one side of the product may go on the other. Where no
    value may be looked at, the middle of all nodes serves.
    """
    dead = log == -torch.inf
    low, high = log.detach().masked_fill(dead, torch.inf), log.detach().masked_fill(dead, -torch.inf)
    if not log.numel():
        return torch.zeros_like(log), 0.0
    least, most = (end.masked_fill(end.isinf(), 0) for end in (low.amin(), high.amax()))
    half = float(most - least) / 2 if may_look() else 0.0
    if half <= ROOM[torch.float32]:
        return ((least + most) / 2).expand_as(log), half
    low_of, high_of = _ends(low, high, adj.components)
    widest = float((high_of - low_of).max()) / 2
    if may_vanish(counts, adj):  # an edge of weight 0 joins nothing, unless it has a gradient
        low_of, high_of = _ends(low, high, adj.with_values(None).components)
    return (low_of + high_of) / 2, widest


def _ends(low: Tensor, high: Tensor, component: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest and the highest of each node's component, 0 where nothing arrives in all of it."""
    index = component.reshape(-1, *[1] * (low.dim() - 1)).expand_as(low)
    low = torch.full_like(low, torch.inf).scatter_reduce(0, index, low, "amin")[component]
    high = torch.full_like(high, -torch.inf).scatter_reduce(0, index, high, "amax")[component]
    return low.masked_fill(low.isinf(), 0), high.masked_fill(high.isinf(), 0)


def _check_span(half: float, dtype: torch.dtype) -> None:
    """On a directed graph one component can span more than a dtype holds, and so can M itself."""
    if half > ROOM[dtype]:
        raise UnscalableError(
            f"the roots that it scales both sides by span a factor of 10^{half / math.log(10):.0f} either way, more "
            f"than {dtype} holds (a smaller L would do{', or float64' if dtype == torch.float32 else ''})"
        )


def _check_growth(weights: Weighing, counts: Counts) -> None:
    """Refuses paths that weigh more than float64 holds, signs aside: M would have infinite entries, or cancel some."""
    if not may_look():
        return
    log_w = weights.log().detach()
    log = log_w.unsqueeze(1) + match(counts.log.detach(), log_w.dim() + 1)
    if float(log.max()) > math.log(torch.finfo(torch.float64).max):
        length, node = (log == log.max()).nonzero()[0, :2].tolist()
        digits = float(log.max()) / math.log(10)
        raise UnscalableError(
            f"the paths of length {length} to node {node} weigh 10^{digits:.0f} together, signs aside, more than "
            "float64 holds (a smaller L would do)"
        )


def _check_lengths(counts: Counts) -> None:
    """Refuses a D_n, which is to be divided by, that is negative, or 0 although paths arrive."""
    if counts.ratio is None or not may_look():
        return
    n = torch.arange(1, counts.ratio.size(0) + 1, device=counts.ratio.device).unsqueeze(1)
    bad = counts.arrive & (counts.ratio <= 4 * n * EPS)
    if bool(bad.any()):
        length, node = bad.nonzero()[0].tolist()
        negative = bool(counts.ratio[length, node] < -4 * (length + 1) * EPS)
        raise UnscalableError(
            f"the paths of length {length} to node {node} have a sum that "
            f"{'is negative' if negative else 'cancels to 0'}, and it divides by that"
        )
