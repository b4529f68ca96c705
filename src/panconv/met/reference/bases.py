"""The matrix whose paths are counted, from the edges as they were given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from panconv.met.reference.hyperdual import LD, Array, Number
from panconv.met.reference.problem import Problem


class Refused(Exception):
    """A problem that has no answer; its text is the reason in a word."""


class Base(NamedTuple):
    """A base of the graph, and the row sums that it was divided by."""

    A: Number  # (N, N), A[i, j] from sender j to receiver i
    B: Number  # (N, N)
    degree: Number | None  # (N,)


def adjacency(problem: Problem, directions: dict[int, Array]) -> Number:
    """A: repeated edges are one, or add up in float64 and are rounded once; nearly symmetric weights are averaged."""
    N, (sender, receiver) = problem.num_nodes, problem.edges
    stored = np.zeros((N, N), bool)
    stored[receiver, sender] = True
    if problem.edge_weight is None and problem.duplicates == "one":
        return Number.exact(stored)
    given = np.ones(len(sender)) if problem.edge_weight is None else np.asarray(problem.edge_weight, np.float64)
    A = _added(N, receiver, sender, given).astype(problem.edge_dtype or "float32")
    if not np.isfinite(A).all():
        raise Refused("overflow")
    slack = 8 * np.finfo(A.dtype).eps * abs(A.T)
    if not directions and (stored == stored.T).all() and (abs(A - A.T) <= slack).all():
        A = A / 2 + A.T / 2  # still in the weights' dtype
    return Number.exact(A, {bit: _added(N, receiver, sender, d.astype(LD)) for bit, d in directions.items()})


def base(name: str, A: Number) -> Base:
    """A, Ã = A+I, Â = D̃^−½ Ã D̃^−½ (the appendix), D⁻¹A and D^−½AD^−½ (Section 3), with D the row sums."""
    B = A + Number.exact(np.eye(len(A.value()))) if name in ("A+I", "Â") else A
    if name in ("A", "A+I"):
        return Base(A, B, None)
    degree = B.sum(-1)
    if name == "D⁻¹A":
        return Base(A, degree.power(-1)[:, None] * B, degree)
    root = degree.power(-0.5)
    return Base(A, root[:, None] * B * root[None, :], degree)


def components(B: Array) -> Array:
    """Whether two nodes are in the same weakly connected component over non-zero entries, (N, N)."""
    joined = (B != 0) | (B.T != 0) | np.eye(len(B), dtype=bool)
    for _ in range(4):  # paths of up to 2⁴ hops, for N ≤ 16
        joined = joined @ joined
    return joined


def _added(N: int, receiver: Array, sender: Array, given: Array) -> Array:
    total = np.zeros((N, N), given.dtype)
    np.add.at(total, (receiver, sender), given)
    return total
