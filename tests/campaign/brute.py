"""M by following every path, in 60 digits: slow and simple, to test the oracle with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
from mpmath import exp, mp, mpf, sqrt

from panconv.met.reference.problem import Array, Problem

mp.dps = 60
Matrix = list[list[Any]]


def number(value: Any) -> Any:
    """Every bit of an 80-bit float."""
    high = float(value)
    return mpf(high) + mpf(float(np.longdouble(value) - np.longdouble(high)))


def s_of(problem: Problem, moved: dict[str, Array] | None = None) -> Any:
    """<g, M x>, with the inputs "w", "edge" and "x" replaced."""
    moved = moved or {}
    x, g = moved.get("x", numbers(problem.x)), numbers(problem.g)
    x, g = (a.reshape(len(a), -1, a.shape[-1]) for a in (x, g))
    w, trials = moved.get("w", numbers(problem.weights)), x.shape[1]
    total, N = mpf(0), problem.num_nodes
    for s in range(trials):
        of_trial = w[..., s] if trials > 1 else w
        M = matrix(problem, moved.get("edge"), of_trial)
        for i, j, f in product(range(N), range(N), range(x.shape[-1])):
            total += g[i, s, f] * M[i][j] * x[j, s, f]
    return total


def derivative(problem: Problem) -> Any:
    """The derivative of s along the directions, by central differences: 1e-40 off."""
    h, inputs = mpf(10) ** -15, {"w": problem.weights, "edge": problem.edge_weight, "x": problem.x}
    total = mpf(0)
    for signs in product((1, -1), repeat=len(problem.directions)):
        moved: dict[str, Array] = {}
        for sign, (name, d) in zip(signs, problem.directions, strict=True):
            moved[name] = moved.get(name, numbers(inputs[name])) + numbers(d) * (sign * h)
        total += int(np.prod(signs)) * s_of(problem, moved)
    return total / (2 * h) ** len(problem.directions)


def matrix(problem: Problem, edge_weight: Array | None = None, weights: Array | None = None) -> Matrix:
    """M of one trial."""
    terms = matrices(problem, edge_weight, weights)
    return [[sum(term[i][j] for term in terms) for j in range(problem.num_nodes)] for i in range(problem.num_nodes)]


def matrices(problem: Problem, edge_weight: Array | None = None, weights: Array | None = None) -> list[Matrix]:
    """The terms of M by length."""
    N, m = problem.num_nodes, problem.method
    A = [[mpf(0)] * N for _ in range(N)]
    given = numbers(problem.edge_weight) if edge_weight is None else edge_weight
    for (j, i), v in zip(problem.edges.T, given, strict=True):
        A[i][j] += v
    B = _base(A, {4: "+I", 5: "hat", 7: "hat", 8: "walk", 9: "sym", 10: "sym", 11: "walk"}.get(m, ""))
    at = problem.weights if weights is None else weights
    at = numbers(at) if isinstance(at, np.ndarray) and at.dtype != object else at
    w, G = _weights(problem, at), [[[mpf(0)] * N for _ in range(N)] for _ in range(problem.L + 1)]
    for path in _paths(problem, B):
        n, value = len(path) - 1, mpf(1)
        if problem.family == "effective":
            length = sum(_length(problem, A[i][j]) for i, j in pairwise(path))
            value = exp(-(length ** mpf(problem.alpha)) * exp(-at)) if n else value
        else:
            for i, j in pairwise(path):
                value *= B[i][j]
        G[n][path[0]][path[-1]] += value
    if problem.family != "effective":
        D = [[sum(row) for row in Gn] for Gn in G]
        left, right = {3: (-1, 0), 4: (-1, 0), 6: (-0.5, -0.5)}.get(m, (0, 0))
        G = [_scaled(Gn, Dn, left, right, w[n]) for n, (Gn, Dn) in enumerate(zip(G, D, strict=True))]
    Z = [sum(G[n][i][j] for n in range(len(G)) for j in range(N)) for i in range(N)]
    left, right = (-0.5, -0.5) if m == 2 else (-1, 0) if m in (1, 7, 10, 11) else (0, 0)
    return [_scaled(Gn, Z, left, right, 1) for Gn in G]


def _paths(problem: Problem, B: Matrix) -> Iterator[tuple[int, ...]]:
    """Every path of the family, from receiver to sender."""
    nodes, walks = range(problem.num_nodes), problem.family in ("walks", "effective")
    edge = [[B[i][j] != 0 for j in nodes] for i in nodes]
    distance: dict[tuple[int, int], int] = {}
    for n in range(problem.L + 1):
        for path in product(nodes, repeat=n + 1) if walks else permutations(nodes, n + 1):
            joined, ends = all(edge[i][j] for i, j in pairwise(path)), (path[0], path[-1])
            if joined and (problem.family != "shortest" or distance.setdefault(ends, n) == n):
                yield path


def _base(A: Matrix, kind: str) -> Matrix:
    N = len(A)
    B = [[A[i][j] + (i == j and kind in ("+I", "hat")) for j in range(N)] for i in range(N)]
    left, right = {"hat": (-0.5, -0.5), "walk": (-1, 0), "sym": (-0.5, -0.5)}.get(kind, (0, 0))
    return _scaled(B, [sum(row) for row in B], left, right, 1)


def _scaled(G: Matrix, D: list[Any], left: float, right: float, w: Any) -> Matrix:
    def power(d: Any, p: float) -> Any:
        return 1 if p == 0 else 0 if d == 0 else 1 / d if p == -1 else 1 / sqrt(d)

    return [[w * power(D[i], left) * v * power(D[j], right) for j, v in enumerate(row)] for i, row in enumerate(G)]


def _weights(problem: Problem, at: Any) -> list[Any]:
    if problem.kind == "power-law":
        return [exp(-(mpf(n) ** mpf(problem.alpha)) * exp(-at)) for n in range(problem.L + 1)]
    if problem.kind == "boltzmann":
        return [exp(-e / mpf(problem.temperature)) for e in at]
    return list(at)


def _length(problem: Problem, w: Any) -> Any:
    if problem.width is None or problem.alpha == 1:
        return 1 / w
    return mpf(float(np.rint(float(1 / w) / problem.width))) * mpf(problem.width)


def numbers(array: Any) -> Any:
    if isinstance(array, np.ndarray) and array.dtype == object:
        return array
    return np.vectorize(number, otypes=[object])(array) if np.ndim(array) else number(array)
