"""M itself, straight from the paper's equations.

M = Z^−a · Σₙ wₙ · D_n^−b · G(n) · D_n^−b' · Z^−a'        (eqs. 6, 7, 10 and the seven methods of the appendix)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from panconv.met.reference.bases import Base, Refused, adjacency, base
from panconv.met.reference.families import Paths, levels, self_avoiding, shortest, walks
from panconv.met.reference.hyperdual import LD, Array, Number, exponents, power_of_2
from panconv.met.reference.problem import Problem

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
    10: ("D^−½AD^−½", None, "row"),
    11: ("D⁻¹A", None, "row"),
}


class Operator(NamedTuple):
    """M and what it was divided by, with everything that a refusal hangs on."""

    M: Number  # (N, S, N), M[i, s, j]; for the terms (n, N, S, N)
    D: Number  # (n, N), times 2^E
    E: Array
    Z: Number | None  # (N, S), times 2^shift
    shift: Array
    log_w: Array  # (n, S), of |wₙ|


def directions(problem: Problem, of: str) -> dict[int, Array]:
    """The directions along an input by their bit: 1 for the first, 2 for the second."""
    return {1 << at: np.asarray(d, LD) for at, (name, d) in enumerate(problem.directions) if name == of}


@lru_cache(maxsize=4)
def base_of(problem: Problem) -> Base:
    return base(METHODS[problem.method][0], adjacency(problem, directions(problem, "edge")))


@lru_cache(maxsize=4)
def operator_of(problem: Problem) -> Operator:
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
        present = (w.size()[:, None] > 0) & (D.uncancelled()[..., None] > 0)
        shift = np.where(present.any(0), np.where(present, both, -(10**18)).max(0), 0)
    u = w[:, None].scaled(power_of_2(both - shift))  # (n, N, S)
    if problem.quantity == "terms":
        M = u[..., None] * G[:, :, None]
        rows = M.sum(-4).sum(-1)
    else:  # Σₙ wₙ G(n), row by row: (N, S, n) @ (N, n, N)
        M = u.linear(lambda p: np.moveaxis(p, 1, -1)) @ G.linear(lambda p: np.swapaxes(p, 1, 2))
        rows = M.sum(-1)
    if overall == "row":  # Z⁻¹ Σ: methods 1, 7, 10, 11
        M = _like(M, rows.power(-1)[..., None]) * M
    elif overall == "sym":  # Z^−½ Σ Z^−½: method 2
        root = rows.power(-0.5)
        ends = root[..., None] * root.linear(lambda p: np.swapaxes(p, 1, 2))[None]
        M = _like(M, ends.scaled(_root_of_2(shift[..., None] - shift.T[None]))) * M
    with np.errstate(divide="ignore"):
        log_w = np.log(abs(w.value())) + exponent * np.log(LD(2))
    return Operator(M, D, E, rows if overall else None, shift, log_w)  # Zᵢ = Σₙ wₙ Σⱼ G(n)ᵢⱼ (eq. 4)


def _like(M: Number, factor: Number) -> Number:
    """A factor (N, S, ·) with as many axes as M, which has one more where it is the terms."""
    return factor[None] if M.value().ndim == 4 else factor


def _root_of_2(exponent: Array) -> Array:
    return np.exp2(np.clip(exponent, -16_000, 16_000).astype(LD) / 2)


def _paths_and_weights(problem: Problem) -> tuple[Paths, Number, Array]:
    """G(n), the weights wₙ = number · 2^exponent, (n, S), and those exponents."""
    A, B, _ = base_of(problem)
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
    found = levels_of(problem)
    if found is None:
        raise Refused("levels")
    return found[0], *_weights(problem, found[1])


@lru_cache(maxsize=4)
def levels_of(problem: Problem) -> tuple[Paths, Array] | None:
    """The walks by their length; None where more than 2048 of them differ by a share of 1e-11 at least."""
    length, whole = edge_lengths(problem), problem.width is not None
    found = levels(length, problem.L, 1e-11)
    return (found[0], found[1] * LD(problem.width)) if found is not None and whole else found


def edge_lengths(problem: Problem) -> Array:
    """1/w, or its nearest multiple of the width, half to even, in float64; inf where there is no edge."""
    A = base_of(problem).A.value()
    if problem.width is None:
        return 1 / A
    return np.rint((1 / A).astype(np.float64) / problem.width).astype(LD)


def _weights(problem: Problem, lengths: Array) -> tuple[Number, Array]:
    """wₙ = k(n), exp(−E(n)/T) or exp(−n^α/T), as number · 2^exponent, (n, S)."""
    given = np.asarray(problem.weights, LD)
    if problem.kind == "boltzmann" and METHODS[problem.method][2]:
        given = given - given.min(0)  # an offset cancels in w/Z
    w = Number.exact(given, directions(problem, "w"))
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
    log_T = Number.exact(problem.weights, directions(problem, "w"))
    log_T = log_T if np.ndim(problem.weights) else log_T[None]
    number, exponent = log_T.scaled(-1).exp()
    return number.scaled(power_of_2(exponent))
