"""How PANs are trained: side by side where they may be, in batches that fit memory."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import free_bytes, kind_of
from panconv.data import load
from panconv.data.splits import with_splits, without_test
from panconv.graph import Adjacency
from panconv.records.record import Record, Results, Task, check_task
from panconv.records.schema import number_or_null
from panconv.training.deadline import Deadline
from panconv.training.fit import FitResult
from panconv.training.halving import cutting
from panconv.training.inputs import checked_parts
from panconv.training.metrics import CLASSES, kind_of_targets
from panconv.training.models import PAN
from panconv.training.parts import checked_masks
from panconv.training.recipe import VECTORS, Recipe, is_fixed
from panconv.training.runner import Tell, versions
from panconv.training.spaces import pan_operator
from panconv.weights import PowerLaw, layer_specs, weights_from

# What is held of one trial while it trains: about this much per stored feature, and per hidden value of two layers,
# with a residual to the input or without.
_BYTES_PER_FEATURE, _BYTES_PER_HIDDEN, _BYTES_WITH_INPUT = 24, 60, 84
_PROPAGATED = 5 * 4  # bytes per value of features that are propagated first: five dense float32 (N, F) per draw
# The share of what comes out of each length that is held, by method; all others hold about what they need for one.
_HELD = {3: 1 / 3, 4: 1 / 3, 6: 1.0}
_BATCH_BYTES = 2**29  # on the CPU, where larger batches fall out of the caches and are slower


@dataclass(frozen=True)
class Pans:
    """How PANs are trained: side by side where they are alike but for the seed, fixed weights and `VECTORS`."""

    data: Data | None = None  # the graph, where it is not to be loaded by its name
    end: float | None = None  # by `time.perf_counter`: when all trainings end that have an epoch to go back to

    def check(self, task: Task) -> None:
        check_task(task)
        for spec in layer_specs(task.weights, task.settings["layers"]):
            if spec is not None:  # the method's own
                weights_from(spec, (task.operator or {})["L"])

    def beside(self, task: Task) -> str:
        operator = dict(task.operator or {})
        if is_fixed(task.weights):
            operator["weights"] = "fixed"
            if not task.settings.get("concat"):  # whose matrices tell the length
                operator.pop("L")
        shared = {name: value for name, value in task.settings.items() if name not in VECTORS}
        return replace(task, operator=operator, settings=shared).alike()

    def at_once(self, task: Task, device: str) -> int:
        recipe = Recipe.of(task)
        if recipe.alone:
            return 1
        data = loaded(task.dataset, recipe.setting("rows")) if self.data is None else self.data
        return batch_size(data, recipe, device)

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        return train_batch(tasks, device=device, command=command, tell=tell, data=self.data, end=self.end)[0]

    def vectors(self, model: str) -> frozenset[str]:
        """What a search may draw anew for each setting that trains beside others."""
        return frozenset((*VECTORS, "L", "temperature", "alpha", "weights"))

    def spelt(self, drawn: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a search has drawn, as the operator and the settings of a task."""
        return pan_operator(drawn)


def named_graph(data: Any, results: Results | None) -> tuple[str, Data | None]:
    """The name that records have for a graph, and the graph itself, its classes as `fit` reads them, where it cannot be
    loaded by that name.

    Refuses a graph without classes, and one for which no record can be written.
    """
    if not isinstance(data, (str, Data)):
        raise TypeError(f"data must be the name of a graph or a PyG Data, got {kind_of(data)}")
    if isinstance(data, str):
        return data, None
    y = checked_parts(data)[1]
    if kind_of_targets(y) != CLASSES:
        raise ValueError(f"data.y must be class numbers, whose accuracy ranks the points, got {data.y.dtype}")
    if results is not None:
        raise ValueError("results go with a graph that has a name: a Data object cannot be found again in a record")
    graph = copy.copy(data)
    graph.y = y
    return "a Data object", graph


def with_masks(data: Data, split: str | None) -> Data:
    """A graph whose parts are masks, where they were node numbers; none where each seed draws a split of its own."""
    if split != "random" and all(getattr(data, f"{part}_mask", None) is not None for part in ("train", "val")):
        return data
    masks = {} if split == "random" else checked_masks(data, data.num_nodes, None)
    graph = copy.copy(data)
    for name in ("train_idx", "val_idx", "valid_idx", "test_idx"):
        if name in graph:
            del graph[name]
    for part, mask in masks.items():
        graph[f"{part}_mask"] = mask
    return graph


def batch_size(data: Data, recipe: Recipe, device: str = "cpu") -> int:
    """How many trials of a graph train side by side within memory."""
    (N, F), how = data.x.shape, recipe.setting
    stored = data.x.values().numel() if data.x.layout == torch.sparse_csr else data.x.numel()
    draws, L, held = how("draws"), recipe.operator["L"], N
    if how("nodes") is not None and how("nearest") is not None and recipe.model(F, 2).takes_rows:
        held = min(N, how("nodes") + _labelled(data)) if "regularizer" in recipe.options() else N
    # Features are held once, or where they are propagated, once per draw, and M·X, by which is evaluated, once.
    propagated = draws * _PROPAGATED * held * F + (4 * N * F if held < N else 0)
    features = propagated if how("propagate") else _BYTES_PER_FEATURE * stored
    lengths = L + 1 if how("concat") else max(1.0, L * _HELD.get(recipe.operator["method"], 0.0))
    per_hidden = _BYTES_WITH_INPUT if how("residual") == "input" else _BYTES_PER_HIDDEN
    each = features + draws * per_hidden * held * how("hidden") * max(1, how("layers") / 2) * lengths
    place = torch.device(device)
    budget = free_bytes(place) // 2 if place.type == "cuda" else _BATCH_BYTES
    return max(1, int(budget // each))


def _labelled(data: Data) -> int:
    """Training nodes, in the largest of the splits."""
    mask = getattr(data, "train_mask", None)
    return data.num_nodes if mask is None else int(mask.reshape(data.num_nodes, -1).sum(0).max())


def train_batch(
    tasks: Sequence[Task],
    *,
    device: str = "cpu",
    command: str = "",
    tell: Tell | None = None,
    data: Data | None = None,
    end: float | None = None,
) -> tuple[list[Record], FitResult[PAN]]:
    """Trains PANs that may train side by side, all at once, on `data` or the graph they name, until an end by
    `time.perf_counter` if there is one.

    Where they are not to be tested, the labels of the test nodes are not even there.
    """
    one, seeds = tasks[0], [task.seed for task in tasks]
    check_task(one)
    recipe = Recipe.side_by_side([*map(Recipe.of, tasks)])
    data = loaded(one.dataset, recipe.setting("rows")) if data is None else data
    classes, data = int(data.y.max()) + 1, with_splits(data, one.split, seeds)
    shown = data if one.tested else without_test(data)
    told = None if tell is None else lambda progress: tell(progress.epoch / progress.epochs, progress)
    rule = cutting(tasks)
    if end is not None:
        rule = {"cut": Deadline(end, rule=rule.get("cut"))}
    result = recipe.fit(shown, seeds, device, told, classes=classes, **rule)
    learned: list[Tensor] = []
    if one.tested and not recipe.alone:  # a law of effective lengths has no k(n)
        adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
        with torch.no_grad():  # k(n; i) of eq. 2, the mean over the nodes, (L+1, S) per layer
            learned = [conv.met(adj).path_weights.mean(1) for conv in result.model.cpu().layers()]
    return [_record(task, s, result, learned, device, command) for s, task in enumerate(tasks)], result


def _record(task: Task, s: int, result: FitResult[PAN], learned: list[Tensor], device: str, command: str) -> Record:
    """Trial s of what was trained side by side; the many that only choose leave no k(n) behind."""
    own = (task.operator or {})["L"]
    return replace(
        record_of(task, s, result, device, command),
        path_weights=[[number_or_null(round(k, 4)) for k in layer[: own + 1, s].tolist()] for layer in learned],
        temperatures=_temperatures(result.model, s),
    )


def record_of(task: Task, s: int, result: FitResult[Any], device: str, command: str) -> Record:
    """What `fit` says of trial s; the many that only choose leave no curves behind."""
    loss, accuracy = (_curve(result.history[name], s, result) for name in ("val_loss", f"val_{result.metric}"))
    best = result.best_epoch[s]
    return Record(
        **vars(task),
        test_accuracy=share(result.test_metric[s]) if task.tested else None,
        val_accuracy=share(accuracy[best - 1]) if best else 0.0,
        seconds=round(result.seconds / len(result.best_epoch), 3),
        device=device,
        versions=versions(),
        command=command,
        val_loss=loss[best - 1] if best else None,
        best_epoch=best,
        loss_curve=loss if task.tested else [],
        accuracy_curve=[*map(share, accuracy)] if task.tested else [],
    )


def share(value: float | None) -> float:
    """A metric as a record has it: 0 where it could not be measured."""
    return value if value is not None and isfinite(value) else 0.0


def _temperatures(model: PAN, s: int) -> list[float | None]:
    """Trial s's trained T by layer, unrounded; null in a layer that has none, empty if none has."""
    kinds = (conv.weights for conv in model.layers())
    laws = [each if isinstance(each, PowerLaw) and each.trained in (True, "both") else None for each in kinds]
    logs = [None if law is None else law.log_temperature.reshape(-1)[s] for law in laws]
    return [None if each is None else number_or_null(each.double().exp().item()) for each in logs] if any(laws) else []


def _curve(values: Tensor, s: int, result: FitResult[PAN]) -> list[Any]:
    """A trial's curve until it stopped; nothing for one that never had a finite loss."""
    last = result.stopped_epoch[s] if result.best_epoch[s] else 0
    return [number_or_null(round(value, 5)) for value in values[:last, s].tolist()]


@lru_cache(maxsize=8)
def loaded(dataset: str, rows: bool) -> Data:
    return load(dataset, sparse=True, normalize=rows)
