"""Random splits like the public one."""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.random import keys, words

_TRAIN_PER_CLASS, _VAL, _TEST = 20, 500, 1000  # as in the public split


def random_split(y: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Masks (N,) of a split like the public one, 20 nodes per class for training, 500, 1,000, by the seed."""
    N, C = y.numel(), int(y.max()) + 1
    order = words(keys(torch.tensor(seed), 0), (N,)).argsort(stable=True)
    by_class = order[y[order].argsort(stable=True)]  # class after class, each in random order
    first = torch.bincount(y, minlength=C).cumsum(0) - torch.bincount(y, minlength=C)
    place = torch.arange(N) - first[y[by_class]]
    train = torch.zeros(N, dtype=torch.bool)
    train[by_class[place < _TRAIN_PER_CLASS]] = True
    rest = order[~train[order]]
    val, test = torch.zeros_like(train), torch.zeros_like(train)
    val[rest[:_VAL]] = True
    test[rest[_VAL : _VAL + _TEST]] = True
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
