"""Random sequential adsorption: disks that arrive one by one, and stay where they find room."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from panconv.base.random import keys, uniform
from panconv.data.points.torus import squared_distances

_BLOCK = 64  # attempts that are drawn at once


def adsorbed(key: Tensor, nodes: int, diameter: float) -> tuple[np.ndarray, np.ndarray]:
    """Squares filled by disks that never move: one that would overlap an earlier one is not let in.

    All squares go through it side by side, an attempt each at a time; those that are full step aside.

    Args:
        key: of what each square draws, (B,).
        nodes: N, the disks of a full square.
        diameter: of a disk, where the square has side 1 and goes on periodically.

    Returns:
        Points (B, N, 2), float64, in order of arrival; and how many attempts each square took, (B,).
    """
    B, block = key.numel(), 0
    points, attempts = np.empty((B, nodes, 2)), np.ones(B, np.int64)
    left, inside = np.arange(B), np.ones(B, np.int64)
    # The first disk always finds room. It stands for those that are not there yet, too: where it is, none can come.
    disks = _drawn(key, block, 1).repeat(nodes, 1)  # (2, N, B)
    while left.size:
        block += 1
        drawn = _drawn(key[torch.from_numpy(left)], block, _BLOCK)
        for k in range(_BLOCK):
            attempts[left] += inside < nodes
            free = squared_distances(disks[:, : inside.max()], drawn[:, None, k]).min(0) >= diameter * diameter
            free = np.flatnonzero(free & (inside < nodes))
            disks[:, inside[free], free] = drawn[:, k, free]
            inside[free] += 1
        full = inside == nodes
        points[left[full]] = disks[:, :, full].transpose(2, 1, 0)
        left, inside, disks = left[~full], inside[~full], np.ascontiguousarray(disks[:, :, ~full])
    return points, attempts


def _drawn(key: Tensor, block: int, count: int) -> np.ndarray:
    """Points that are as likely everywhere, (2, count, B)."""
    found: np.ndarray = uniform(keys(key, block), (2, count)).permute(1, 2, 0).double().contiguous().numpy()
    return found
