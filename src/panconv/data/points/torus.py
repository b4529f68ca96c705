"""Distances in the square of side 1 that goes on periodically: what leaves it on the right comes back on the left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_ENTRIES = 2**18  # pairs that are looked at in one go, so that they stay in the cache


def squared_distances(
    x: np.ndarray,  # (2, …)
    y: np.ndarray,  # (2, …)
) -> np.ndarray:
    """From points to the nearest images of others, (…); exact before the last sum, where they are float32."""
    apart = np.subtract(x, y, dtype=np.float64)
    apart -= np.rint(apart)
    apart *= apart
    return apart[0] + apart[1]


def all_pairs(
    points: np.ndarray,  # (G, N, 2)
) -> Iterator[tuple[int, np.ndarray]]:
    """Squared distances of all pairs, (g, N, N), of some squares after others, and the first of these squares."""
    G, N, _ = points.shape
    step = max(_ENTRIES // N**2, 1)
    for first in range(0, G, step):
        x = np.moveaxis(points[first : first + step], 2, 0)  # (2, g, N)
        yield first, squared_distances(x[:, :, :, None], x[:, :, None])
