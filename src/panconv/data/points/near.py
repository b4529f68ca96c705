"""Graphs of points: an edge where two are closer than a threshold."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from panconv.data.points.torus import all_pairs


def near(
    points: np.ndarray,  # (G, N, 2)
    threshold: float,
) -> Tensor:
    """The edges of all squares side by side, both ways, (2, E): node i of square g is g·N + i; by source and target."""
    N = points.shape[1]
    found = []
    for first, squared in all_pairs(points):
        squared[:, range(N), range(N)] = np.inf  # no loops
        pair = np.flatnonzero(squared < threshold * threshold)  # (g·N + i)·N + j
        source = pair // N
        target = source // N * N + pair % N
        found.append(np.stack([source, target]) + first * N)
    return torch.from_numpy(np.concatenate([np.zeros((2, 0), np.int64), *found], 1))
