"""Random numbers that depend on seed, stream and position alone, the same on every device and in every batch.

Trials that train side by side must each see the numbers they would see alone. A generator that is drawn from in turn
cannot do that; a hash of (seed, stream, position) can, for all trials in one expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from panconv.base.tracing import is_batched

_WORD = 0xFFFFFFFF


def keys(seeds: Tensor, *stream: int | Tensor) -> Tensor:
    """A 32-bit key for each seed and a stream of numbers (such as layer and epoch); seeds and numbers broadcast.

    All 63 bits of a seed count, and of a number that is an int; of one that is a tensor the lower 32.
    """
    seeds = seeds.long()
    high, key = seeds >> 32, _mix(seeds)
    key = torch.where(high == 0, key, _fold(key, high))  # seeds below 2³² keep the keys they always had
    for number in stream:
        key = _absorb(key, number)
        if isinstance(number, int) and number >> 32:
            key = _fold(key, number >> 32)
    return key


def uniform(key: Tensor, shape: Sequence[int]) -> Tensor:
    """Numbers in [0, 1), float32, (…key's shape, …shape)."""
    return (words(key, shape) >> 8).float() * 2.0**-24


def words(key: Tensor, shape: Sequence[int]) -> Tensor:
    """Words of 32 random bits, on int64 to hold them, (…key's shape, …shape)."""
    position = _mix(torch.arange(torch.Size(shape).numel(), device=key.device))
    return _mix(position ^ key.unsqueeze(-1)).reshape(*key.shape, *shape)


def position_hash(count: int, device: torch.device) -> Tensor:
    """A strong hash of 0 … count − 1, int32: made once, it turns a key into a mask with one multiplication."""
    return _as_int32(_mix(torch.arange(count, device=device)))


def survivors(x: Tensor, position: Tensor, key: Tensor, p: float | Tensor, scale: float | Tensor = 1.0) -> Tensor:
    """scale·x where it survives dropout with probability p, 0 elsewhere; x, `position` and `key` broadcast.

    The product with an odd number permutes the 32-bit words, so each key gives another mask of the same density. Of
    probabilities that differ by key, p and scale are tensors that broadcast with it, in float64: each drops what the
    same number drops by itself.
    """
    word = position * _as_int32(key | 1)
    if isinstance(p, Tensor):
        return torch.where(word >= ((p * 2.0**32).long() - 2**31).int(), times(x, scale), 0)
    assert not isinstance(scale, Tensor)
    least = int(p * 2.0**32) - 2**31
    if x.dtype != torch.float32 or least == -(2**31) or torch.compiler.is_compiling() or is_batched(word):
        return torch.where(word >= least, x * scale, 0)
    return _AtLeast.apply(x.expand(torch.broadcast_shapes(x.shape, word.shape)), word, least, scale)


def times(x: Tensor, factor: float | Tensor) -> Tensor:
    """factor·x in the dtype of x, the same bits whether a factor is a number or stands in a tensor."""
    if not isinstance(factor, Tensor):
        return x * factor
    wide = torch.promote_types(x.dtype, torch.float32)
    return (x.to(wide) * factor.to(wide)).to(x.dtype)


class _AtLeast(torch.autograd.Function):
    """scale·x (float32) where an integer of the same place is at least a bound: far faster than `torch.where`.

    The threshold of integers is one vectorised pass, and the bits of x go through it as integers.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, word: Tensor, least: int, scale: float) -> Tensor:
        y = torch.ops.aten.threshold_backward(x.view(torch.int32), word, least - 1).view(torch.float32)
        return y if scale == 1 else y.mul_(scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, int, float], output: Tensor) -> None:
        _, word, ctx.least, ctx.scale = inputs
        ctx.save_for_backward(word)
        ctx.save_for_forward(word)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        (word,) = ctx.saved_tensors
        if is_batched(g):  # for which views of bits have no rule
            return torch.where(word >= ctx.least, g * ctx.scale, 0), None, None, None
        return _AtLeast.apply(g, word, ctx.least, ctx.scale), None, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, *_: None) -> Tensor:
        return _AtLeast.apply(dx, *ctx.saved_tensors, ctx.least, ctx.scale)


def drawn(key: Tensor, draws: int) -> Tensor:
    """Keys for some draws of each trial, (S, …) or () → (S·draws, …), side by side; the first is the key itself."""
    key = key.reshape(-1, 1, *key.shape[1:])
    number = torch.arange(draws, device=key.device).reshape(-1, *[1] * (key.dim() - 2))
    return torch.where(number == 0, key, _absorb(key, number)).flatten(0, 1)


def _mix(x: Tensor) -> Tensor:
    """A bijection of 32-bit words that leaves no pattern (the finalizer of MurmurHash3), on int64 to hold them."""
    x = x & _WORD
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _WORD
    return x ^ (x >> 16)


def _absorb(key: Tensor, number: int | Tensor) -> Tensor:
    """Another key from a key and the lower 32 bits of a number."""
    return _mix((key * 0x9E3779B1 + number + 1) & _WORD)


def _fold(key: Tensor, high: int | Tensor) -> Tensor:
    """A key together with the upper bits of its number, by way of a key that no small number has."""
    return _absorb(_absorb(key, 0x2545F491), high)


def _as_int32(word: Tensor) -> Tensor:
    return torch.where(word >= 2**31, word - 2**32, word).int()
