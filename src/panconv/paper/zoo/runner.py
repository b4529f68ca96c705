"""How the one runner trains baselines: those that differ only in their seed, or in what `fit` takes by trial, run
together.

On the public split a method is given the graph without the labels of the test nodes, so that it cannot look at them.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import free_bytes
from panconv.data import load
from panconv.data.splits import with_split, with_splits
from panconv.data.splits import without_test as hidden
from panconv.paper.zoo.menu import SWITCHES
from panconv.paper.zoo.method import BY_TRIAL, UNSAID
from panconv.paper.zoo.registry import METHODS, trainer
from panconv.paper.zoo.settings import merged
from panconv.records.record import Record, Task, check_task
from panconv.records.schema import number_or_null
from panconv.training.fit import FitResult
from panconv.training.halving import cutting
from panconv.training.metrics import METRICS, agreement
from panconv.training.pans import share
from panconv.training.runner import Tell, versions
from panconv.transforms import METTransform

_BATCH_BYTES = 2**31  # of what trials side by side hold, on a CPU
# What is held of one trial, as measured: bytes for each feature, for each hidden value of a layer, more where there is
# attention, and for each edge and head of a layer.
_BYTES_PER_FEATURE, _BYTES_PER_HIDDEN, _BYTES_WITH_HEADS, _BYTES_PER_EDGE = 9, 48, 120, 20


class Baselines:
    """How the zoo's methods are trained: alike but for the seed and what is each trial's own, within memory."""

    def check(self, task: Task) -> None:
        """Refuses what would have no readable record, or a setting that the method lacks."""
        check_task(task)
        if task.model in METHODS:
            known, given = METHODS[task.model].known, dict(task.settings)
            given.pop("halving", None)  # which is the search's, and which `check_task` knows
            if not METHODS[task.model].by_fit:
                _check_classes_alone(task.model, given.pop("metric", UNSAID["metric"]))
            merged(known, {name: value for name, value in given.items() if known.get(name, ...) != value})

    def beside(self, task: Task) -> str:
        own = BY_TRIAL if task.model in METHODS and METHODS[task.model].by_fit else ()
        shared = {name: value for name, value in task.settings.items() if name not in own}
        return replace(task, settings=shared).alike()

    def at_once(self, task: Task, device: str) -> int:
        data, how, place = _loaded(task.dataset), task.settings, torch.device(device)
        layers = how.get("layers", 1)  # that are hidden: where it is not said there are two, of which one is
        each = _BYTES_PER_FEATURE * data.x.numel()
        per_hidden = _BYTES_WITH_HEADS if "heads" in how else _BYTES_PER_HIDDEN
        each += per_hidden * data.num_nodes * how.get("hidden", 0) * layers
        each += _BYTES_PER_EDGE * data.num_edges * how.get("heads", 0) * layers
        return max(1, (free_bytes(place) // 2 if place.type == "cuda" else _BATCH_BYTES) // each)

    def vectors(self, model: str) -> frozenset[str]:
        """What a search may draw anew for each setting that trains beside others."""
        return frozenset(BY_TRIAL if METHODS[model].by_fit else ())

    def spelt(self, drawn: dict[str, Any]) -> tuple[None, dict[str, Any]]:
        """What a search has drawn, as the operator, which is the method's own, and the settings of a task."""
        return None, drawn

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        began, one, seeds = time.perf_counter(), tasks[0], [task.seed for task in tasks]
        data = with_splits(on_operator(one.dataset, one.operator), one.split, seeds)
        found, best = self._found(tasks, data, device, tell)
        seconds = round((time.perf_counter() - began) / len(tasks), 3)
        metric = one.settings.get("metric", UNSAID["metric"])
        val, test = (
            mask.expand(len(tasks), -1) if mask.dim() == 1 else mask.T for mask in (data.val_mask, data.test_mask)
        )
        return [
            Record(
                **vars(task),
                test_accuracy=_measured(found[s], data.y, test[s], metric) if task.tested else None,
                # 0 for a training that never had a finite loss, as PAN's records have it
                val_accuracy=_measured(found[s], data.y, val[s], metric) if best[s].epoch != 0 else 0.0,
                seconds=seconds,
                device=device,
                versions=versions(),
                command=command,
                val_loss=best[s].loss,
                best_epoch=best[s].epoch,
            )
            for s, task in enumerate(tasks)
        ]

    def _found(self, tasks: list[Task], data: Data, device: str, tell: Tell) -> tuple[Tensor, list[_Best]]:
        """The scores of each node by trial, (S, N, C), or its class, (S, N), and the best epoch of each trial."""
        one, seeds, best = tasks[0], [task.seed for task in tasks], _Bests()
        train, how = trainer(one.model), settings_of(tasks)
        if data.train_mask.dim() == 1 or not METHODS[one.model].one_split:
            found = train(hidden(data), {**how, "report": best}, seeds, device=device, tell=tell).cpu()
            return found, best.of(len(seeds))
        one_by_one = []
        for s, seed in enumerate(seeds):
            masks = (mask[:, s] for mask in (data.train_mask, data.val_mask, data.test_mask))
            shown, mine = hidden(with_split(data, *masks)), {**settings_of([tasks[s]]), "report": best}
            part = train(shown, mine, [seed], device=device, tell=lambda done, s=s: tell((s + done) / len(seeds)))
            one_by_one.append(part.cpu())
        return torch.cat(one_by_one), best.of(len(seeds))


class _Best(NamedTuple):
    """The best epoch of a trial, 0 if no loss was finite, and its validation loss; None where they are not known."""

    epoch: int | None = None
    loss: float | None = None


class _Bests:
    """What `fit` reports of the trials of a method, one call after another."""

    def __init__(self) -> None:
        self._found: list[_Best] = []

    def __call__(self, result: FitResult[Any]) -> None:
        self._found += [
            _Best(epoch, number_or_null(round(loss, 5)) if epoch else None)
            for epoch, loss in zip(result.best_epoch, result.val_loss, strict=True)
        ]

    def of(self, trials: int) -> list[_Best]:
        """By trial; nothing is known of a method that `fit` does not train, or does not train once for each trial."""
        return self._found if len(self._found) == trials else [_Best()] * trials


def settings_of(tasks: list[Task]) -> dict[str, Any]:
    """The settings of tasks that train side by side: a list of numbers where they differ, one for each trial."""
    one = tasks[0]
    how = one.settings | {name: value for name, value in (one.operator or {}).items() if name in SWITCHES}
    for name in BY_TRIAL:
        each = [task.settings.get(name, UNSAID.get(name)) for task in tasks]
        if any(value != each[0] for value in each):
            how[name] = each
    return how | cutting(tasks)


def _check_classes_alone(model: str, metric: str) -> None:
    """Refuses a metric of scores for a method that has none."""
    if metric != UNSAID["metric"]:
        words = {"auc": "AUC"}.get(metric, metric)
        raise ValueError(f"{model} gives classes and no scores, so it has no {words}: use accuracy")


def _measured(found: Tensor, y: Tensor, mask: Tensor, metric: str) -> float:
    """The metric of a trial's scores, (N, C), or of its classes, (N,), on the nodes of a mask; 0 where it has none."""
    found, y = found[mask], y[mask]
    value = agreement(found, y) if found.dim() == 1 else METRICS[metric].of(found.unsqueeze(1), y.unsqueeze(1), None)
    return round(share(float(value)), 6)


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
