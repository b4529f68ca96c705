"""Trains the baselines that have no record yet; trainings that differ only in their seed run together.

On the public split a method is given the graph without the labels of the test nodes, so that it cannot look at them.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.random import keys, words
from panconv.data import load
from panconv.paper.zoo.records import Record, Records, Task, check_task
from panconv.paper.zoo.registry import METHODS, trainer
from panconv.training.search import versions
from panconv.transforms import METTransform

_SWITCHES = ("walk", "normalize")  # of an operator's fields, those that are settings of a method
_BATCH_BYTES = 2**31  # of features and what is dropped of them, on a CPU
_TRAIN_A_CLASS, _VAL, _TEST = 20, 500, 1000  # as in the public split


@dataclass(frozen=True)
class Step:
    """What a callback is told: which batch, and how far it is."""

    batch: int  # from 0
    batches: int
    tasks: list[Task]
    done: float  # share of the batch


def run(
    tasks: Iterable[Task],
    records: Records | None = None,
    *,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
    train: Callable[..., Tensor] | None = None,
) -> list[Record]:
    """A record for each task, in order, trained where there is none yet.

    Args:
        tasks: what to train.
        records: a folder to go on from and to add to.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
        train: what trains, for a method that is not of the zoo.
    """
    tasks = list(tasks)
    for task in tasks if train is None else ():
        check_task(task)
    found = {} if records is None else {record.task().key(): record for record in records.read()}
    batches = batched([task for task in tasks if task.key() not in found], device)
    for i, batch in enumerate(batches):

        def tell(done: float, i: int = i, batch: list[Task] = batch) -> None:
            if callback is not None:
                callback(Step(i, len(batches), batch, done))

        tell(0.0)
        new = _trained(batch, device, command, tell, train)
        if records is not None:
            records.add(new)
        found |= {record.task().key(): record for record in new}
    return [found[task.key()] for task in tasks]


def batched(tasks: Sequence[Task], device: str) -> list[list[Task]]:
    """Tasks that differ by the seed alone, together, within memory."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.alike(), []).append(task)
    batches = []
    for group in groups.values():
        size = len(group)
        if torch.device(device).type == "cpu":
            size = max(1, _BATCH_BYTES // (16 * _loaded(group[0].dataset).x.numel()))
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    return batches


def _trained(
    tasks: list[Task],
    device: str,
    command: str,
    tell: Callable[[float], None],
    train: Callable[..., Tensor] | None,
) -> list[Record]:
    began, one = time.perf_counter(), tasks[0]
    data, how = on_operator(one.dataset, one.operator), dict(one.settings)
    how |= {name: value for name, value in (one.operator or {}).items() if name in _SWITCHES}
    train = trainer(one.method) if train is None else train
    seeds = [task.seed for task in tasks]
    if one.split == "public":
        predicted = train(hidden(data), how, seeds, device=device, tell=tell)
        masks = [(data.val_mask, data.test_mask)] * len(seeds)
    else:
        splits = [random_split(data.y, seed) for seed in seeds]
        masks = [(val, test) for _, val, test in splits]
        if one.method not in METHODS or METHODS[one.method].splits_side_by_side:
            each = with_split(data, *(torch.stack(column, dim=1) for column in zip(*splits, strict=True)))
            predicted = train(each, how, seeds, device=device, tell=tell)
        else:
            one_by_one = []
            for s, (seed, split) in enumerate(zip(seeds, splits, strict=True)):
                shown = hidden(with_split(data, *split))
                part = train(shown, how, [seed], device=device, tell=lambda done, s=s: tell((s + done) / len(seeds)))
                one_by_one.append(part)
            predicted = torch.cat(one_by_one)
    right = predicted.cpu() == data.y
    seconds = round((time.perf_counter() - began) / len(tasks), 3)
    return [
        Record(
            **vars(task),
            val_accuracy=round(float(right[s, val].float().mean()), 6),
            test_accuracy=round(float(right[s, test].float().mean()), 6) if task.tested else None,
            seconds=seconds,
            device=device,
            versions=versions(),
            command=command,
        )
        for s, (task, (val, test)) in enumerate(zip(tasks, masks, strict=True))
    ]


# ---------------------------------------------------------------------- graphs


def hidden(data: Data) -> Data:
    """The graph without the labels of nodes that are not for training or validation: they are −1."""
    shown = copy.copy(data)
    shown.y = data.y.where(data.train_mask | data.val_mask, -1)
    del shown.test_mask
    return shown


def with_split(data: Data, train: Tensor, val: Tensor, test: Tensor) -> Data:
    split = copy.copy(data)
    split.train_mask, split.val_mask, split.test_mask = train, val, test
    return split


def random_split(y: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Masks (N,) of a split like the public one, 20 nodes per class for training, 500, 1,000, by the seed."""
    N, C = y.numel(), int(y.max()) + 1
    order = words(keys(torch.tensor(seed), 0), (N,)).argsort(stable=True)
    by_class = order[y[order].argsort(stable=True)]  # class after class, each in random order
    first = torch.bincount(y, minlength=C).cumsum(0) - torch.bincount(y, minlength=C)
    place = torch.arange(N) - first[y[by_class]]
    train = torch.zeros(N, dtype=torch.bool)
    train[by_class[place < _TRAIN_A_CLASS]] = True
    rest = order[~train[order]]
    val, test = torch.zeros_like(train), torch.zeros_like(train)
    val[rest[:_VAL]] = True
    test[rest[_VAL : _VAL + _TEST]] = True
    return train, val, test


def on_operator(dataset: str, operator: dict[str, Any] | None) -> Data:
    """A graph, with an operator for edges where one is given; made on the CPU, so that it is the same everywhere."""
    if operator is None or "walk" in operator:
        return _loaded(dataset)
    weights = tuple(operator["weights"])
    return _transformed(dataset, operator["method"], operator["L"], weights, operator["top_k"])


@lru_cache(maxsize=4)
def _loaded(dataset: str) -> Data:
    return load(dataset)


@lru_cache(maxsize=8)
def _transformed(dataset: str, method: int, L: int, weights: tuple[float, ...], top_k: int) -> Data:
    return METTransform(L, method, list(weights), ("top_k", top_k))(copy.copy(_loaded(dataset)))
