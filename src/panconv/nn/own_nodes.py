"""Batch normalisation of trials side by side, each by the mean and variance of the nodes that are its own."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_BLOCK = 2**16  # values that one thread goes through at a time: few enough for the caches


class Own(NamedTuple):
    """Which nodes are a trial's own, as all norms of a model take it. S = 1 where the trials share them."""

    share: Tensor  # (N, S): 1/n at each of a trial's n nodes, 0 elsewhere; 0 everywhere for a trial of n < 2
    some: Tensor  # (S, 1): n > 1
    unbiased: Tensor  # (S, 1): n/(n − 1), or 1

    @staticmethod
    def of(counts: Tensor, dtype: torch.dtype) -> Own:
        """From 1 or True at a trial's own nodes and 0 elsewhere, (N,) or (N, S), for features of a dtype."""
        counts = counts.to(torch.promote_types(dtype, torch.float32))
        counts = counts.unsqueeze(1) if counts.dim() == 1 else counts
        n = counts.sum(0)
        some = n > 1
        unbiased = n.where(some, 1) / (n - 1).where(some, 1)
        return Own(counts * (some / n.clamp(min=1)), some.unsqueeze(1), unbiased.unsqueeze(1))


class Moments(NamedTuple):
    """Of the nodes of each trial, (S, F); those of a trial that has too few nodes are what it was given, constants."""

    mean: Tensor
    var: Tensor  # biased


@torch.no_grad()
def moments(x: Tensor, own: Own, mean: Tensor, var: Tensor) -> Moments:
    """Mean and variance of x (N, S, F) over the nodes of each trial, in float32 or wider.

    A trial of fewer than two nodes keeps the ones given, (S, F).
    """
    share = own.share.unsqueeze(-1)
    found = _sum((block * part).sum(0) for block, part in _blocks(x, share))
    found = found.where(own.some, mean.to(found.dtype))
    squares = _sum((block - found).square_().mul_(part).sum(0) for block, part in _blocks(x, share))
    return Moments(found, squares.where(own.some, var.to(found.dtype)))


def normalised(x: Tensor, own: Own, of: Moments, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    """scale·(x − mean)/√(var + eps) + shift for x (N, S, F), as one function of x: its moments move with it."""
    return _Normalised.apply(x, scale, shift, own.share, of.mean, (of.var + eps).rsqrt())


class _Normalised(torch.autograd.Function):
    """torch's own has no weights, and the same in elementary operations reads x and the gradient many times."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, shift: Tensor, share: Tensor, mean: Tensor, root: Tensor) -> Tensor:
        factor = scale.to(root.dtype) * root
        ctx.save_for_backward(x, share, mean, root, factor)
        ctx.dtype = scale.dtype
        level = torch.addcmul(shift.to(root.dtype), mean, factor, value=-1)
        return torch.addcmul(level, x.to(root.dtype), factor).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, share, mean, root, factor = ctx.saved_tensors
        total = _sum(block.sum(0, dtype=root.dtype) for (block,) in _blocks(g))
        along = _sum((block - mean).mul_(of_g).sum(0) for block, of_g in _blocks(x, g))  # Σg·(x − mean)
        of_scale, of_shift = along * root, total
        found = None
        if ctx.needs_input_grad[0]:
            slope = of_scale * root * factor
            level = torch.addcmul(factor * total, mean, slope, value=-1)
            found = torch.empty_like(x, dtype=root.dtype, memory_format=torch.contiguous_format)
            for block, of_g, part, out in _blocks(x, g, share.unsqueeze(-1), found):
                back = torch.addcmul(level, block.to(root.dtype), slope).mul_(part)  # through mean and variance
                torch.mul(of_g, factor, out=out).sub_(back)
            found = found.to(x.dtype)
        return found, of_scale.to(ctx.dtype), of_shift.to(ctx.dtype), None, None, None


def _sum(parts: Iterator[Tensor]) -> Tensor:
    return functools.reduce(torch.add, parts)


def _blocks(x: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The rows of tensors (N, …), some at a time on the CPU, where what is made of them is to stay in the caches."""
    if x.is_cuda or torch.compiler.is_compiling() or not len(x):
        return iter([(x, *others)])
    rows = max(1, _BLOCK * torch.get_num_threads() // max(1, x[0].numel()))
    return zip(*(each.split(rows) for each in (x, *others)), strict=True)
