"""Many trainings side by side: jobs in batches that fit memory, and the grid search over k(n)."""

from __future__ import annotations

import itertools
import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from torch_geometric.data import Data

from panconv.base.checks import (
    as_integer,
    checked_count,
    checked_device,
    checked_length,
    checked_numbers,
    checked_seed,
    kind_of,
    shown,
)
from panconv.data import load
from panconv.graph import Adjacency
from panconv.met.methods import checked_method
from panconv.records.jsonl import number_or_null
from panconv.records.ranking import Point, ranked
from panconv.records.runs import Job, Results, Run, check_job, checked_settings
from panconv.training.fit import FitResult, Progress, fit
from panconv.training.models import PAN
from panconv.weights import layer_specs, weights_from

# What is held of one trial while it trains: about this much per stored feature and per hidden value.
_BYTES_A_FEATURE, _BYTES_A_HIDDEN = 24, 60
_BATCH_BYTES = 2**29  # on the CPU, where larger batches fall out of the caches and are slower
_MOST_POINTS = 100_000
_GIVEN: dict[str, Data] = {}  # graphs that were given as objects, while they are searched


@dataclass(frozen=True)
class Step:
    """What a callback is told: which batch, and how far it is."""

    batch: int  # from 0
    batches: int
    jobs: list[Job]
    progress: Progress | None  # None before its first epoch


def run_jobs(
    jobs: Iterable[Job],
    results: Results | None = None,
    *,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> list[Run]:
    """Trains what has no record yet, side by side where possible, and returns a record for each job, in order."""
    jobs = list(jobs)
    for job in jobs:
        check_job(job)
    runs = {} if results is None else {run.job().key(): run for run in results.read()}
    batches = batched([job for job in jobs if job.key() not in runs], device)
    for i, batch in enumerate(batches):

        def tell(progress: Progress | None, i: int = i, batch: list[Job] = batch) -> None:
            if callback is not None:
                callback(Step(i, len(batches), batch, progress))

        tell(None)
        new, _ = train_batch(batch, device=device, command=command, callback=tell)
        if results is not None:
            results.add(new)
        runs |= {run.job().key(): run for run in new}
    return [runs[job.key()] for job in jobs]


def batched(jobs: Sequence[Job], device: str = "cpu") -> list[list[Job]]:
    """Jobs in batches that can train side by side: all alike but for the seed and fixed weights, and within memory."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        weights = "fixed" if _is_fixed(job.weights) else job.weights
        alike = [job.dataset, job.method, job.L, job.settings, weights]
        groups.setdefault(json.dumps(alike, sort_keys=True), []).append(job)
    batches = []
    for group in groups.values():
        size = batch_size(_graph(group[0].dataset), group[0].settings["hidden"], device)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    return batches


def batch_size(data: Data, hidden: int, device: str = "cpu") -> int:
    """How many trials of a graph train side by side within memory."""
    stored = data.x.values().numel() if data.x.layout == torch.sparse_csr else data.x.numel()
    each = _BYTES_A_FEATURE * stored + _BYTES_A_HIDDEN * data.x.size(0) * hidden
    budget = _BATCH_BYTES
    if torch.device(device).type == "cuda":
        budget = torch.cuda.mem_get_info(device)[0] // 4
    return max(1, budget // each)


def train_batch(
    jobs: Sequence[Job],
    *,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Progress], None] | None = None,
) -> tuple[list[Run], FitResult[PAN]]:
    """Trains jobs that are alike but for the seed and fixed weights, all at once."""
    job, how = jobs[0], jobs[0].settings
    check_job(job)
    data = _graph(job.dataset)
    model = PAN(
        data.x.size(1),
        how["hidden"],
        int(data.y.max()) + 1,
        how["layers"],
        L=job.L,
        method=job.method,
        weights=_side_by_side([each.weights for each in jobs], how["layers"], job.L),
        dropout=how["dropout"],
        trials=len(jobs),
    )
    options = {key: how[key] for key in ("lr", "weight_decay", "epochs", "patience")}
    result = fit(model, data, seeds=[j.seed for j in jobs], device=device, callback=callback, **options)
    adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
    with torch.no_grad():  # k(n; i) of eq. 2, the mean over the nodes, (L+1, S) per layer
        learned = [conv.met(adj).path_weights.mean(1) for conv in result.model.cpu().layers()]
    runs = [
        Run(
            **vars(each),
            test_accuracy=result.test_accuracy[s],
            best_epoch=result.best_epoch[s],
            val_loss=_curve(result.history["val_loss"], s, result),
            val_accuracy=_curve(result.history["val_accuracy"], s, result),
            path_weights=[[number_or_null(round(k, 4)) for k in layer[:, s].tolist()] for layer in learned],
            seconds=round(result.seconds / len(jobs), 3),
            device=device,
            versions=versions(),
            command=command,
        )
        for s, each in enumerate(jobs)
    ]
    return runs, result


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
    checked_length(L)
    values = checked_numbers(values, "values")
    if not isinstance(tie, (list, tuple, range)) or any(as_integer(n) is None for n in tie):
        raise TypeError(f"tie must be a list of lengths n, integers of 0 … {L}, got {shown(tie)}")
    if layers is not None:
        checked_count(layers, "layers")
    tie = list(dict.fromkeys(tie))
    wrong = [n for n in tie if not 0 <= n <= L]
    if wrong or not values:
        what = f"tie names length {wrong[0]}, outside 0 … {L}" if wrong else "values is empty: name at least one"
        raise ValueError(f"the grid has no points: {what}")
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
        settings: what to change of `panconv.records.runs.SETTINGS`.
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
    checked_method(method), checked_length(L), checked_device(device)
    trials, seed, how = checked_count(trials, "trials"), checked_seed(seed), _settings(settings)
    if isinstance(data, Data) and results is not None:
        raise ValueError("results go with a graph that has a name: a Data object cannot be found again in a record")
    name = f"Data object {id(data)}" if isinstance(data, Data) else data
    for spec in points:
        for each in layer_specs(spec, how["layers"]):
            weights_from(each, L)
    jobs = [Job(name, method, w, L, how, seed + t) for w in points for t in range(trials)]
    if isinstance(data, Data):
        _GIVEN[name] = data
    try:
        return ranked(run_jobs(jobs, results, device=device, command=command, callback=callback))
    finally:
        _GIVEN.pop(name, None)


def _settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """All settings, with what is changed of them."""
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a dict, such as {{'lr': 0.01}}, got {kind_of(settings)}")
    how = checked_settings(settings or {})
    for name in ("hidden", "layers", "epochs", "patience"):
        checked_count(how[name], f"settings[{name!r}]")
    return how


def _is_fixed(weights: Any) -> bool:
    """Whether weights are numbers that may stand in columns beside others."""
    if isinstance(weights, dict) and weights.get("kind") == "layers":
        return all(map(_is_fixed, weights["of"]))
    return isinstance(weights, list) or (isinstance(weights, dict) and weights.get("trained") is False)


def _side_by_side(weights: Sequence[Any], layers: int, L: int) -> Any:
    """The weights of some jobs as one spec: the same for all, or the numbers of each in a column."""
    if not _is_fixed(weights[0]):
        return weights[0]
    by_job = [layer_specs(spec, layers) for spec in weights]
    columns = [[weights_from(of[layer], L)() for of in by_job] for layer in range(layers)]
    return {"kind": "layers", "of": [torch.stack(each, dim=1).tolist() for each in columns]}


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """What a record says it was made with."""
    packages = {name: _version(name) for name in ("panconv", "torch", "torch_geometric")}
    return {**packages, "python": platform.python_version()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree
        return "not installed"


def _curve(values: torch.Tensor, s: int, result: FitResult[PAN]) -> list[Any]:
    """A trial's curve until it stopped; nothing for one that never had a finite loss."""
    last = result.stopped_epoch[s] if result.best_epoch[s] else 0
    return [number_or_null(round(value, 5)) for value in values[:last, s].tolist()]


def _graph(dataset: str) -> Data:
    return _GIVEN[dataset] if dataset in _GIVEN else _loaded(dataset)


@lru_cache(maxsize=8)
def _loaded(dataset: str) -> Data:
    return load(dataset, sparse=True)
