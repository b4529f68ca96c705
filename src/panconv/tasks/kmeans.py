"""k-means, all restarts side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base.random import keys, words


def kmeans(x: Tensor, k: int, restarts: int = 10, seed: int = 0, iterations: int = 100) -> Tensor:
    """Lloyd's algorithm from k-means++ starts; the labels of the restart with the least sum of squares.

    Args:
        x: points (N, F), at least k of them.
        k: the number of clusters.
        restarts: how many starts, side by side.
        seed: the labels depend on it alone, not on the device, to rounding.
        iterations: at most so many; it ends when no label changes.

    Returns:
        labels 0 … k − 1, (N,)

    >>> kmeans(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), 2).unique().tolist()
    [0, 1]
    """
    if seed < 2**32:
        key = keys(torch.arange(restarts, device=x.device) + restarts * seed)  # (R,)
    else:  # where that may run out of int64
        key = keys(torch.tensor(seed, device=x.device), torch.arange(restarts, device=x.device))
    centre = _plus_plus(x, k, key)  # (R, k, F)
    label = _distances(x, centre).argmin(2)  # (R, N)
    for _ in range(iterations):
        centre = _means(x, label, centre)
        before, label = label, _distances(x, centre).argmin(2)
        if torch.equal(before, label):
            break
    squares = _distances(x, centre).amin(2).sum(1)
    return label[squares.argmin()]


def _plus_plus(x: Tensor, k: int, key: Tensor) -> Tensor:
    """k-means++: each next centre a point drawn by its squared distance from those there are, (R, k, F)."""
    nearest = x.new_ones(key.numel(), x.size(0))
    chosen: list[Tensor] = []
    for c in range(k):
        u = words(keys(key, c), (1,)).double() * 2.0**-32  # (R, 1)
        total = nearest.double().cumsum(1)
        point = torch.searchsorted(total, u * total[:, -1:], right=True).clamp(max=x.size(0) - 1)
        chosen.append(x[point])  # (R, 1, F)
        distance = _distances(x, chosen[-1]).squeeze(2)
        nearest = distance if c == 0 else torch.minimum(nearest, distance)
    return torch.cat(chosen, 1)


def _means(x: Tensor, label: Tensor, centre: Tensor) -> Tensor:
    """The mean of each cluster; an empty one keeps its centre."""
    R, k, F = centre.shape
    flat = (label + k * torch.arange(R, device=x.device).unsqueeze(1)).flatten()
    total = centre.new_zeros(R * k, F).index_add(0, flat, x.repeat(R, 1))
    count = torch.bincount(flat, minlength=R * k).unsqueeze(1)
    return torch.where(count > 0, total / count.clamp(min=1), centre.flatten(0, 1)).reshape(R, k, F)


def _distances(x: Tensor, centre: Tensor) -> Tensor:
    """Squared distances (R, N, k)."""
    return ((x * x).sum(1).unsqueeze(1) - 2 * x @ centre.mT + (centre * centre).sum(2).unsqueeze(1)).clamp(min=0)
