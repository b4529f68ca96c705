"""What M answers, dense, in NumPy's longest floats, 80 bits on most machines: what the package is held against.

`answer` gives the quantity that a problem asks for, with its magnitude (`panconv.met.reference.hyperdual`) and κ, how
badly it is conditioned: the worst m/(|M||x|) over the nodes; of a derivative of order k at least the (k+1)-th power of
the worst cancellation in what M is divided by. N is at most 16.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from panconv.met.reference.hyperdual import LD, Array, Number
from panconv.met.reference.problem import Problem
from panconv.met.reference.transition import METHODS, base_of, directions, operator_of


class Answer(NamedTuple):
    value: Array
    magnitude: Array
    kappa: float  # the worst over the nodes


@np.errstate(all="ignore")
def answer(problem: Problem) -> Answer:
    """The quantity asked for. Of a problem that is refused it has no meaning."""
    if problem.num_nodes == 0:
        return _empty(problem)
    M = operator_of(problem).M
    quantity = problem.quantity
    M = M.linear(lambda p: np.swapaxes(p, -3, -2))  # ([n,] S, N, N)
    if quantity in ("M.T", "dx"):
        M = M.linear(lambda p: np.swapaxes(p, -1, -2))
    if quantity == "to_sparse":
        return Answer(M.value()[0], M.magnitude()[0], _kappa(M, np.ones((1, len(M.value()[0]), 1))))
    trials = problem.x.ndim == 3
    given = np.asarray(problem.g if quantity == "dx" else problem.x, LD)
    x = Number.exact(given, directions(problem, "x"))
    x = x.linear(lambda p: np.swapaxes(p, 1, 2)) if trials else x[None]  # (S, N, F)
    kappa = _kappa(M, abs(x.value()))
    if quantity in ("dw", "dedge", "double"):
        g = Number.exact(np.asarray(problem.g))
        g = g.linear(lambda p: np.swapaxes(p, 1, 2)) if trials else g[None]
        s = (g * (M @ x)).linear(lambda p: p.sum((1, 2, 3)))
        bits = 3 if quantity == "double" else 1
        return Answer(s.value(bits), s.magnitude(bits), max(kappa, _divided_by(problem) ** (bits.bit_count() + 1)))
    y = M @ (x[None] if quantity == "terms" else x)
    y = y.linear(lambda p: np.swapaxes(p, -3, -2) if trials else p[..., 0, :, :])
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
    found, worst = operator_of(problem), 1.0
    for number in (base_of(problem).degree, found.D if per_length else None, found.Z if overall else None):
        if number is not None:
            b = number.uncancelled()
            worst = max(worst, float(np.where(b > 0, b / abs(number.value()), 1).max(initial=1)))
    return worst
