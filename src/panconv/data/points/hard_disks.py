"""Hard disks in equilibrium: every arrangement without an overlap is as likely as any other.

They are sampled by event chains: Bernard, Krauth, Wilson, "Event-chain Monte Carlo algorithms for hard-sphere systems",
Phys. Rev. E 80, 056704, 2009. A disk moves to the right until it touches another, which moves on in its place, until
together they have gone a given way. The next chain goes upwards. No move is ever rejected.
"""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from panconv.base.random import uniform


def equilibrium(key: Tensor, points: np.ndarray, diameter: float, chains: int) -> np.ndarray:
    """Disks after chains that let them forget where they were placed.

    Args:
        key: of what each square draws, (B,).
        points: where they start, without an overlap, (B, N, 2).
        diameter: of a disk, where the square has side 1 and goes on periodically.
        chains: so many, of 2N hits each on the average, in turn to the right and upwards.

    Returns:
        Points (B, N, 2), float64, in no order of meaning.
    """
    N = points.shape[1]
    starts = (uniform(key, (chains,)).double() * N).long().numpy()
    way = 1 / (diameter * contact_value(N * math.pi * diameter * diameter / 4))
    xy = [points[..., 0], points[..., 1]]
    for k in range(chains):
        along, across = k % 2, 1 - k % 2
        xy[along], xy[across], _ = chain(xy[along], xy[across], diameter, way, starts[:, k])
    return np.stack(xy, -1)


def contact_value(fraction: float) -> float:
    """g(σ⁺), the pair correlation of disks that touch (Henderson, Molec. Phys. 30, 971, 1975).

    A disk that moves by s hits 2ρσ·g(σ⁺)·s others, and the pressure is ρkT·(1 + 2η·g(σ⁺)), η the fraction covered.

    >>> round(contact_value(0.35), 3)
    2.004
    """
    return (1 - 7 / 16 * fraction) / ((1 - fraction) * (1 - fraction))


def chain(
    moving: np.ndarray,  # (B, N): the coordinate that changes
    still: np.ndarray,  # (B, N): the other one
    diameter: float,
    way: float,
    start: np.ndarray,  # (B,): which disk moves first, in the order of `still`
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A chain in each square.

    Returns:
        Both coordinates, the disks in the order of `still`; and how far, along the way, disks were ahead of those that
        hit them, added up over the hits, (B,). This measures the pressure, ρkT·(1 + sum/way) on the average (Michel,
        Kapfer, Krauth, J. Chem. Phys. 140, 054116, 2014).
    """
    order = still.argsort(1, kind="stable")
    moving, still = np.take_along_axis(moving, order, 1), np.take_along_axis(still, order, 1)
    nearby, reach = _in_the_way(still, diameter)
    going, active, left = np.arange(len(moving)), start, np.full(len(moving), way)
    ahead = np.zeros(len(moving))
    while going.size:
        at, others, touching = moving[going, active], nearby[active], reach[going, active]
        free = moving[going[:, None], others] - at[:, None]
        free -= np.ceil(free) - 1  # in (0, 1]: what is level, and touches but for rounding, has been passed
        free -= touching
        one = np.arange(len(going)), free.argmin(1)
        to_hit = np.maximum(free[one], 0)  # below 0 by rounding
        step = np.minimum(to_hit, left)
        at += step
        moving[going, active] = at - np.floor(at)
        hit = to_hit < left
        ahead[going[hit]] += touching[one][hit]
        going, active, left = going[hit], others[one][hit], (left - step)[hit]
    return moving, still, ahead


def _in_the_way(
    still: np.ndarray,  # (B, N), in ascending order
    diameter: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Whom each disk may hit while this coordinate stands still: few, those next to it in its order.

    Returns:
        Their numbers, (N, K), and how far ahead each is when it is hit, (B, N, K): √(σ² − Δ²), −∞ where it never is.
    """
    N, wide = still.shape[1], 0
    while wide < N - 1 and ((np.roll(still, -wide - 1, 1) - still) % 1 < diameter).any():
        wide += 1
    around = np.concatenate([still[:, N - wide :] - 1, still, still[:, :wide] + 1], 1)
    apart = np.lib.stride_tricks.sliding_window_view(around, 2 * wide + 1, 1) - still[..., None]
    reach = diameter * diameter - apart * apart
    reach[..., wide] = -1  # itself
    hits = reach > 0
    np.sqrt(reach, out=reach, where=hits)
    reach[~hits] = -np.inf
    return (np.arange(N)[:, None] + np.arange(-wide, wide + 1)) % N, reach
