"""The losses of convex heads: of scores (n, B, C), those of B problems side by side, and targets (n, 1, C)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor


class Loss(NamedTuple):
    """A loss, convex in the scores."""

    value: Callable[[Tensor, Tensor], Tensor]  # of each row, (n, B)
    predicted: Callable[[Tensor], Tensor]  # (n, B, C): the gradient is this less the targets
    curvature: Callable[[int], float]  # of one score among C, where all are 0
    hessian: Callable[[Tensor], Tensor]  # of what is predicted (n, C), in the scores, (n, C, C)


def _softmax(scores: Tensor, targets: Tensor) -> Tensor:
    """−log p of the class that it is, one class per row."""
    return scores.logsumexp(-1) - (scores * targets).sum(-1)


def _logistic(scores: Tensor, targets: Tensor) -> Tensor:
    """−log p of each label, there or not, added: a row may have several."""
    return (F.softplus(scores) - scores * targets).sum(-1)


def _softmax_hessian(p: Tensor) -> Tensor:
    return p.diag_embed() - p.unsqueeze(1) * p.unsqueeze(2)


def _logistic_hessian(p: Tensor) -> Tensor:
    return (p - p.square()).diag_embed()


LOSSES = {
    "softmax": Loss(_softmax, lambda scores: scores.softmax(-1), lambda C: (C - 1) / C**2, _softmax_hessian),
    "logistic": Loss(_logistic, lambda scores: scores.sigmoid(), lambda C: 0.25, _logistic_hessian),
}
