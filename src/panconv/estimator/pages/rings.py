"""Where nodes are drawn: on rings about the one in the middle, a ring per hop, each branch in a sector of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WIDEST = 4 * np.pi / 3  # of a sector, so that a branch does not close about the middle


def rings(parents: Sequence[int], hops: Sequence[int], apart: float = 0.0) -> np.ndarray:
    """Places (n, 2) between −1 and 1.

    Args:
        parents: the place of the node that each hangs from, −1 for the one in the middle; nodes come after theirs.
        hops: (n,).
        apart: how far apart two nodes of a ring are at least, as far as the ring has room.
    """
    n, depth = len(parents), max(hops) or 1
    children: list[list[int]] = [[] for _ in range(n)]
    leaves = np.zeros(n)
    for i in range(n - 1, -1, -1):
        leaves[i] = max(1.0, leaves[i])
        if parents[i] >= 0:
            children[parents[i]].insert(0, i)
            leaves[parents[i]] += leaves[i]
    start, width = np.zeros(n), np.full(n, 2 * np.pi)
    for i in range(n):
        if parents[i] >= 0:
            width[i] = min(width[i], _WIDEST)
        total, at = sum(leaves[j] for j in children[i]), start[i]
        for j in children[i]:
            share = width[i] * leaves[j] / total
            start[j], width[j] = at + (share - min(share, _WIDEST)) / 2, share
            at += share
    angle, radius = start + np.minimum(width, _WIDEST) / 2, np.asarray(hops) / depth
    for ring in range(1, depth + 1):
        on = np.flatnonzero(np.asarray(hops) == ring)
        angle[on] = _spread(angle[on], apart * depth / ring)
    turn = -np.pi / 2
    return _filling(np.stack([radius * np.cos(angle + turn), radius * np.sin(angle + turn)], axis=1))


def _filling(at: np.ndarray) -> np.ndarray:
    """The same places, so that they reach to every side of the square; those in a line stay in the middle of it."""
    low, high = at.min(0), at.max(0)
    wide = high - low > 0.05
    return np.where(wide, 2 * (at - low) / np.where(wide, high - low, 1.0) - 1, 0.0)


def _spread(angles: np.ndarray, least: float) -> np.ndarray:
    """Angles at least so far apart, as near as may be to where they were."""
    n = len(angles)
    if n < 2 or least <= 0:
        return angles
    least = min(least, 0.98 * 2 * np.pi / n)
    order = np.argsort(angles, kind="stable")
    found = angles[order].copy()
    for _ in range(200):
        gap = np.diff(found, append=found[0] + 2 * np.pi)
        push = np.clip(least - gap, 0, None) / 2
        if push.max() < 1e-3 * least:
            break
        found += np.roll(push, 1) - push
    out = np.empty(n)
    out[order] = found
    return out
