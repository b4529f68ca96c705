"""PANs side by side, in batches that fit memory, and the grid search over k(n)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import (
    as_integer,
    checked_count,
    checked_device,
    checked_length,
    checked_numbers,
    checked_seed,
    free_bytes,
    kind_of,
    shown,
)
from panconv.data import load
from panconv.data.splits import with_splits
from panconv.graph import Adjacency
from panconv.met.methods import checked_method
from panconv.records.ranking import Point, ranked
from panconv.records.record import UNSAID, Record, Results, Task, check_task, checked_settings, pan_task
from panconv.records.schema import number_or_null
from panconv.training.fit import FitResult, fit
from panconv.training.inputs import checked_parts
from panconv.training.models import PAN
from panconv.training.runner import Step, Tell, run, versions
from panconv.weights import PowerLaw, layer_specs, weights_from

# What is held of one trial while it trains: about this much per stored feature and per hidden value.
_BYTES_PER_FEATURE, _BYTES_PER_HIDDEN = 24, 60
_BATCH_BYTES = 2**29  # on the CPU, where larger batches fall out of the caches and are slower
_MOST_POINTS = 100_000


@dataclass(frozen=True)
class Pans:
    """How PANs are trained: side by side where they are alike but for the seed and fixed weights."""

    data: Data | None = None  # the graph, where it is not to be loaded by its name

    def check(self, task: Task) -> None:
        check_task(task)

    def beside(self, task: Task) -> str:
        fixed = {**(task.operator or {}), "weights": "fixed"} if _is_fixed(task.weights) else task.operator
        return replace(task, operator=fixed).alike()

    def at_once(self, task: Task, device: str) -> int:
        data = _loaded(task.dataset) if self.data is None else self.data
        return batch_size(data, task.settings["hidden"], device)

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        return train_batch(tasks, device=device, command=command, tell=tell, data=self.data)[0]


def batch_size(data: Data, hidden: int, device: str = "cpu") -> int:
    """How many trials of a graph train side by side within memory."""
    stored = data.x.values().numel() if data.x.layout == torch.sparse_csr else data.x.numel()
    each = _BYTES_PER_FEATURE * stored + _BYTES_PER_HIDDEN * data.x.size(0) * hidden
    place = torch.device(device)
    budget = free_bytes(place) // 4 if place.type == "cuda" else _BATCH_BYTES
    return max(1, budget // each)


def train_batch(
    tasks: Sequence[Task],
    *,
    device: str = "cpu",
    command: str = "",
    tell: Tell | None = None,
    data: Data | None = None,
) -> tuple[list[Record], FitResult[PAN]]:
    """Trains PANs that are alike but for the seed and fixed weights, all at once, on `data` or the graph they name."""
    one, how, seeds = tasks[0], tasks[0].settings, [task.seed for task in tasks]
    check_task(one)
    rows = how.get("rows", UNSAID["rows"])
    met, data = one.operator or {}, _loaded(one.dataset, rows) if data is None else data
    data = with_splits(data, one.split, seeds)
    model = PAN(
        data.x.size(1),
        how["hidden"],
        int(data.y.max()) + 1,
        how["layers"],
        L=met["L"],
        method=met["method"],
        weights=_side_by_side([each.weights for each in tasks], how["layers"], met["L"]),
        dropout=how["dropout"],
        trials=len(tasks),
    )
    model.decay = how.get("decay", UNSAID["decay"])
    options = {key: how[key] for key in ("lr", "weight_decay", "epochs", "patience", "keep", "metric") if key in how}
    told = None if tell is None else lambda progress: tell(progress.epoch / progress.epochs, progress)
    result = fit(model, data, seeds=seeds, device=device, callback=told, **options)
    adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
    with torch.no_grad():  # k(n; i) of eq. 2, the mean over the nodes, (L+1, S) per layer
        learned = [conv.met(adj).path_weights.mean(1) for conv in result.model.cpu().layers()]
    return [_record(task, s, result, learned, device, command) for s, task in enumerate(tasks)], result


def _record(task: Task, s: int, result: FitResult[PAN], learned: list[Tensor], device: str, command: str) -> Record:
    """Trial s of what was trained side by side."""
    loss, accuracy = (_curve(result.history[name], s, result) for name in ("val_loss", f"val_{result.metric}"))
    drawn = task.tested  # the many that only choose leave no curves behind
    best = result.best_epoch[s]
    return Record(
        **vars(task),
        test_accuracy=result.test_metric[s] if task.tested else None,
        val_accuracy=accuracy[best - 1] if best else 0.0,
        seconds=round(result.seconds / len(result.best_epoch), 3),
        device=device,
        versions=versions(),
        command=command,
        val_loss=loss[best - 1] if best else None,
        best_epoch=best,
        loss_curve=loss if drawn else [],
        accuracy_curve=accuracy if drawn else [],
        path_weights=[[number_or_null(round(k, 4)) for k in layer[:, s].tolist()] for layer in learned],
        temperatures=_temperatures(result.model, s),
    )


def _temperatures(model: PAN, s: int) -> list[float | None]:
    """Trial s's trained T by layer, unrounded; null in a layer that has none, empty if none has."""
    kinds = (conv.weights for conv in model.layers())
    laws = [each if isinstance(each, PowerLaw) and each.trained else None for each in kinds]
    T = [None if law is None else number_or_null(law.log_temperature[s].double().exp().item()) for law in laws]
    return T if any(laws) else []


# ---------------------------------------------------------------------- grids


def grid_points(
    values: Sequence[float], L: int, *, tie: Sequence[int] = (), layers: int | None = None
) -> list[list[float] | dict[str, Any]]:
    """All k(n), n = 0 … L, from some values.

    Args:
        values: what each k(n) may be.
        L: the longest length.
        tie: lengths n that share one value, such as (1, 2) for k(1) = k(2).
        layers: a number of layers, to give each a k(n) of its own; None to share one.
    """
    values, tie = checked_numbers(values, "values"), _checked_tie(tie, checked_length(L))
    if layers is not None:
        checked_count(layers, "layers")
    if not values:
        raise ValueError("the grid has no points: values is empty: name at least one")
    free = [n for n in range(L + 1) if n not in tie[1:]]
    count = len(values) ** (len(free) * (layers or 1))
    if count > _MOST_POINTS:
        raise ValueError(f"the grid has {count:.3g} points, more than {_MOST_POINTS:,}: name fewer values, or tie some")
    points = []
    for chosen in itertools.product(values, repeat=len(free)):
        by_length = dict(zip(free, chosen, strict=True))
        points.append([by_length[tie[0] if n in tie else n] for n in range(L + 1)])
    points = [k for k in points if any(k)]  # all zeros is no operator
    if layers is None:
        return list(points)
    return [{"kind": "layers", "of": list(ks)} for ks in itertools.product(points, repeat=layers)]


def _checked_tie(tie: Sequence[int], L: int) -> list[int]:
    """Lengths of 0 … L, each once."""
    if not isinstance(tie, (list, tuple, range)) or any(as_integer(n) is None for n in tie):
        raise TypeError(f"tie must be a list of lengths n, integers of 0 … {L}, got {shown(tie)}")
    if wrong := [n for n in tie if not 0 <= n <= L]:
        raise ValueError(f"the grid has no points: tie names length {wrong[0]}, outside 0 … {L}")
    return list(dict.fromkeys(tie))


def power_law_points(temperatures: Sequence[float], alphas: Sequence[float]) -> list[dict[str, Any]]:
    """The power laws exp(−n^α/T) of some temperatures and exponents, fixed."""
    laws = itertools.product(checked_numbers(alphas, "alphas"), checked_numbers(temperatures, "temperatures"))
    return [{"kind": "power-law", "alpha": a, "temperature": T, "trained": False} for a, T in laws]


def grid_search(
    data: str | Data,
    points: Sequence[Any],
    settings: Mapping[str, Any] | None = None,
    *,
    method: int = 5,
    L: int = 2,
    trials: int = 5,
    seed: int = 0,
    results: Results | None = None,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> list[Point]:
    """Trains every point of a grid with some seeds, side by side, and ranks them by validation accuracy, best first.

    The test nodes play no part in it.

    Args:
        data: the name of a graph, as `load` takes it, or a PyG `Data` as `fit` takes it.
        points: path weights, as `grid_points` and `power_law_points` make them.
        settings: what to change of `panconv.records.record.SETTINGS`.
        method, L: the operator.
        trials: trainings of each point, with the seeds from `seed` on.
        results: a folder of records to go on from and to add to; for a graph with a name.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` after every epoch.
    """
    if not isinstance(data, (str, Data)):
        raise TypeError(f"data must be the name of a graph or a PyG Data, got {kind_of(data)}")
    if not isinstance(points, (list, tuple)) or not points:
        raise ValueError(f"the grid has no points: points must be a list of path weights, got {shown(points)}")
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a dict, such as {{'lr': 0.01}}, got {kind_of(settings)}")
    checked_method(method), checked_length(L), checked_device(device)
    trials, seed, how = checked_count(trials, "trials"), checked_seed(seed), checked_settings(settings or {})
    for name in ("hidden", "layers", "epochs", "patience"):
        checked_count(how[name], f"settings[{name!r}]")
    name, graph = (data, None) if isinstance(data, str) else ("a Data object", data)
    if graph is not None:
        _check_graph(graph, results)
    for spec in points:
        for each in layer_specs(spec, how["layers"]):
            weights_from(each, L)
    tasks = [pan_task(name, method, w, L, how, seed + t) for w in points for t in range(trials)]
    return ranked(run(tasks, results, trainer=Pans(graph), device=device, command=command, callback=callback))


def _check_graph(data: Data, results: Results | None) -> None:
    """Refuses a graph without classes, and one for which no record can be written."""
    if checked_parts(data)[1].is_floating_point():
        raise ValueError(f"data.y must be class numbers, whose accuracy ranks the points, got {data.y.dtype}")
    if results is not None:
        raise ValueError("results go with a graph that has a name: a Data object cannot be found again in a record")


def _is_fixed(weights: Any) -> bool:
    """Whether weights are numbers that may stand in columns beside others."""
    if isinstance(weights, dict) and weights.get("kind") == "layers":
        return all(map(_is_fixed, weights["of"]))
    return isinstance(weights, list) or (isinstance(weights, dict) and weights.get("trained") is False)


def _side_by_side(weights: Sequence[Any], layers: int, L: int) -> Any:
    """The weights of some tasks as one spec: the same for all, or the numbers of each in a column."""
    if not _is_fixed(weights[0]):
        return weights[0]
    by_task = [layer_specs(spec, layers) for spec in weights]
    columns = [[weights_from(of[layer], L)() for of in by_task] for layer in range(layers)]
    return {"kind": "layers", "of": [torch.stack(each, dim=1).tolist() for each in columns]}


def _curve(values: Tensor, s: int, result: FitResult[PAN]) -> list[Any]:
    """A trial's curve until it stopped; nothing for one that never had a finite loss."""
    last = result.stopped_epoch[s] if result.best_epoch[s] else 0
    return [number_or_null(round(value, 5)) for value in values[:last, s].tolist()]


@lru_cache(maxsize=8)
def _loaded(dataset: str, rows: bool = True) -> Data:
    return load(dataset, sparse=True, normalize=rows)
