"""Random splits like the public one."""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch_geometric.data import Data
from torch_geometric.utils import index_to_mask

from panconv.base.random import keys, words

_TRAIN_PER_CLASS, _VAL, _TEST = 20, 500, 1000  # as in the public split


def random_split(y: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Masks (N,) of a split like the public one, 20 nodes per class for training, 500, 1,000, by the seed."""
    N = y.numel()
    order = words(keys(torch.tensor(seed), 0), (N,)).argsort(stable=True)
    seen = one_hot(y[order]).cumsum(0)  # (N, C)
    place = seen.gather(1, y[order].unsqueeze(1)).squeeze(1)  # of a node among those of its class, from 1
    rest = order[place > _TRAIN_PER_CLASS]
    parts = (order[place <= _TRAIN_PER_CLASS], rest[:_VAL], rest[_VAL : _VAL + _TEST])
    train, val, test = (index_to_mask(part, N) for part in parts)
    return train, val, test


def with_split(data: Data, train: Tensor, val: Tensor, test: Tensor) -> Data:
    """The graph with other masks, (N,), or (N, S) for a split per trial."""
    split = copy.copy(data)
    split.train_mask, split.val_mask, split.test_mask = train, val, test
    return split


def with_random_splits(data: Data, seeds: list[int]) -> Data:
    """The graph with a random split per trial, masks (N, S)."""
    splits = [random_split(data.y, seed) for seed in seeds]
    return with_split(data, *(torch.stack(column, dim=1) for column in zip(*splits, strict=True)))
