"""What tells point patterns apart: how near the next point is, and how many there are at a distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from panconv.data.points.torus import all_pairs


def nearest_distances(
    points: np.ndarray,  # (G, N, 2)
) -> np.ndarray:
    """From each point to the next one, (G, N).

    Of N points that are thrown into the square one by one, P(r) = 1 − (1 − πr²)ᴺ⁻¹ are no farther than r, which tends
    to 1 − exp(−ρπr²), that of a Poisson process.
    """
    found = np.empty(points.shape[:2])
    N = points.shape[1]
    for first, squared in all_pairs(points):
        squared[:, range(N), range(N)] = np.inf
        found[first : first + len(squared)] = np.sqrt(squared.min(2))
    return found


def pair_correlation(
    points: np.ndarray,  # (G, N, 2)
    distances: Sequence[float],
) -> np.ndarray:
    """g(r) between one distance and the next, square by square, (G, len(distances) − 1).

    The pairs at that distance, over those that there would be if points knew nothing of each other: g = 1 without
    correlations, above it where points prefer to be.

    Args:
        points: in squares of side 1 that go on periodically.
        distances: ascending, up to ½.
    """
    bounds = np.asarray(distances, np.float64) * np.asarray(distances, np.float64)
    found = np.empty((len(points), len(bounds) - 1))
    N = points.shape[1]
    for first, squared in all_pairs(points):
        g = len(squared)
        squared[:, range(N), range(N)] = np.inf
        close = squared < bounds[-1]
        bin_of = np.searchsorted(bounds, squared[close], side="right")
        square = np.repeat(np.arange(g), close.sum((1, 2)))
        counts = np.bincount(square * (len(bounds) + 1) + bin_of, minlength=g * (len(bounds) + 1))
        found[first : first + g] = counts.reshape(g, -1)[:, 1:-1]
    return found / (N * (N - 1) * math.pi * np.diff(bounds))
