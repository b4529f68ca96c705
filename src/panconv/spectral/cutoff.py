"""How much the paths beyond the longest length L weigh, where E(n) = n^α is a law for every n.

The paper's footnote on the cutoff: it is valid "as long as E(n) ≫ nT ln λ₁ for large n". Here it is a number. On an
undirected graph of weights of at least 0, with A ψ ≤ λ ψ on a connected component, what has been counted up to L bounds
all that follows,

    D_n(i) ≤ c_i λⁿ   for n ≥ L ,     c_i = min( ‖D_L‖/λᴸ , ψᵢ maxⱼ D_L(j)/(λᴸψⱼ) ) ,

the norm and the maximum over i's component. The first prefactor is at most √N, which it is at L = 0; the second is at
most the Perron ratio ψᵢ/min ψ, which it is at L = 0. Neither grows with L. With minⱼ in place of maxⱼ the same bounds
D_n from below. So Σ_{n>L} wₙ D_n(i) is at most c_i Σ_{n>L} wₙ λⁿ, which is finite for α > 1, and for α = 1 where
T < 1/ln λ₁.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_positive, kind_of
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.met.methods import check_one_trial
from panconv.paths import Walks
from panconv.spectral.perron import log_perron, row_log_sum
from panconv.weights import PowerLaw

_MOST_TERMS = 2**20  # of a sum that is taken term by term
_AT_ONCE = 2**16  # numbers that it is taken from at a time
LONGEST = 10_000  # the longest L that is looked for


class Cutoff(NamedTuple):
    """What the paths longer than L bring, at most and at least."""

    L: int
    bound: float  # of the tail, at most: see `of`
    least: float  # of the tail, at least
    of: str  # what is bounded: "of Z at the worst node", or "in the norm" or "in the row sums" of M
    prefactor: str  # of λⁿ at the worst node: "norm" (at most √N), "Perron" (at most ψᵢ/min ψ), or "1"
    growth: float  # λ₁ of the base; 1 where every length is divided by its own D_n


def cutoff(M: MET) -> Cutoff:
    """A bound on what the cutoff at L leaves out, for weights wₙ = exp(−n^α/T) that go on beyond L.

    Methods 1, 2, 7, 10, 11 divide by Z: the bound is on the tail's share of Zᵢ = Σₙ wₙ D_n(i), summed without end,
    at the node where it is largest; call it t. The rows of all but method 2 then move by at most 2t in the sum of
    their absolute values, and the M of method 2 by at most 3t in the spectral norm. The others are bounded by
    Σ_{n>L} wₙ: methods 3, 4 and 8, whose terms have rows of sum 1, in the largest row sum of absolute values; 5, 6
    and 9, whose terms have norm 1, in the spectral norm. Of these, 3, 4, 5, 8 and 9 attain it on a graph that has
    edges.

    Args:
        M: walks up to L with `PowerLaw` weights of one temperature, on a graph of weights of at least 0; undirected,
            but for methods 3, 4 and 8.

    Raises ValueError where the sum over all lengths diverges.

    >>> triangle = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])  # D_n = 2ⁿ: Σ (2/e²)ⁿ, a geometric series
    >>> found = cutoff(MET(Walks(triangle, L=2), PowerLaw(2, temperature=0.5), method=1))
    >>> round(found.bound, 6), round((2 * math.exp(-2)) ** 3, 6)
    (0.01983, 0.01983)
    """
    law = _checked(M)
    return next(_cutoffs(M, law, M.paths.L))


def sufficient_length(M: MET, tolerance: float = 1e-3, longest: int = LONGEST) -> int | None:
    """The smallest L whose `cutoff` is at most a tolerance; None where it is beyond `longest`.

    Args:
        M: as in `cutoff`; its own L does not matter.
        tolerance: above 0.
        longest: where to stop looking: each length is a product with the graph.
    """
    tolerance, longest = checked_positive(tolerance, "tolerance"), checked_count(longest, "longest", 0)
    return next((each.L for each in _cutoffs(M, _checked(M), 0, longest) if each.bound <= tolerance), None)


def _cutoffs(M: MET, law: PowerLaw, first: int, last: int | None = None) -> Iterator[Cutoff]:
    """The bounds for L = first … last, one step of the walk after the other."""
    lengths = range(first, (first if last is None else last) + 1)
    if M.rule.overall is None:
        of = "in the row sums of M" if _by_rows(M) else "in the norm of M"
        a, receives = M.paths.adj.operands(torch.float64)[0], M.paths.adj.row_sums() > 0
        edges, attained = bool(receives.any()), bool(receives[a.col[a.value > 0]].all()) and M.rule.per_length != "sym"
        for L in lengths:
            tail = math.exp(float(_log_tail(law, torch.zeros(1, dtype=torch.float64), L))) if edges else 0.0
            yield Cutoff(L, tail, tail if attained else 0.0, of, "1", 1.0)
        return
    for L, counted in enumerate(_counted(M, law, lengths[-1])):
        if L in lengths:
            yield _share(law, L, *counted)


class _States(NamedTuple):
    """What bounds the growth of the counts, on each node that of its component."""

    log_psi: Tensor  # (N,)
    most: Tensor  # (N,): log of the largest (Aψ)ᵢ/ψᵢ: at least log λ
    least: Tensor  # (N,): log of the smallest: at most log λ
    component: Tensor  # (N,)

    def over(self, values: Tensor, how: str) -> Tensor:
        """The largest or smallest value of each component, or log Σ exp, at its nodes."""
        empty = torch.full_like(values, torch.inf if how == "amin" else -torch.inf)
        if how != "sum":
            return empty.scatter_reduce(0, self.component, values, how)[self.component]
        top = self.over(values, "amax")
        shift = top.where(top > -torch.inf, 0.0)
        total = torch.zeros_like(values).index_add(0, self.component, (values - shift).exp())
        return total[self.component].log() + shift


def _counted(M: MET, law: PowerLaw, last: int) -> Iterator[tuple[_States, Tensor, Tensor]]:
    """The states, log D_n and log Σ_{m≤n} wₘ D_m for n = 0 … last, in logarithms: counts leave floating point."""
    adj = M.paths.adj
    a, row = adj.operands(torch.float64)[0], adj.row
    states = _states(adj)
    _check_converges(law, float(states.most.max()) if adj.num_nodes else -math.inf)
    log_D = log_Z = torch.zeros_like(states.log_psi)
    yield states, log_D, log_Z
    for n in range(1, last + 1):
        log_D = row_log_sum(a, row, log_D)
        log_Z = torch.logaddexp(log_Z, log_D + law.log_at(torch.tensor([n], device=log_D.device)))
        yield states, log_D, log_Z


def _states(adj: Adjacency) -> _States:
    """ψ, and what it bounds λ by, however far its iteration has come; of bases over their degree they are known.

    λ is 1, and ψ is D^½1 where the degree stands on both sides, 1 where it stands on the left: Pψ = ψ there too, though
    P is not symmetric, so that its norm bounds nothing; but it is never the smaller of the two bounds.
    """
    if adj.left is not None:
        there = adj.left > 0  # 0 on an isolated node
        zeros = torch.zeros(adj.num_nodes, dtype=torch.float64, device=adj.device)
        log_psi = zeros if adj.right is None else -adj.left.double().where(there, 1.0).log()
        growth = zeros.where(there, -torch.inf)
        return _States(log_psi, growth, growth, adj.components)
    log_psi = log_perron(adj)
    grown = row_log_sum(adj.operands(torch.float64)[0], adj.row, log_psi) - log_psi  # −∞ on an isolated node
    states = _States(log_psi, grown, grown, adj.components)
    return states._replace(most=states.over(grown, "amax"), least=states.over(grown, "amin"))


def _share(law: PowerLaw, L: int, states: _States, log_D: Tensor, log_Z: Tensor) -> Cutoff:
    """The tail's share of Z: t = τ/(Z_L + τ) grows with the tail τ, so bounds of τ bound t."""
    of = "of Z at the worst node"
    if not log_D.numel():
        return Cutoff(L, 0.0, 0.0, of, "1", 0.0)
    alone = states.most == -torch.inf
    log_D, most, least = (each.where(~alone, 0.0) for each in (log_D, states.most, states.least))
    ratio = log_D - L * most - states.log_psi
    by_norm = states.over(2 * log_D, "sum") / 2 - L * most
    by_perron = states.log_psi + states.over(ratio, "amax")
    tail = torch.minimum(by_norm, by_perron) + _log_tail(law, most, L)
    low = states.log_psi + states.over(log_D - L * least - states.log_psi, "amin") + _log_tail(law, least, L)
    share, at_least = (torch.sigmoid(each - log_Z).masked_fill(alone, 0.0) for each in (tail, low))
    worst = share.argmax()
    prefactor = "norm" if by_norm[worst] < by_perron[worst] else "Perron"
    return Cutoff(L, float(share[worst]), float(at_least.max()), of, prefactor, float(states.most.max().exp()))


def _log_tail(law: PowerLaw, log_growth: Tensor, L: int) -> Tensor:
    """log Σ_{n>L} wₙ λⁿ, of log λ (N,), from above; terms that follow a halving are bounded by a geometric series."""
    kinds, which = log_growth.unique(return_inverse=True)
    ratio = kinds + law.log_at(torch.ones(1, device=kinds.device))  # of one term to the one before, where α = 1
    if law.alpha == 1:
        return ((L + 1) * ratio - torch.log(-torch.expm1(ratio)))[which]
    total, block = torch.full_like(kinds, -torch.inf), max(16, _AT_ONCE // max(len(kinds), 16))
    for first in range(L + 1, L + 1 + _MOST_TERMS, block):
        n = torch.arange(first, first + block, dtype=torch.float64, device=kinds.device).unsqueeze(1)
        terms = n * kinds + law.log_at(n.ravel()).unsqueeze(1)  # (block, kinds): concave in n
        total = torch.logaddexp(total, torch.logsumexp(terms, 0))
        step = terms[-1] - terms[-2]
        if float(step.max()) <= -math.log(2):
            rest = terms[-1] + step - torch.log(-torch.expm1(step))
            return torch.logaddexp(total, rest)[which]
    raise ValueError(
        f"with alpha = {law.alpha:g} and T = {float(law.T()):g} the terms grow beyond n = {L + _MOST_TERMS:,}, where "
        f"λ₁ = {float(kinds.max().exp()):.4g}: take a lower temperature or a larger alpha"
    )


def _check_converges(law: PowerLaw, log_growth: float) -> None:
    """Refuses a sum over all lengths that has no end."""
    T = float(law.T())
    if law.alpha == 1 and log_growth >= 1 / T:
        raise ValueError(
            f"the sum over all lengths diverges: with alpha = 1 and T = {T:g} it needs T < 1/ln λ₁ = "
            f"{1 / log_growth:.4g}, as λ₁ = {math.exp(log_growth):.4g}: take a lower temperature or alpha above 1"
        )


def _checked(M: Any) -> PowerLaw:
    """The law of the weights, if the bound covers the operator."""
    if not isinstance(M, MET):
        raise TypeError(f"M must be a MET, such as MET(Walks(adj, L), PowerLaw(L), method=1), got {kind_of(M)}")
    if not isinstance(M.weights, PowerLaw):
        raise TypeError(
            f"weights must be a PowerLaw, which says E(n) for every n, got {type(M.weights).__name__}: L+1 numbers say "
            "nothing of longer paths"
        )
    check_one_trial(M.weights)
    if not isinstance(M.paths, Walks):
        raise TypeError(f"paths must be Walks, whose number λ₁ bounds, got {type(M.paths).__name__}")
    adj = M.paths.adj
    if adj.is_signed or adj.is_tracked:
        what = "is negative somewhere" if adj.is_signed else "asks for a gradient"
        raise ValueError(f"edge_weight {what}, which the bound does not cover: pass weights of at least 0, detached")
    if not _by_rows(M) and not adj.is_undirected:
        raise ValueError(
            f"adj is directed, where λ₁ does not bound the paths of method {M.method}: add the reverse edges, or use "
            "method 3, 4 or 8"
        )
    law = copy.deepcopy(M.weights).requires_grad_(False)
    if law.alpha < 1:  # where training may take it: the terms then fall ever more slowly, and no series bounds them
        raise ValueError(f"alpha must be at least 1 for a bound, got {law.alpha:g}: take a law whose alpha is fixed")
    return law


def _by_rows(M: MET) -> bool:
    """Whether each length has rows of sum 1, directed graphs included."""
    return M.rule.overall is None and (M.rule.per_length == "row" or M.rule.base == "D⁻¹A")
