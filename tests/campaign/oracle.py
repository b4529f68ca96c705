"""What comes of a problem: a refusal, or the answer of `panconv.met.reference`, and how near to it is right.

`predicted` says whether there is an answer or a refusal, and `tolerance` gives the bound |y − y*| ≤ 8(L + 2)·eps·m
within which an answer is right. The rules for what is refused:

- "free": trained weights that may change sign (Free) where the method divides by Z.
- "effective": other than PowerLaw weights, several trials, a method other than 1 and 2, an edge weight ≤ 0, or a
  gradient of the edge weights for α > 1. "levels": more than 2048 distinct lengths for α > 1.
- "trials": `to_sparse` of several trials. "overflow": repeated edges add up to more than their dtype holds.
- "degree", "D_n", "Z": what is divided by is negative, or 0 by cancellation: at most 4·eps, 4(n + 1)·eps, 4(L + 1)·eps
  times what it were were every cancellation an addition, with eps that of float64. Where that is 0 too, nothing
  arrives, and 1/0 is 0 (and does not vary).
- "growth": without a scaling, wₙ D_n leaves the range of float64, signs aside.
- "span": the roots of Z (method 2) or D_n (method 6) span more than M's dtype holds within a component; more than
  float64 holds on a graph that is undirected and positive, whose M has no entry beyond 1, unless its edges are trained.

Either is right ("either") within a factor of 16 of a threshold; between the distinct lengths that walks have and those
that sums of edges have; where `width` makes lengths that float64 does not hold as whole numbers; and where the path
sums of a graph with negative weights leave 10^±30, or the numbers of walks by length 10^300.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from panconv.met.reference import Answer
from panconv.met.reference.bases import Refused, components
from panconv.met.reference.families import MOST_LEVELS, distinct
from panconv.met.reference.hyperdual import LD, Array, Number
from panconv.met.reference.problem import Problem
from panconv.met.reference.transition import METHODS, base_of, edge_lengths, levels_of, operator_of

EPS = 2.0**-52  # of float64, in which thresholds are stated
EPS_OF = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
TINY_OF = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
LARGEST_OF = {"float64": 2.0**1023, "float32": 2.0**127, "float16": 65504.0, "bfloat16": 2.0**127}


class Prediction(NamedTuple):
    outcome: str  # "value", "refused" or "either"
    reason: str = ""


# What a message must speak of for the refusal to be for that reason.
SPEAKS_OF = {
    "free": r"may change sign|may drive",
    "effective": r"effective length|a length 1/w|sorts walks by length|base must be A",
    "levels": r"effective length",
    "trials": r"one trial",
    "overflow": r"adds up to|must be finite|leave the range|multiply edge weights",
    "degree": r"row of [AÂ]",
    "D_n": r"paths of length",
    "Z": r"partition function Z",
    "growth": r"overflow|leave the range|more than float64 holds",
    "span": r"span",
}


def computes_in(problem: Problem) -> str:
    return "float64" if problem.dtype == "float64" else "float32"


# ---------------------------------------------------------------------- what is refused


@np.errstate(all="ignore")
def predicted(problem: Problem) -> Prediction:
    """Whether there is an answer, a refusal, or either."""
    either = ""
    try:
        for reason, refused, doubtful in _doubts(problem):
            if refused:
                return Prediction("refused", reason)
            either = either or (reason if doubtful else "")
    except Refused as refusal:
        return Prediction("refused", str(refusal))
    return Prediction("either", either) if either else Prediction("value")


@np.errstate(all="ignore")
def may_refuse_for(problem: Problem) -> list[str]:
    """All reasons for which a problem may be refused, of which the first that is met will do."""
    found = []
    try:
        found += [reason for reason, refused, doubtful in _doubts(problem) if refused or doubtful]
    except Refused as refusal:
        found.append(str(refusal))
    return found


def _doubts(problem: Problem) -> Iterator[tuple[str, bool, bool]]:
    """Each reason to refuse, whether it is one here, and whether it may be one."""
    _, per_length, overall = METHODS[problem.method]
    power_law, one_trial = problem.kind == "power-law", problem.weights.ndim == (problem.kind != "power-law")
    yield "free", problem.kind == "free" and overall is not None, False
    yield "trials", problem.quantity == "to_sparse" and not one_trial, False
    A, _, degree = base_of(problem)
    if problem.family == "effective":
        sender, receiver = problem.edges
        sorted_by_length = problem.alpha != 1 and "edge" in [name for name, _ in problem.directions]
        unfit = problem.method not in (1, 2) or not power_law or not one_trial or sorted_by_length
        unfit = unfit or bool((A.value()[receiver, sender] <= 0).any())
        yield "effective", unfit, False
        if unfit:
            return  # there is no M to ask further
        if problem.alpha != 1 and problem.num_nodes:
            yield from _too_many_levels(problem)
    if problem.num_nodes == 0:
        return
    if degree is not None:
        yield "degree", *_cancelled(degree, 4)
    found = operator_of(problem)
    if not (per_length or overall):
        sizes = found.log_w[:, None] + _log(found.D.uncancelled(), found.E)[..., None]
        beyond = sizes.max() - np.log(np.finfo(np.float64).max)
        yield "growth", beyond > np.log(16), beyond > -np.log(16)
        return
    n = np.arange(len(found.E))[:, None]
    if per_length:
        yield "D_n", *_cancelled(found.D, 4 * (n + 1))
    if found.Z is not None:
        yield "Z", *_cancelled(found.Z, 4 * (problem.L + 1))
    largest = _log(found.D.uncancelled(), found.E)
    if (A.value() < 0).any():
        smallest = _log(abs(found.D.value()), found.E)
        ends = largest.max(), -np.where(found.D.value() != 0, smallest, 0).min()
        yield "overflow", False, max(ends) > np.log(1e30)
    if problem.family == "effective" and problem.alpha != 1:
        yield "levels", False, largest.max() > np.log(1e300)
    yield from _too_wide(problem)


def _cancelled(number: Number, factor: Array | int) -> tuple[bool, bool]:
    """Whether any of it is negative, or 0 by cancellation; and whether that is within a factor of 16."""
    v, b = number.value(), number.uncancelled()
    threshold = factor * EPS * b
    return bool(((b > 0) & (v < threshold / 16)).any()), bool(((b > 0) & (v <= 16 * threshold)).any())


def _too_wide(problem: Problem) -> Iterator[tuple[str, bool, bool]]:
    """The span of the roots that both sides are scaled by, within a component."""
    if problem.method not in (2, 6):
        return
    beyond = _half_span(problem) - 0.9 * np.log(np.finfo(_held_in(problem)).max)
    yield "span", beyond > np.log(16), beyond > -np.log(16)


def _half_span(problem: Problem) -> np.longdouble:
    """The log of the largest root of Zᵢ/Zⱼ (method 2) or D_n(i)/D_n(j) (method 6) within a component."""
    found, together = operator_of(problem), components(base_of(problem).A.value())
    log = _log(found.D.value(), found.E) if found.Z is None else _log(found.Z.value(), found.shift).T  # (·, N)
    apart = log[:, :, None] - log[:, None]
    return np.where(together & np.isfinite(apart), apart, 0).max(initial=0) / 2


def _held_in(problem: Problem) -> str:
    """What the roots that both sides are scaled by must be held in."""
    A, trained = base_of(problem).A.value(), "edge" in [name for name, _ in problem.directions]
    positive = problem.method == 6 or problem.kind in ("boltzmann", "power-law") or bool((problem.weights >= 0).all())
    bounded = positive and not trained and bool((A >= 0).all()) and np.array_equal(A, A.T)
    return "float64" if bounded else computes_in(problem)


def _too_many_levels(problem: Problem) -> Iterator[tuple[str, bool, bool]]:
    """The distinct lengths of walks, merged where nearly equal, at least; and those of sums of edges, at most."""
    length = edge_lengths(problem)
    steps = distinct(length[np.isfinite(length)])[0]
    at = most = np.zeros(1, LD)
    for _ in range(problem.L if len(steps) else 0):
        at = distinct((steps[:, None] + at).ravel())[0]
        most = distinct(np.concatenate([most, at]))[0]
        if len(most) > MOST_LEVELS:
            break
    unheld = problem.width is not None and steps.max(initial=0) * max(problem.L, 1) > 2**53
    yield "levels", levels_of(problem) is None, len(most) > MOST_LEVELS or unheld


def _log(mantissa: Array, exponent: Array) -> Array:
    """log of mantissa · 2^exponent; −∞ where it is not positive."""
    return np.log(np.where(mantissa > 0, mantissa, 0)) + exponent * np.log(LD(2))


# ---------------------------------------------------------------------- the bound


@np.errstate(all="ignore")
def tolerance(problem: Problem, answer: Answer) -> Array:
    """8(L + 2)·(eps·m + tiny·size), and one rounding where the output is of half precision.

    tiny is the smallest normal number: an entry of M below it may be lost, and is multiplied by what M is applied to,
    whose size (1 + Σ|x|, times 1 + Σ|·| of what a derivative is dotted with) goes with it; of effective walks so may an
    edge, with all walks over it, and of method 2 a factor wₙ/Z below float64's, times the root of Zᵢ/Zⱼ.
    Infinite where m is beyond 1 % of the range, or half precision does not hold the value. That a gradient is rounded
    to a coarser dtype of its input is not in it.
    """
    c, steps = computes_in(problem), 8 * (problem.L + 2)
    lost = LD(TINY_OF[c])
    if problem.method == 2 and problem.num_nodes:
        lost = lost + TINY_OF["float64"] * np.exp(_half_span(problem))
    bound = steps * (EPS_OF[c] * answer.magnitude + lost * _size(problem))
    bound = np.where(answer.magnitude <= LARGEST_OF[c] / 100, bound, np.inf)
    half, size = problem.dtype, abs(answer.value) + bound
    if half not in (c, "float64") and problem.quantity in ("M", "M.T", "dx", "to_sparse"):
        bound = bound + EPS_OF[half] * (size / 2 + TINY_OF[half])
        bound = np.where(size <= LARGEST_OF[half], bound, np.inf)
    elif half != c and "x" in [name for name, _ in problem.directions]:
        bound = bound + EPS_OF[half] * (answer.magnitude + TINY_OF[half])
    return np.where(np.isfinite(answer.value), bound, np.inf)


def _size(problem: Problem) -> np.longdouble:
    applied = [] if problem.quantity == "to_sparse" else [problem.g if problem.quantity == "dx" else problem.x]
    if problem.quantity in ("dw", "dedge", "double"):
        applied += [problem.g, *(d for _, d in problem.directions)]
    total = LD(1)
    for array in applied:
        total = total * (1 + abs(np.asarray(array, LD)).sum())
    return total * _walks_over_an_edge(problem) if problem.family == "effective" and problem.alpha == 1 else total


def _walks_over_an_edge(problem: Problem) -> np.longdouble:
    """How much is lost with an edge whose factor exp(−1/(wT)) is below tiny: all walks over it, and their slope."""
    A = base_of(problem).A.value()
    walks = (1 + (A > 0).sum(1).max(initial=0)) ** LD(problem.L)
    slope = -np.log(LD(TINY_OF["float64"]))  # of the factor by log T, in units of the factor; by w it is 1/w more
    by = {"w": slope, "edge": slope * (1 / A[A > 0]).max(initial=1)}
    for name, _ in problem.directions:
        walks = walks * by.get(name, LD(1))
    return walks
