"""Gradients that are too long are cut to a length, those of each trial by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from panconv.base.by_trial import Numbers, Placed, checked_by_trial, picked

_TINY = 1e-6  # as in torch.nn.utils.clip_grad_norm_: a gradient of zero stays what it is


class Clip:
    """Cuts the gradient of each trial, all its parameters together, to a length where it is longer.

    Nothing is looked at from the host, so that a step can be recorded on a GPU.

    Args:
        longest: the length, a number or one per trial, where infinity is no limit.

    >>> W = torch.nn.Parameter(torch.zeros(2, 2))  # two trials
    >>> W.grad = torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    >>> Clip(1.0)([W], by_trial=True)
    >>> W.grad
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """

    def __init__(self, longest: Numbers) -> None:
        self.longest = longest
        self._placed = Placed()

    @staticmethod
    def checked(longest: Any, trials: int | None = None) -> Clip | None:
        """None for no limit."""
        if longest is None:
            return None
        return Clip(checked_by_trial(longest, "clip", lambda each: each > 0, "positive, or None", trials))

    def __call__(self, parameters: Iterable[nn.Parameter], by_trial: bool) -> None:
        """Changes the gradients in place.

        Args:
            parameters: those of a model, (S, …) where it holds trials.
            by_trial: whether it does.
        """
        grads = [p.grad for p in parameters if p.grad is not None]
        if not grads:
            return
        dtype = max((each.dtype for each in grads), key=lambda each: torch.finfo(each).bits)
        squares = [each.to(dtype).square() for each in grads]
        sums = [each.reshape(len(each), -1).sum(1) if by_trial else each.sum() for each in squares]
        length = torch.stack(sums).sum(0).sqrt()
        factor = (self._placed(self.longest, length.device) / (length + _TINY)).clamp(max=1)
        for each in grads:
            each.mul_((factor.reshape(-1, *[1] * (each.dim() - 1)) if by_trial else factor).to(each.dtype))

    def narrowed(self, rows: Sequence[int]) -> Clip:
        """The same for some of the trials alone."""
        return Clip(picked(self.longest, rows))
