"""Batch normalisation of trials side by side, each by the mean and variance of the nodes that are its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_BLOCK = 2**16  # values that one thread goes through at a time: few enough for the caches


class Moments(NamedTuple):
    """Of the nodes of each trial. Those of one that has fewer than two are constants, as those of infinitely many."""

    mean: Tensor  # (S, F)
    var: Tensor  # (S, F), biased
    nodes: Tensor  # (S, 1): how many


@torch.no_grad()
def moments(x: Tensor, own: Tensor, mean: Tensor, var: Tensor) -> Moments:
    """Mean and variance of x (N, S, F) over the nodes with own (N, S) = 1, not 0, in float32 or wider.

    A trial with fewer than two such nodes keeps the ones given, (S, F), which are constants then.
    """
    count = own.sum(0).unsqueeze(-1)
    some, least = count > 1, count.clamp(min=1)
    sums = torch.zeros_like(mean, dtype=own.dtype)
    for block, counted in _blocks(x, own):
        sums += (block * counted.unsqueeze(-1)).sum(0)
    found, squares = sums / least, torch.zeros_like(sums)
    for block, counted in _blocks(x, own):
        squares += (block - found).square_().mul_(counted.unsqueeze(-1)).sum(0)
    return Moments(
        found.where(some, mean.to(own.dtype)),
        (squares / least).where(some, var.to(own.dtype)),
        count.where(some, torch.inf),
    )


def normalised(x: Tensor, own: Tensor, of: Moments, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    """scale·(x − mean)/√(var + eps) + shift for x (N, S, F), as one function of x: its moments move with it."""
    return _Normalised.apply(x, scale, shift, own, of.mean, (of.var + eps).rsqrt(), of.nodes)


class _Normalised(torch.autograd.Function):
    """torch's own has no weights, and the same in its elementary operations reads x and the gradient many times."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, scale: Tensor, shift: Tensor, own: Tensor, mean: Tensor, inverse: Tensor, count: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, scale, own, mean, inverse, count)
        factor = scale.to(own.dtype) * inverse
        return torch.addcmul(shift - mean * factor, x.to(own.dtype), factor).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, scale, own, mean, inverse, count = ctx.saved_tensors
        total, along = torch.zeros_like(mean), torch.zeros_like(mean)  # Σg and Σg·(x − mean)
        for block, of_g in _blocks(x, g):
            total += of_g.sum(0)
            along += (block - mean).mul_(of_g).sum(0)
        of_scale, of_shift = (along * inverse).to(scale.dtype), total.to(scale.dtype)
        if not ctx.needs_input_grad[0]:
            return None, of_scale, of_shift, None, None, None, None
        factor = scale.to(own.dtype) * inverse
        slope = factor * inverse.square() * along / count
        level = factor * total / count - mean * slope
        found = torch.empty_like(x, memory_format=torch.contiguous_format)
        for block, of_g, counted, out in _blocks(x, g, own, found):
            # What comes back through the mean and the variance.
            back = torch.addcmul(level, block.to(own.dtype), slope).mul_(counted.unsqueeze(-1))
            out.copy_((of_g * factor).sub_(back))
        return found, of_scale, of_shift, None, None, None, None


def _blocks(x: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The rows of tensors (N, …), some at a time on the CPU, where what is made of them is to stay in the caches."""
    rows = x.size(0) if x.is_cuda else _BLOCK * torch.get_num_threads() // max(1, x[0].numel() if len(x) else 1)
    return zip(*(each.split(max(1, rows)) for each in (x, *others)), strict=True)
