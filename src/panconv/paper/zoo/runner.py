"""How the one runner trains baselines: those that differ only in their seed run together.

On the public split a method is given the graph without the labels of the test nodes, so that it cannot look at them.
"""

from __future__ import annotations

import copy
import time
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.data import load
from panconv.data.splits import random_split, with_random_splits, with_split
from panconv.data.splits import without_test as hidden
from panconv.paper.zoo.menu import SWITCHES
from panconv.paper.zoo.method import BY_TRIAL
from panconv.paper.zoo.registry import METHODS, trainer
from panconv.paper.zoo.settings import merged
from panconv.records.record import Record, Task, check_task
from panconv.training.halving import cutting
from panconv.training.metrics import agreement
from panconv.training.runner import Tell, versions
from panconv.transforms import METTransform

_BATCH_BYTES = 2**31  # of features and what is dropped of them, on a CPU


class Baselines:
    """How the zoo's methods are trained: alike but for the seed, within memory."""

    def check(self, task: Task) -> None:
        """Refuses what would have no readable record, or a setting that the method lacks."""
        check_task(task)
        if task.model in METHODS:
            known = {**METHODS[task.model].known, "halving": task.settings.get("halving")}  # which `check_task` knows
            merged(known, {name: value for name, value in task.settings.items() if known.get(name, ...) != value})

    def beside(self, task: Task) -> str:
        return task.alike()

    def at_once(self, task: Task, device: str) -> int:
        if torch.device(device).type != "cpu":
            return 2**31
        return max(1, _BATCH_BYTES // (16 * _loaded(task.dataset).x.numel()))

    def vectors(self, model: str) -> frozenset[str]:
        """What a search may draw anew for each setting that trains beside others."""
        return frozenset(BY_TRIAL if METHODS[model].by_fit else ())

    def spelt(self, drawn: dict[str, Any]) -> tuple[None, dict[str, Any]]:
        """What a search has drawn, as the operator, which is the method's own, and the settings of a task."""
        return None, drawn

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        began, one, seeds = time.perf_counter(), tasks[0], [task.seed for task in tasks]
        data = on_operator(one.dataset, one.operator)
        if one.split == "random":
            data = with_random_splits(data, seeds)
        found = self._predicted(tasks, data, device, tell).cpu()  # (S, N)
        seconds = round((time.perf_counter() - began) / len(tasks), 3)
        val, test = (
            mask.expand(len(tasks), -1) if mask.dim() == 1 else mask.T for mask in (data.val_mask, data.test_mask)
        )
        return [
            Record(
                **vars(task),
                test_accuracy=round(float(agreement(found[s, test[s]], data.y[test[s]])), 6) if task.tested else None,
                val_accuracy=round(float(agreement(found[s, val[s]], data.y[val[s]])), 6),
                seconds=seconds,
                device=device,
                versions=versions(),
                command=command,
            )
            for s, task in enumerate(tasks)
        ]

    def _predicted(self, tasks: list[Task], data: Data, device: str, tell: Tell) -> Tensor:
        """The class of each node by trial, (S, N)."""
        one, seeds = tasks[0], [task.seed for task in tasks]
        train = trainer(one.model)
        how = one.settings | {name: value for name, value in (one.operator or {}).items() if name in SWITCHES}
        how |= cutting(tasks)
        if one.split == "public":
            return train(hidden(data), how, seeds, device=device, tell=tell)
        if not METHODS[one.model].one_split:
            return train(hidden(data), how, seeds, device=device, tell=tell)
        one_by_one = []
        for s, seed in enumerate(seeds):
            shown = hidden(with_split(data, *random_split(data.y, seed)))
            part = train(shown, how, [seed], device=device, tell=lambda done, s=s: tell((s + done) / len(seeds)))
            one_by_one.append(part)
        return torch.cat(one_by_one)


# ---------------------------------------------------------------------- graphs


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
