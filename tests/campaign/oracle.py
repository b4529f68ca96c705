"""What M is, straight from the paper's equations: dense, in 80-bit floats, and without a line of panconv.

    M = Z^−a · Σₙ wₙ · D_n^−b · G(n) · D_n^−b' · Z^−a'        (eqs. 6, 7, 10 and the seven methods of the appendix)

`predicted` says whether there is an answer or a refusal, `answer` gives it with its magnitude (`campaign.hyperdual`),
and `tolerance` the bound |y − y*| ≤ 8(L + 2)·eps·m within which an answer is right. The rules for what is refused:

- "free": trained weights that may change sign (Free) where the method divides by Z.
- "effective": other than PowerLaw weights, several trials, a method other than 1 and 2, an edge weight ≤ 0, or a
  gradient of the edge weights for α > 1. "levels": more than 2048 distinct lengths for α > 1.
- "trials": `to_sparse` of several trials. "overflow": repeated edges add up to more than their dtype holds.
- "degree", "D_n", "Z": what is divided by is negative, or 0 by cancellation: at most 4·eps, 4(n + 1)·eps, 4(L + 1)·eps
  times what it were were every cancellation an addition, with eps that of float64. Where that is 0 too, nothing
  arrives, and 1/0 is 0 (and does not vary).
- "span": the roots of Z (method 2) or D_n (method 6) span more than M's dtype holds within a component.

Either is right ("either") within a factor of 16 of a threshold; between the distinct lengths that walks have and those
that sums of edges have; where `width` makes lengths that float64 does not hold as whole numbers; and where the path sums
of a graph with negative weights leave 10^±30, or the numbers of walks by length 10^300.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from campaign.bases import Base, Refused, adjacency, base, components
from campaign.families import MOST_LEVELS, Paths, distinct, levels, self_avoiding, shortest, walks
from campaign.hyperdual import LD, Array, Number, exponents, power_of_2
from campaign.problem import Problem

METHODS = {  # base, scaling of each length by D_n, scaling of the sum by Z: on the left, or by roots on both sides
    1: ("A", None, "row"),
    2: ("A", None, "sym"),
    3: ("A", "row", None),
    4: ("A+I", "row", None),
    5: ("Â", None, None),
    6: ("A", "sym", None),
    7: ("Â", None, "row"),
    8: ("D⁻¹A", None, None),
    9: ("D^−½AD^−½", None, None),
}
EPS = 2.0**-52  # of float64, in which thresholds are stated
EPS_OF = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
TINY_OF = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
LARGEST_OF = {"float64": 2.0**1023, "float32": 2.0**127, "float16": 65504.0, "bfloat16": 2.0**127}


class Prediction(NamedTuple):
    outcome: str  # "value", "refused" or "either"
    reason: str = ""


class Answer(NamedTuple):
    value: Array
    magnitude: Array
    kappa: float  # the worst over the nodes


class Operator(NamedTuple):
    """M and what it was divided by, with everything that a refusal hangs on."""

    M: Number  # (N, S, N), M[i, s, j]; for the terms (n, N, S, N)
    D: Number  # (n, N), times 2^E
    E: Array
    Z: Number | None  # (N, S), times 2^shift
    shift: Array


def computes_in(problem: Problem) -> str:
    return "float64" if problem.dtype == "float64" else "float32"


# ---------------------------------------------------------------------- the operator


def _directions(problem: Problem, of: str) -> dict[int, Array]:
    """The directions along an input by their bit: 1 for the first, 2 for the second."""
    return {1 << at: np.asarray(d, LD) for at, (name, d) in enumerate(problem.directions) if name == of}


@lru_cache(maxsize=4)
def _base(problem: Problem) -> Base:
    return base(METHODS[problem.method][0], adjacency(problem, _directions(problem, "edge")))


@lru_cache(maxsize=4)
def _operator(problem: Problem) -> Operator:
    _, per_length, overall = METHODS[problem.method]
    (H, E), w, exponent = _paths_and_weights(problem)
    D, G, e = H.sum(-1), H, E
    if per_length == "row":  # D_n⁻¹ G(n): methods 3, 4
        G, e = D.power(-1)[..., None] * H, np.zeros_like(E)
    elif per_length == "sym":  # D_n^−½ G(n) D_n^−½: method 6
        root, e = D.power(-0.5), np.zeros_like(E)
        G = (root[..., None] * H * root[:, None]).scaled(_root_of_2(E[..., None] - E[:, None]))
    both = exponent[:, None] + e[..., None]  # (n, N, S): wₙ D_n is near 2^both
    shift = np.zeros(both.shape[1:], np.int64)
    if overall:
        present = (w.size()[:, None] > 0) & (D.size()[..., None] > 0)
        shift = np.where(present.any(0), np.where(present, both, -(10**18)).max(0), 0)
    u = w[:, None].scaled(power_of_2(both - shift))  # (n, N, S)
    if problem.quantity == "terms":
        M = u[..., None] * G[:, :, None]
        rows = M.sum(-4).sum(-1)
    else:  # Σₙ wₙ G(n), row by row: (N, S, n) @ (N, n, N)
        M = u.linear(lambda p: np.moveaxis(p, 1, -1)) @ G.linear(lambda p: np.swapaxes(p, 1, 2))
        rows = M.sum(-1)
    if overall == "row":  # Z⁻¹ Σ: methods 1, 7
        M = _like(M, rows.power(-1)[..., None]) * M
    elif overall == "sym":  # Z^−½ Σ Z^−½: method 2
        root = rows.power(-0.5)
        ends = root[..., None] * root.linear(lambda p: np.swapaxes(p, 1, 2))[None]
        M = _like(M, ends.scaled(_root_of_2(shift[..., None] - shift.T[None]))) * M
    return Operator(M, D, E, rows if overall else None, shift)  # Zᵢ = Σₙ wₙ Σⱼ G(n)ᵢⱼ (eq. 4)


def _like(M: Number, factor: Number) -> Number:
    """A factor (N, S, ·) with as many axes as M, which has one more where it is the terms."""
    return factor[None] if M.value().ndim == 4 else factor


def _root_of_2(exponent: Array) -> Array:
    return np.exp2(np.clip(exponent, -16_000, 16_000).astype(LD) / 2)


def _paths_and_weights(problem: Problem) -> tuple[Paths, Number, Array]:
    """G(n), the weights wₙ = number · 2^exponent, (n, S), and those exponents."""
    A, B, _ = _base(problem)
    if problem.family == "effective":
        return _effective(problem, A)
    if problem.family == "walks":
        paths = walks(B, problem.L)
    else:  # an edge of weight 0 is part of no path
        paths = {"shortest": shortest, "self_avoiding": self_avoiding}[problem.family](
            B.scaled(A.value() != 0), problem.L
        )
    w, exponent = _weights(problem, np.arange(problem.L + 1))
    return paths, w[: len(paths.E)], exponent[: len(paths.E)]


def _effective(problem: Problem, A: Number) -> tuple[Paths, Number, Array]:
    """Each walk by exp(−l^α/T) of its length l = Σ 1/w (Section 2)."""
    if problem.alpha == 1:  # then it is a product along the walk
        factor, exponent = (A.power(-1) * _inverse_temperature(problem)[None]).scaled(-1).exp()
        B = factor.scaled(power_of_2(exponent) * (A.value() > 0))
        return walks(B, problem.L), Number.exact(np.ones((problem.L + 1, 1))), np.zeros((problem.L + 1, 1), np.int64)
    found = _levels(problem)
    if found is None:
        raise Refused("levels")
    return found[0], *_weights(problem, found[1])


@lru_cache(maxsize=4)
def _levels(problem: Problem) -> tuple[Paths, Array] | None:
    length = _edge_lengths(problem)
    found = levels(length, problem.L)
    if found is None or problem.width is None:
        return found
    return found[0], found[1] * LD(problem.width)


def _edge_lengths(problem: Problem) -> Array:
    """1/w, or its nearest multiple of the width, half to even, in float64; inf where there is no edge."""
    A = _base(problem).A.value()
    if problem.width is None:
        return 1 / A
    return np.rint((1 / A).astype(np.float64) / problem.width).astype(LD)


def _weights(problem: Problem, lengths: Array) -> tuple[Number, Array]:
    """wₙ = k(n), exp(−E(n)/T) or exp(−n^α/T), as number · 2^exponent, (n, S)."""
    given = np.asarray(problem.weights, LD)
    if problem.kind == "boltzmann" and METHODS[problem.method][2]:
        given = given - given.min(0)  # an offset cancels in w/Z
    w = Number.exact(given, _directions(problem, "w"))
    if problem.kind == "power-law":
        energy = np.asarray(lengths, LD)[:, None] ** LD(problem.alpha)
        return _inverse_temperature(problem)[None].scaled(-energy).exp()
    w = w if given.ndim == 2 else w[:, None]
    if problem.kind == "boltzmann":
        return w.scaled(-1 / LD(problem.temperature)).exp()
    exponent = exponents(w.size())
    return w.scaled(power_of_2(-exponent)), exponent


def _inverse_temperature(problem: Problem) -> Number:
    """1/T = exp(−log T), (S,)."""
    log_T = Number.exact(problem.weights, _directions(problem, "w"))
    log_T = log_T if np.ndim(problem.weights) else log_T[None]
    number, exponent = log_T.scaled(-1).exp()
    return number.scaled(power_of_2(exponent))


# ---------------------------------------------------------------------- the answer


@np.errstate(all="ignore")
def answer(problem: Problem) -> Answer:
    """The quantity asked for. Of a problem that is refused it has no meaning."""
    if problem.num_nodes == 0:
        return _empty(problem)
    M = _operator(problem).M
    S, quantity = M.value().shape[-2], problem.quantity
    M = M.linear(lambda p: np.swapaxes(p, -3, -2))  # ([n,] S, N, N)
    if quantity in ("M.T", "dx"):
        M = M.linear(lambda p: np.swapaxes(p, -1, -2))
    if quantity == "to_sparse":
        return Answer(M.value()[0], M.magnitude()[0], _kappa(M, np.ones((1, len(M.value()[0]), 1))))
    trials = problem.x.ndim == 3
    given = np.asarray(problem.g if quantity == "dx" else problem.x, LD)
    x = Number.exact(given, _directions(problem, "x"))
    x = x.linear(lambda p: np.swapaxes(p, 1, 2)) if trials else x[None]  # (S, N, F)
    kappa = _kappa(M, abs(x.value()))
    if quantity in ("dw", "dedge", "double"):
        g = Number.exact(problem.g)
        g = g.linear(lambda p: np.swapaxes(p, 1, 2)) if trials else g[None]
        s = (g * (M @ x)).linear(lambda p: p.sum((1, 2, 3)))
        bits = 3 if quantity == "double" else 1
        return Answer(s.value(bits), s.magnitude(bits), max(kappa, _divided_by(problem) ** (bits.bit_count() + 1)))
    y = (M @ (x[None] if quantity == "terms" else x)).linear(
        lambda p: np.swapaxes(p, -3, -2) if trials else p[..., 0, :, :]
    )
    pad = [(0, problem.L + 1 - len(M.value()) if quantity == "terms" else 0)] + [(0, 0)] * (y.value().ndim - 1)
    return Answer(np.pad(y.value(), pad), np.pad(y.magnitude(), pad), kappa)


def _empty(problem: Problem) -> Answer:
    shape: tuple[int, ...] = problem.x.shape
    if problem.quantity in ("dw", "dedge", "double"):
        shape = ()
    elif problem.quantity == "to_sparse":
        shape = (0, 0)
    elif problem.quantity == "terms":
        shape = (problem.L + 1, *shape)
    return Answer(np.zeros(shape, LD), np.zeros(shape, LD), 1.0)


def _kappa(M: Number, x: Array) -> float:
    """The worst m/(|M||x|) over the nodes and columns, m being the magnitude of M x."""
    plain, magnitude = abs(M.value()) @ x, M.magnitude() @ x
    if plain.ndim == 4:  # the terms, all together
        plain, magnitude = plain.sum(0), magnitude.sum(0)
    ratio = np.where(magnitude > 0, magnitude / plain, 1)
    return float(np.nan_to_num(ratio, nan=np.inf, posinf=np.inf).max(initial=1))


def _divided_by(problem: Problem) -> float:
    """The worst cancellation in what is divided by: a derivative meets it once more for each order."""
    _, per_length, overall = METHODS[problem.method]
    found, worst = _operator(problem), 1.0
    for number in (_base(problem).degree, found.D if per_length else None, found.Z if overall else None):
        if number is not None:
            b = number.uncancelled()
            worst = max(worst, float(np.where(b > 0, b / abs(number.value()), 1).max(initial=1)))
    return worst


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


def _doubts(problem: Problem) -> Iterator[tuple[str, bool, bool]]:
    """Each reason to refuse, whether it is one here, and whether it may be one."""
    _, per_length, overall = METHODS[problem.method]
    power_law, one_trial = problem.kind == "power-law", problem.weights.ndim == (problem.kind != "power-law")
    yield "free", problem.kind == "free" and overall is not None, False
    yield "trials", problem.quantity == "to_sparse" and not one_trial, False
    A, B, degree = _base(problem)
    if problem.family == "effective":
        sender, receiver = problem.edges
        sorted_by_length = problem.alpha != 1 and "edge" in [name for name, _ in problem.directions]
        unfit = overall is None or problem.method == 7 or not power_law or not one_trial or sorted_by_length
        yield "effective", unfit or bool((A.value()[receiver, sender] <= 0).any()), False
        if problem.alpha != 1:
            yield from _too_many_levels(problem)
    if problem.num_nodes == 0:
        return
    if degree is not None:
        yield "degree", *_cancelled(degree, 4)
    if not (per_length or overall):
        return
    found = _operator(problem)
    n = np.arange(len(found.E))[:, None]
    if per_length:
        yield "D_n", *_cancelled(found.D, 4 * (n + 1))
    if found.Z is not None:
        yield "Z", *_cancelled(found.Z, 4 * (problem.L + 1))
    largest = _log(found.D.uncancelled(), found.E)
    if (B.value() < 0).any():
        smallest = _log(abs(found.D.value()), found.E)
        ends = largest.max(), -np.where(found.D.value() != 0, smallest, 0).min()
        yield "overflow", False, max(ends) > np.log(1e30)
    if problem.family == "effective" and problem.alpha != 1:
        yield "levels", False, largest.max() > np.log(1e300)
    yield from _too_wide(problem, found, components(A.value()))


def _cancelled(number: Number, factor: Array | int) -> tuple[bool, bool]:
    """Whether any of it is negative, or 0 by cancellation; and whether that is within a factor of 16."""
    v, b = number.value(), number.uncancelled()
    threshold = factor * EPS * b
    return bool(((b > 0) & (v < threshold / 16)).any()), bool(((b > 0) & (v <= 16 * threshold)).any())


def _too_wide(problem: Problem, found: Operator, together: Array) -> Iterator[tuple[str, bool, bool]]:
    """The span of the roots that both sides are scaled by, within a component."""
    if problem.method not in (2, 6):
        return
    if found.Z is not None:
        log = _log(found.Z.value(), found.shift).T  # (S, N)
    else:
        log = _log(found.D.value(), found.E)  # (n, N)
    apart = np.where(together & np.isfinite(log[:, :, None] - log[:, None]), log[:, :, None] - log[:, None], 0)
    beyond = apart.max() / 2 - 0.9 * np.log(np.finfo(computes_in(problem)).max)
    yield "span", beyond > np.log(16), beyond > -np.log(16)


def _too_many_levels(problem: Problem) -> Iterator[tuple[str, bool, bool]]:
    """The distinct lengths of walks, merged where nearly equal, at least; and those of sums of edges, at most."""
    length = _edge_lengths(problem)
    steps = distinct(length[np.isfinite(length)])[0]
    found = levels(length, problem.L)
    shortest_step = steps.min(initial=np.inf, where=steps > 0)
    least = 4 * MOST_LEVELS if found is None else len(distinct(found[1], 1e-8 * min(shortest_step, 1e300))[0])
    at = most = np.zeros(1, LD)
    for _ in range(problem.L):
        at = distinct((steps[:, None] + at).ravel())[0]
        most = distinct(np.concatenate([most, at]))[0]
        if len(most) > MOST_LEVELS or not len(steps):
            break
    unheld = problem.width is not None and steps.max(initial=0) * max(problem.L, 1) > 2**53
    yield "levels", least > MOST_LEVELS, len(most) > MOST_LEVELS or unheld


def _log(mantissa: Array, exponent: Array) -> Array:
    """log of mantissa · 2^exponent; −∞ where it is not positive."""
    return np.log(np.where(mantissa > 0, mantissa, 0)) + exponent * np.log(LD(2))


# ---------------------------------------------------------------------- the bound


@np.errstate(all="ignore")
def tolerance(problem: Problem, answer: Answer) -> Array:
    """8(L + 2)·(eps·m + tiny·size), and one rounding where the output is of half precision.

    tiny is the smallest normal number: an entry of M below it may be lost, and is multiplied by what M is applied to,
    whose size (1 + Σ|x|, times 1 + Σ|·| of what a derivative is dotted with) goes with it. Infinite where m is beyond 1 %
    of the range, or half precision does not hold the value.
    """
    c, steps = computes_in(problem), 8 * (problem.L + 2)
    bound = steps * (EPS_OF[c] * answer.magnitude + TINY_OF[c] * _size(problem))
    bound = np.where(answer.magnitude <= LARGEST_OF[c] / 100, bound, np.inf)
    half, size = problem.dtype, abs(answer.value) + bound
    if half not in (c, "float64") and problem.quantity in ("M", "M.T", "dx", "to_sparse"):
        bound = bound + EPS_OF[half] * (size / 2 + TINY_OF[half])
        bound = np.where(size <= LARGEST_OF[half], bound, np.inf)
    elif half != c and "x" in [name for name, _ in problem.directions]:
        bound = bound + EPS_OF[half] * (answer.magnitude + TINY_OF[half])
    return np.where(np.isfinite(answer.value), bound, np.inf)


def _size(problem: Problem) -> Array:
    applied = [] if problem.quantity == "to_sparse" else [problem.g if problem.quantity == "dx" else problem.x]
    if problem.quantity in ("dw", "dedge", "double"):
        applied += [problem.g, *(d for _, d in problem.directions)]
    total = LD(1)
    for array in applied:
        total = total * (1 + abs(np.asarray(array, LD)).sum())
    return total
