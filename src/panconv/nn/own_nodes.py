"""Batch normalisation of trials side by side, each by the mean and variance of the nodes that are its own.

What stands at other nodes is taken away bit by bit: a factor of 0 would leave 0·∞ = NaN where it is infinite, or so
large that its square is. That takes as long as a product does, and `torch.where` nine times as long on a CPU.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_BLOCK = 2**16  # values that one thread goes through at a time: few enough for the caches
_AS_WIDE = {torch.float32: torch.int32, torch.float64: torch.int64}


class Own(NamedTuple):
    """Which nodes are a trial's own, as all norms of a model take it. S = 1 where the trials share them."""

    bits: Tensor  # (N, S) integers: −1, all bits set, at a trial's own nodes; 0 elsewhere, and for a trial of n < 2
    share: Tensor  # (S, 1): 1/n; 0 for a trial of n < 2
    some: Tensor  # (S, 1): n > 1
    unbiased: Tensor  # (S, 1): n/(n − 1), or 1

    @staticmethod
    def of(counts: Tensor, dtype: torch.dtype) -> Own:
        """From 1 or True at a trial's own nodes and 0 elsewhere, (N,) or (N, S), for features of a dtype."""
        counts = counts.to(torch.promote_types(dtype, torch.float32))
        counts = counts.unsqueeze(1) if counts.dim() == 1 else counts
        n = counts.sum(0)
        some = n > 1
        unbiased, bits = n.where(some, 1) / (n - 1).where(some, 1), -(counts * some).to(_AS_WIDE[counts.dtype])
        return Own(bits, *(each.unsqueeze(1) for each in (some / n.clamp(min=1), some, unbiased)))


class Moments(NamedTuple):
    """Of the nodes of each trial, (S, F); those of a trial that has too few nodes are what it was given, constants."""

    mean: Tensor
    var: Tensor  # biased


@torch.no_grad()
def moments(x: Tensor, own: Own, mean: Tensor, var: Tensor) -> Moments:
    """Mean and variance of x (N, S, F) over the nodes of each trial, in float32 or wider.

    A trial of fewer than two nodes keeps the ones given, (S, F).
    """
    x = x.to(torch.promote_types(x.dtype, own.share.dtype))
    bits = own.bits.to(_AS_WIDE[x.dtype]).unsqueeze(-1)
    found = _sum((block & mine).view(x.dtype).sum(0) for block, mine in _blocks(x.view(bits.dtype), bits)) * own.share
    found = found.where(own.some, mean.to(x.dtype))
    squares = _sum(_only(block - found, mine).square_().sum(0) for block, mine in _blocks(x, bits)) * own.share
    return Moments(found, squares.where(own.some, var.to(found.dtype)))


def normalised(x: Tensor, own: Own, of: Moments, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    """scale·(x − mean)/√(var + eps) + shift for x (N, S, F), as one function of x: its moments move with it."""
    root = (of.var + eps).rsqrt()
    return _Normalised.apply(x, scale, shift, own.bits.to(_AS_WIDE[root.dtype]), own.share, of.mean, root)


class _Normalised(torch.autograd.Function):
    """torch's own has no weights, and the same in elementary operations reads x and the gradient many times."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, scale: Tensor, shift: Tensor, bits: Tensor, share: Tensor, mean: Tensor, root: Tensor
    ) -> Tensor:
        factor = scale.to(root.dtype) * root
        ctx.save_for_backward(x, bits, share, mean, root, factor)
        ctx.dtype = scale.dtype
        level = torch.addcmul(shift.to(root.dtype), mean, factor, value=-1)
        return torch.addcmul(level, x.to(root.dtype), factor).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, bits, share, mean, root, factor = ctx.saved_tensors
        total = _sum(block.sum(0, dtype=root.dtype) for (block,) in _blocks(g))
        # Σg·(x − mean), where x is finite: at others' nodes g is 0, and an own one that is not shows in the root.
        along = _sum((block - mean).nan_to_num_().mul_(of_g).sum(0) for block, of_g in _blocks(x, g))
        of_scale, of_shift = along * root, total
        found = None
        if ctx.needs_input_grad[0]:
            slope = of_scale * root * factor * share
            level = torch.addcmul(factor * total * share, mean, slope, value=-1)
            found = torch.empty_like(x, dtype=root.dtype, memory_format=torch.contiguous_format)
            for block, of_g, mine, out in _blocks(x, g, bits.unsqueeze(-1), found):
                back = torch.addcmul(level, block.to(root.dtype), slope)  # through mean and variance
                torch.mul(of_g, factor, out=out).sub_(_only(back, mine))
            found = found.to(x.dtype)
        return found, of_scale.to(ctx.dtype), of_shift.to(ctx.dtype), None, None, None, None


def _only(values: Tensor, bits: Tensor) -> Tensor:
    """The values themselves, in which 0 stands from now on at nodes that are not a trial's own."""
    values.view(bits.dtype).bitwise_and_(bits)
    return values


def _sum(parts: Iterator[Tensor]) -> Tensor:
    return functools.reduce(torch.add, parts)


def _blocks(x: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The rows of tensors (N, …), some at a time on the CPU, where what is made of them is to stay in the caches."""
    if x.is_cuda or torch.compiler.is_compiling() or not len(x):
        return iter([(x, *others)])
    rows = max(1, _BLOCK * torch.get_num_threads() // max(1, x[0].numel()))
    return zip(*(each.split(rows) for each in (x, *others)), strict=True)
