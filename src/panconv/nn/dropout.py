"""Dropout of dense or sparse features, which can be keyed so that each trial of a batch drops what it would alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from panconv.base import random
from panconv.base.by_trial import Numbers, Placed, checked_by_trial
from panconv.base.checks import shown
from panconv.compute.features import SparseRows


class Dropout(nn.Module):
    """Zeroes each value with probability p while training, and scales the others by 1/(1 − p).

    Of sparse features only the stored values are dropped: the zeros are zeros already. Without `keys` it draws from
    torch's generator, as any dropout; with `keys` set, a number for one trial or (S,) for S, what is dropped follows
    from the key and the position alone.

    Args:
        p: the probability, or one for each of S trials.

    Shapes:
        x (N, …) → (N, …); with keys (S,) or S probabilities, x (N, F) or (N, S, F) → (N, S, F).
    """

    keys: Tensor | None = None
    share: Tensor | None = None  # the p of the trial at hand, (), where those of a `Stacked` differ
    called = "dropout"  # where an error speaks of p

    def __init__(self, p: float | Sequence[float] = 0.5) -> None:
        super().__init__()
        self.p: Numbers = checked_by_trial(p, self.called, lambda share: 0 <= share < 1, "at least 0 and below 1")
        self._position = torch.empty(0, dtype=torch.int32)
        self._placed = Placed()

    def forward(self, x: Tensor | SparseRows) -> Tensor | SparseRows:
        check_features(x)
        if not self.training or self.p == 0:
            return x
        p = self._chance(x.device)
        if isinstance(x, SparseRows):
            return x.drop(self.keys, p)
        return F.dropout(x, p) if self.keys is None and not isinstance(p, Tensor) else self._drop(x, p)

    def _chance(self, device: torch.device) -> float | Tensor:
        """p as a number, (S,), or () within `Stacked`."""
        if self.share is not None:
            return self.share
        return self._placed(self.p, device) if isinstance(self.p, tuple) else self.p

    def _scale(self, p: Any) -> Any:
        """What the others are multiplied by."""
        return 1 / (1 - p)

    def _drop(self, x: Tensor, p: float | Tensor) -> Tensor:
        keys, trials = self.keys, any(isinstance(each, Tensor) and each.dim() for each in (self.keys, p))
        one = x.shape
        if trials:  # x is shared by them, (N, F), or has their dimension already
            x = x.unsqueeze(1) if x.dim() == 2 else x
            one = torch.Size([x.size(0), 1, *x.shape[2:]])
            keys, p = _beside(keys, x), _beside(p, x)
        if keys is None:
            shape = torch.broadcast_shapes(x.shape, p.shape if isinstance(p, Tensor) else ())
            return torch.where(torch.rand(shape, device=x.device) >= p, random.times(x, self._scale(p)), 0)
        position, needed = self._position, one.numel()  # once: another thread may replace it
        if position.numel() < needed or position.device != x.device:
            position = self._position = random.position_hash(needed, x.device)
        return random.survivors(x, position[:needed].reshape(one), keys, p, self._scale(p))

    def extra_repr(self) -> str:
        return f"p={self.p}"


def check_features(x: Any) -> None:
    """Refuses what is not of floating-point numbers, dense or sparse."""
    if not isinstance(x, SparseRows) and not (isinstance(x, Tensor) and x.is_floating_point()):
        raise TypeError(f"x must be a tensor of floating-point numbers, got {shown(x)}: convert it with .float()")


def _beside(by_trial: Any, x: Tensor) -> Any:
    """(S,) as it broadcasts with x (N, S, …); what has no trials as it is."""
    if not isinstance(by_trial, Tensor) or not by_trial.dim():
        return by_trial
    return by_trial.reshape(-1, *[1] * (x.dim() - 2))
