"""Random numbers that depend on seed, stream and position alone, the same on every device and in every batch.

Trials that train side by side must each see the numbers they would see alone. A generator that is drawn from in turn
cannot do that; a hash of (seed, stream, position) can, for all trials in one expression.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_WORD = 0xFFFFFFFF


def keys(seeds: Tensor, *stream: int | Tensor) -> Tensor:
    """A 32-bit key for each seed and a stream of numbers (such as layer and epoch); seeds and numbers broadcast."""
    key = _mix(seeds.long())
    for number in stream:
        key = _mix((key * 0x9E3779B1 + number + 1) & _WORD)
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
    return _signed(_mix(torch.arange(count, device=device)))


def keep(position: Tensor, key: Tensor, p: float) -> Tensor:
    """Whether each position survives dropout with probability p; `position` and `key` broadcast.

    The product with an odd number permutes the 32-bit words, so each key gives another mask of the same density.
    """
    return (position * _signed(key | 1)) >= int(p * 2.0**32) - 2**31


def _mix(x: Tensor) -> Tensor:
    """A bijection of 32-bit words that leaves no pattern (the finalizer of MurmurHash3), on int64 to hold them."""
    x = x & _WORD
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _WORD
    return x ^ (x >> 16)


def _signed(word: Tensor) -> Tensor:
    return torch.where(word >= 2**31, word - 2**32, word).int()
