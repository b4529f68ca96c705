"""Which split each trial trains on: the public one, a random one like it, or one of those that a graph brings along."""

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


def labelled_split(y: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Masks (N,) of the nodes that have a label, y ≥ 0: of each class three fifths to train on, one to choose by, one
    to test on. A class of few nodes is trained on first.
    """
    order = words(keys(torch.tensor(seed), 0), (y.numel(),)).argsort(stable=True)
    order = order[y[order] >= 0]
    seen = one_hot(y[order]).cumsum(0)
    place = seen.gather(1, y[order].unsqueeze(1)).squeeze(1) - 1  # of a node among those of its class
    turn = place % 5  # so that each class has its share of each part
    parts = order[(turn != 1) & (turn != 3)], order[turn == 1], order[turn == 3]
    train, val, test = (index_to_mask(part, y.numel()) for part in parts)
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


def with_given_splits(data: Data, seeds: list[int]) -> Data:
    """The graph with one of its K splits per trial, masks (N, S): a trial with seed s has number s mod K."""
    split = copy.copy(data)
    for name in ("train_mask", "val_mask", "test_mask"):
        if getattr(data, name, None) is not None:  # a graph may have no test nodes
            mask = data[name].reshape(data.num_nodes, -1)
            split[name] = mask[:, torch.tensor([seed % mask.size(1) for seed in seeds])]
    return split


def with_public_split(data: Data, seeds: list[int]) -> Data:
    """The graph with the one split that it has, which all trials share."""
    if getattr(data, "train_mask", None) is not None and data.train_mask.dim() == 2:
        raise ValueError(
            f"split 'public' is one for all trials, but the graph has {data.train_mask.size(1)}: choose split 'given'"
        )
    return data


SPLITS = {"public": with_public_split, "random": with_random_splits, "given": with_given_splits}


def with_splits(data: Data, split: str, seeds: list[int]) -> Data:
    """The graph with the masks that a training names."""
    return SPLITS[split](data, seeds)


def known_labels_of(data: Data, numbers: bool = False) -> Tensor:
    """y of (N,) or (N, K) for a model that may see what is not for testing: −1 elsewhere, or NaN of `numbers`.

    Without masks all of y is known.
    """
    y = data.y.reshape(-1) if data.y.dim() == 2 and data.y.size(1) == 1 else data.y
    y = y.double() if numbers else y
    known = None
    for name in ("train_mask", "val_mask"):
        mask = getattr(data, name, None)
        if mask is None:
            continue
        if mask.dim() != 1:
            raise ValueError(f"{name} has {mask.size(1)} splits: choose one, such as data.{name} = data.{name}[:, 0]")
        known = mask if known is None else known | mask
    if known is None:
        return y
    known = known.reshape(-1, *[1] * (y.dim() - 1))
    return y.where(known, float("nan") if y.is_floating_point() else -1)


def without_test(data: Data) -> Data:
    """The graph without the labels of nodes that no trial trains on or chooses by: they are −1."""
    shown = copy.copy(data)
    known = (data.train_mask | data.val_mask).reshape(len(data.y), -1).any(1)
    shown.y = data.y.where(known, -1)
    if "test_mask" in shown:
        del shown.test_mask
    return shown
