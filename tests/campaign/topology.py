"""The graphs of the cases: which nodes are joined, and how much each edge weighs."""

from __future__ import annotations

import numpy as np

from campaign.levels import REPEATED, Levels
from campaign.problem import Array


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
        edges = np.stack(np.nonzero(_joined(rng, kind, levels["direction"], N)))[::-1].astype(np.int64)
    if levels["container"].endswith("repeated"):
        again = _again(rng, edges, levels["direction"] == "symmetric")
        edges = np.concatenate([edges, again], 1)
    if levels["direction"] != "symmetric" or rng.random() < 0.5:
        edges = edges[:, rng.permutation(edges.shape[1])]
    return edges, N


def _joined(rng: np.random.Generator, kind: str, direction: str, N: int) -> Array:
    """The pattern (N, N) of A[receiver, sender], with an edge at least."""
    mask = rng.random((N, N)) < rng.uniform(0.25, 0.9)
    a, b = (int(i) for i in rng.permutation(N)[:2])
    if direction == "directed" and rng.random() < 0.2:  # as many edges leave each node as arrive: a ring one way round
        mask[:] = False
        mask[np.arange(N), (np.arange(N) + 1) % N] = True
        a, b = 0, 1
    mask[a, b] = True
    if direction == "symmetric":
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
        mask &= side[:, None] == side[None]
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
        w[int(rng.integers(E))] = 0
    if level == "±1":
        w = np.ones(E)
    if levels["direction"] == "symmetric":
        w = _mirrored(edges, w, N)
    if level in ("±1", "signed"):
        w = w * _signs(rng, edges, w, N, levels["direction"] == "symmetric")
    if level == "wide" and levels["edge dtype"] == "float32" and levels["container"] in REPEATED and rng.random() < 0.1:
        first, last = (
            edges[:, -1].min(),
            edges[:, -1].max(),
        )  # repeated, more than float32 holds
        w = np.where((edges.min(0) == first) & (edges.max(0) == last), 3e38, w)
    return w.astype(levels["edge dtype"]).astype(np.float64)


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


def _signs(rng: np.random.Generator, edges: Array, w: Array, N: int, symmetric: bool) -> Array:
    """Half of them negative; or few, and none in a row whose sum would not be positive, so that most methods go."""
    few = rng.random() < 0.65
    sign = np.where(rng.random(len(w)) < (0.15 if few else 0.5), -1.0, 1.0)
    sign[int(rng.integers(len(w)))] = -1.0
    if symmetric:
        sign = _mirrored(edges, sign, N)
    if few:
        for _ in range(N):
            bad = np.bincount(edges[1], w * sign, N) <= 0
            if not bad.any():
                break
            sign[bad[edges[1]] | (bad[edges[0]] & symmetric)] = 1.0
            if not bad[edges[1]].any():
                break
    return sign
