"""The path sums G(n) of each family, as G(n) = 2^E(n, i) · H(n): whatever the weights, H stays near 1."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from panconv.met.reference.hyperdual import LD, Array, Number, exponents, joined, power_of_2

_DEAD = -(10**12)  # the exponent of 0
MOST_LEVELS = 2048
ROUNDING = 1e-16


class Paths(NamedTuple):
    """G(0), G(1) …, up to L or to where they end, or one for each level of length."""

    H: Number  # (n, i, j)
    E: Array  # (n, i) int64


def walks(B: Number, L: int) -> Paths:
    """G(n) = Bⁿ (eq. 5), some lengths at a time: B^(m+k) = B^k · B^m, each row by its own exponent."""
    N = B.value().shape[-1]
    powers = _powers(B, min(L, _steps_in_range(B)))
    size = powers.size()
    H, E = [_identity(N)], [np.zeros((1, N), np.int64)]
    while (left := L + 1 - sum(map(len, E))) > 0:
        last, e = H[-1][-1:], np.where(H[-1].size()[-1].sum(-1) > 0, E[-1][-1], _DEAD)
        k = min(left, len(size))
        e_of_terms = np.where(size[:k] > 0, exponents(size[:k]) + e, _DEAD)
        top = e_of_terms.max(-1)
        top = np.where(top > _DEAD / 2, top, 0)
        H.append(powers[:k].scaled(power_of_2(e - top[..., None])) @ last)
        E.append(top)
    return Paths(joined(H, -3), np.concatenate(E))


def _steps_in_range(B: Number) -> int:
    """As many steps as 80-bit numbers hold the products of, with room for derivatives."""
    size = B.size()
    widest = abs(exponents(size[size > 0])).max(initial=1)
    return int(np.clip(5000 // (widest + 4), 1, 32))


def _powers(B: Number, most: int) -> Number:
    """B, B² … B^most."""
    Q = B[None]
    while (have := Q.value().shape[0]) < most:
        Q = joined([Q, Q[: most - have] @ Q[-1:]], -3)
    return Q


def shortest(B: Number, L: int) -> Paths:
    """Along as few hops as can be: G(n) = G(n−1)·B where no shorter path was found. An edge is where B is not 0."""
    N = B.value().shape[-1]
    edge = B.value() != 0
    frontier = found = np.eye(N, dtype=bool)
    G = [_identity(N)]
    for _ in range(min(L, N - 1)):
        frontier = frontier @ edge & ~found
        found = found | frontier
        G.append((G[-1] @ B[None]).scaled(frontier))
    return _normalised(joined(G, -3))


def self_avoiding(B: Number, L: int) -> Paths:
    """V(i, S, j) sums the paths from i to j that visit each node of the set S once; a path grows by a node not in S."""
    N = B.value().shape[-1]
    G, V = [_identity(N)], Number.exact(np.eye(N)[:, :, None] * np.eye(N)[:, None])
    for n in range(min(L, N - 1)):
        before, grown = _growth(N, n + 1)
        V = (V @ B[None])[:, before, np.arange(N)].scaled(grown)
        G.append(V.sum(-2)[None])
    return _normalised(joined(G, -3))


@lru_cache
def _growth(N: int, n: int) -> tuple[Array, Array]:
    """For each set T of n + 1 nodes and each node k: the place of T − {k} among the sets of n, and whether T has k."""
    smaller, sets = ([frozenset(c) for c in combinations(range(N), k)] for k in (n, n + 1))
    place = {s: at for at, s in enumerate(smaller)}
    before = [[place.get(t - {k}, 0) for k in range(N)] for t in sets]
    return np.array(before), np.array([[k in t for k in range(N)] for t in sets])


def levels(length: Array, L: int, share: float = ROUNDING) -> tuple[Paths, Array] | None:
    """The number of walks of up to L steps by their length l = Σ 1/w, and those lengths; None if they are too many.

    Args:
        length: 1/w of each edge, (N, N); inf where there is none.
        L: the largest number of steps.
        share: lengths that differ by less than this share are counted as one, but not added up as one.
    """
    N = len(length)
    joined = np.isfinite(length)
    steps, group = distinct(length[joined])
    edges = np.zeros((len(steps), N, N), LD)
    receiver, sender = np.nonzero(joined)
    edges[group, receiver, sender] = 1
    at, Y = np.zeros(1, LD), np.eye(N, dtype=LD)[None]
    all_at, all_Y = at, Y
    for _ in range(L):
        step, level = np.nonzero(edges.any(1).astype(int) @ Y.any(2).T.astype(int))  # where a walk can go on
        if not len(step):
            break
        at, group = distinct(steps[step] + at[level])
        if len(distinct(np.concatenate([all_at, at]), share)[0]) > MOST_LEVELS:
            return None
        Y = _grouped(edges[step] @ Y[level], group)
        all_at, group = distinct(np.concatenate([all_at, at]))
        all_Y = _grouped(np.concatenate([all_Y, Y]), group)
    return _normalised(Number.exact(all_Y)), all_at


def distinct(lengths: Array, share: float = ROUNDING) -> tuple[Array, Array]:
    """Lengths that differ by more than a share of themselves, ascending, and to which each one belongs."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    new = np.diff(ordered) > LD(share) * ordered[1:]
    group = np.empty(len(lengths), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(new)])[: len(lengths)]
    return ordered[np.concatenate([[True], new])[: len(lengths)]], group


def _grouped(Y: Array, group: Array) -> Array:
    total = np.zeros((group.max(initial=-1) + 1, *Y.shape[1:]), LD)
    np.add.at(total, group, Y)
    return total


def _identity(N: int) -> Number:
    return Number.exact(np.eye(N)[None])


def _normalised(G: Number) -> Paths:
    size = G.size().sum(-1)
    E = np.where(size > 0, exponents(size), 0)
    return Paths(G.scaled(power_of_2(-E)[..., None]), E)
