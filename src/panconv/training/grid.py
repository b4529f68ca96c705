"""Grids of path weights, and the search that tries every point of one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
from panconv.met.methods import checked_method
from panconv.records.ranking import Point, ranked
from panconv.records.record import Results, checked_settings, pan_task
from panconv.training.pans import Pans, named_graph
from panconv.training.runner import Step, run
from panconv.weights import layer_specs, weights_from

_MOST_POINTS = 100_000


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
        device: where to train; "auto" is a GPU where there is one, else the CPU.
        command: what to write into the records as their origin.
        callback: called with a `Step` after every epoch.
    """
    name, graph = named_graph(data, results)
    if not isinstance(points, (list, tuple)) or not points:
        raise ValueError(f"the grid has no points: points must be a list of path weights, got {shown(points)}")
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a dict, such as {{'lr': 0.01}}, got {kind_of(settings)}")
    checked_method(method), checked_length(L)
    device = str(checked_device(device))
    trials, seed, how = checked_count(trials, "trials"), checked_seed(seed), checked_settings(settings or {})
    for setting in ("hidden", "layers", "epochs", "patience"):
        checked_count(how[setting], f"settings[{setting!r}]")
    for spec in points:
        for each in layer_specs(spec, how["layers"]):
            weights_from(each, L)
    tasks = [pan_task(name, method, w, L, how, seed + t) for w in points for t in range(trials)]
    return ranked(run(tasks, results, trainer=Pans(graph), device=device, command=command, callback=callback))
