"""Calibration: one temperature for all scores, from those that were predicted out of fold."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.estimator.losses import LOSSES

_GRID = torch.logspace(-1.5, 1.5, 121, dtype=torch.float64)


def temperature(scores: Tensor, targets: Tensor, weight: Tensor, kind: str = "softmax") -> float:
    """The T with which scores/T lose least, 1 where no score was predicted out of fold.

    Of n labels 1/(n + 2) are taken to be of any class (Platt's smoothing): that all of a few were told rightly is no
    reason to be certain of all the others.

    Args:
        scores: (n, C), NaN in rows that do not count.
        targets: (n, C), of 0 and 1.
        weight: (n,).
        kind: "softmax" or "logistic", as in `LOSSES`.
    """
    known = scores.isfinite().all(1)
    if not bool(known.any()):
        return 1.0
    scores, targets, weight = scores[known], targets[known], weight[known]
    # A weight of 2 is a row that stands there twice; weights that are small all together say nothing of how many.
    count = max(float(weight.sum()), float(weight.sum() ** 2 / weight.square().sum()))
    unsure = 1 / (count + 2)
    targets = (1 - unsure) * targets + unsure * (1 / targets.size(1) if kind == "softmax" else 0.5)
    losses = [log_loss(scores / T, targets, weight, kind) for T in _GRID]
    return float(_GRID[torch.stack(losses).argmin()])


def log_loss(scores: Tensor, targets: Tensor, weight: Tensor, kind: str = "softmax") -> Tensor:
    """The mean loss of the rows, ()."""
    each = LOSSES[kind].value(scores.unsqueeze(1), targets.unsqueeze(1)).squeeze(1)
    return (each * weight).sum() / weight.sum()
