"""The graphs of the cases: which nodes are joined, and how much each edge weighs."""

from __future__ import annotations

import numpy as np

from campaign.levels import REPEATED, SIGNED, Levels
from panconv.met.reference.problem import Array

UNEVEN = ("positive", "signed", "wide")  # weights that can differ by a digit


def edges_of(rng: np.random.Generator, levels: Levels) -> tuple[Array, int]:
    """Edges (2, E) of (source, target), in no order, repeated where the container has repeated entries; and N."""
    kind = levels["graph"]
    if kind == "empty":
        return np.zeros((2, 0), np.int64), int(rng.integers(0, 7))
    if kind == "one node":
        edges = np.zeros((2, 1), np.int64)
        N = 1
    else:
        N = int(rng.integers(3 if kind in ("isolated nodes", "disconnected") else 2, 8))
        edges = np.stack(np.nonzero(_joined(rng, levels, N)))[::-1].astype(np.int64)
    if levels["container"].endswith("repeated"):
        again = _again(rng, edges, levels["direction"] == "symmetric")
        edges = np.concatenate([edges, again], 1)
    if levels["direction"] != "symmetric" or rng.random() < 0.5:
        edges = edges[:, rng.permutation(edges.shape[1])]
    return edges, N


def _joined(rng: np.random.Generator, levels: Levels, N: int) -> Array:
    """The pattern (N, N) of A[receiver, sender], with an edge at least."""
    kind, direction, signed = levels["graph"], levels["direction"], levels["edge weights"] in SIGNED
    mask = rng.random((N, N)) < rng.uniform(0.6 if signed else 0.25, 0.9)  # beside a minus there is room for pluses
    a, b = (int(i) for i in rng.permutation(N)[:2])
    if direction == "directed" and rng.random() < 0.2:  # as many edges leave each node as arrive: a ring one way round
        mask[:] = False
        mask[np.arange(N), (np.arange(N) + 1) % N] = True
        a, b = 0, 1
    mask[a, b] = True
    nearly = direction == "directed" and levels["edge weights"] in UNEVEN and rng.random() < 0.1
    if direction == "symmetric" or nearly:
        mask = mask | mask.T
    elif direction == "one-way":
        rank = rng.permutation(N)
        mask = mask & (rank[:, None] > rank[None])
        mask[(a, b) if rank[a] > rank[b] else (b, a)] = True
    np.fill_diagonal(mask, False)
    if kind == "self-loops":
        np.fill_diagonal(mask, rng.random(N) < 0.5)
        mask[a, a] = True
    elif kind == "isolated nodes":
        alone = next(i for i in range(N) if i not in (a, b))
        mask[alone], mask[:, alone] = False, False
    elif kind == "disconnected":
        side = rng.random(N) < 0.5
        side[a], side[b] = True, True
        side[next(i for i in range(N) if i not in (a, b))] = False
        mask &= side[:, None] == side[None]
    if direction == "directed" and np.array_equal(mask, mask.T) and not nearly:
        mask[b, a] = False
    return mask


def _again(rng: np.random.Generator, edges: Array, symmetric: bool) -> Array:
    """Some edges once or twice more, both ways where the graph is symmetric."""
    if not edges.shape[1]:
        return edges
    some = edges[:, rng.integers(0, edges.shape[1], int(rng.integers(1, 4)))]
    if not symmetric:
        return some
    back = some[::-1][:, some[0] != some[1]]
    return np.concatenate([some, back], 1)


def edge_weights(rng: np.random.Generator, levels: Levels, edges: Array, N: int) -> Array | None:
    """The weights (E,) as their dtype holds them, equal both ways on a symmetric graph; None where there are none."""
    level, E = levels["edge weights"], edges.shape[1]
    if level == "none":
        return None
    if level == "ones":
        w = np.ones(E)
    elif level == "wide":
        w = 10.0 ** (_decades(rng, levels) * rng.uniform(-1, 1, E))
    else:
        w = rng.uniform(0.25, 2, E)
    if level == "zeros":
        w[rng.random(E) < 0.3] = 0
    if level == "±1":
        w = np.ones(E)
    symmetric, nearly = levels["direction"] == "symmetric", _nearly_symmetric(levels, edges)
    if symmetric or nearly:
        w = _mirrored(edges, w, N)
    one = _entry(edges, int(rng.integers(E)), symmetric) if E else np.zeros(0, bool)
    if level == "zeros":
        w[one] = 0
    if level in SIGNED:
        w = w * _signs(rng, edges, w, N, one, symmetric)
    if level == "wide" and levels["edge dtype"] == "float32" and levels["container"] in REPEATED and rng.random() < 0.1:
        first, last = (
            edges[:, -1].min(),
            edges[:, -1].max(),
        )  # repeated, more than float32 holds
        w = np.where((edges.min(0) == first) & (edges.max(0) == last), 3e38, w)
    w = w.astype(levels["edge dtype"])
    if nearly:  # but for one edge, whose two weights are neighbours in their dtype
        e = int(np.nonzero(edges[0] != edges[1])[0][0])
        w[e] = np.nextafter(w[e], w.dtype.type(np.inf))
    return w.astype(np.float64)


def _nearly_symmetric(levels: Levels, edges: Array) -> bool:
    """Whether a graph that is called directed joins its nodes both ways: then the weights must tell them apart."""
    if levels["direction"] != "directed":
        return False
    return {*zip(*edges.tolist(), strict=True)} == {*zip(*edges[::-1].tolist(), strict=True)}


def _decades(rng: np.random.Generator, levels: Levels) -> float:
    """How far the weights spread, so that D_L comes near 1e±30, or one step alone does; within 80 bits' range.

    Of paths whose products are formed, which float64 must hold, they come as near 1e±300 as they may.
    """
    L = max(int(levels["L"]), 1)
    formed = levels["family"] in ("shortest", "self_avoiding") and levels["edge dtype"] == "float64"
    return float(min(rng.choice([30 / L, 12.0, max(140 / L, 30.0) if formed else 30.0]), 3600 / L))


def _twin(edges: Array, N: int) -> Array:
    """A number per edge that both ways of it share, counted apart for each repetition."""
    low, high = edges.min(0), edges.max(0)
    key = (low * N + high) * 2 + (edges[0] > edges[1])
    seen: dict[int, int] = {}
    number = np.empty(len(key), np.int64)
    for e, k in enumerate(key.tolist()):
        times = seen.get(k, 0)
        seen[k] = times + 1
        number[e] = (k // 2) * 16 + times
    return number


def _mirrored(edges: Array, w: Array, N: int) -> Array:
    """The weights, with the same for both ways of an edge."""
    first = np.unique(_twin(edges, N), return_index=True, return_inverse=True)
    return w[first[1]][first[2]]


def _entry(edges: Array, e: int, symmetric: bool) -> Array:
    """Which edges are the same as e, (E,) bool: its repetitions, and those of its way back on a symmetric graph."""
    same = (edges == edges[:, e : e + 1]).all(0)
    return same | ((edges == edges[::-1, e : e + 1]).all(0) & symmetric)


def _signs(rng: np.random.Generator, edges: Array, w: Array, N: int, one: Array, symmetric: bool) -> Array:
    """Half of them negative, `one` among them; or few, such that each row's sum stays positive, where that can be.

    A row that sums to less is refused by most methods, and the value behind the refusal is never seen.
    """
    sign = np.where(rng.random(len(w)) < 0.5, -1.0, 1.0)
    if symmetric:
        sign = _mirrored(edges, sign, N)
    sign[one] = -1.0
    if rng.random() < 0.35:
        return sign
    few, most = np.ones(len(w)), 1 + rng.binomial(len(w), 0.1)
    for e in rng.permutation(len(w)):
        tried = np.where(_entry(edges, int(e), symmetric), -1.0, few)
        if (few < 0).sum() < most and (np.bincount(edges[1], w * tried, N)[edges[1]] > 0).all():
            few = tried
    return few if (few < 0).any() else sign
