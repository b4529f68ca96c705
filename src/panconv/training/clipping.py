"""Gradients that are too long are cut to a length, those of each trial by themselves."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from panconv.base.by_trial import Numbers, Placed, checked_by_trial, picked

_TINY = 1e-6  # as in torch.nn.utils.clip_grad_norm_: a gradient of zero stays what it is
_WORDS = "positive, infinite for a trial without a limit, or None for all"


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
        return Clip(checked_by_trial(longest, "clip", lambda each: each > 0, _WORDS, trials))

    def __call__(self, parameters: Iterable[nn.Parameter], by_trial: bool) -> None:
        """Changes the gradients in place.

        Args:
            parameters: those of a model, (S, …) where it holds trials.
            by_trial: whether it does.
        """
        grads = [p.grad for p in parameters if p.grad is not None]
        if not grads:
            return
        # Squares of half precision neither fit nor are told from 0.
        dtype = functools.reduce(torch.promote_types, (each.dtype for each in grads), torch.float32)
        rows = [each.reshape(len(each) if by_trial else 1, -1) for each in grads]
        length = vector_norm(torch.stack([vector_norm(each, dim=1, dtype=dtype) for each in rows]), dim=0)  # (S,)
        longest = self._limits(length)
        factor = torch.where(longest.isfinite(), (longest / (length + _TINY)).clamp(max=1), 1)
        for each in grads:
            each.mul_((factor.reshape(-1, *[1] * (each.dim() - 1)) if by_trial else factor[0]).to(each.dtype))

    def _limits(self, like: Tensor) -> Tensor:
        """The longest length of each trial, (S,), or of all, (1,)."""
        found = self._placed(self.longest, like.device)
        return found if isinstance(found, Tensor) else torch.full_like(like[:1], found)

    def narrowed(self, rows: Sequence[int]) -> Clip:
        """The same for some of the trials alone."""
        return Clip(picked(self.longest, rows))
