"""How models of whole graphs are trained: folds and settings side by side where they share one set of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import free_bytes
from panconv.data import GraphBatches, GraphSet
from panconv.data.graph_folds import GraphParts
from panconv.records.record import Record, Task, check_task
from panconv.training.fit import fit
from panconv.training.pans import record_of
from panconv.training.runner import Tell
from panconv.whole_graphs.menu import MENU, VECTORS, Entry, entry_of, recorded
from panconv.whole_graphs.models import made
from panconv.whole_graphs.parts import COUNTS, check_split, held, named_graphs, number_of, parts_of

_BATCH_BYTES = 2**30  # on a CPU
# What is held of one trial while it trains, in float32 values per node and hidden feature of a layer: so many, and for
# each length of a matrix of its own one more.
_HELD, _BYTES = 10, 4


@dataclass(frozen=True)
class WholeGraphs:
    """A trainer for `panconv.training.runner.run`: those of one model side by side that differ in the seed, which says
    the fold, and in `menu.VECTORS` alone.

    Args:
        graphs: the set, where it is not to be read by the name that the tasks have.
        together: whether they do; None for where it is faster, on a GPU. A CPU has as much to do for ten folds as for
            one ten times, and a training by itself need not go through the graphs of the others.
    """

    graphs: GraphSet | None = None
    together: bool | None = None

    def check(self, task: Task) -> None:
        check_task(task)
        entry = entry_of(task.model)
        if entry is None:
            names = ", ".join(map(recorded, MENU))
            raise ValueError(f"model must be one of {names}, got {task.model!r:.60}")
        check_split(task)
        known = {*entry.points(task.dataset)[0], COUNTS[task.split][0]}
        if odd := sorted(known ^ task.settings.keys()):
            raise ValueError(f"settings of {task.model} must be {', '.join(sorted(known))}: {odd[0]!r} is odd")

    def beside(self, task: Task) -> str:
        shared = {name: value for name, value in task.settings.items() if name not in VECTORS}
        return replace(task, settings=shared).alike()

    def at_once(self, task: Task, device: str) -> int:
        how = task.settings
        if not self._are_together(task, device):
            return 1
        graphs, place = self._set(task), torch.device(device)
        nodes = how["batch"] * len(graphs.x) / len(graphs)
        lengths = how["L"] + 1 if how.get("concat", "L" in how) else 1
        each = _BYTES * nodes * how["hidden"] * max(1, how["layers"]) * (_HELD + lengths)
        return max(1, int((free_bytes(place) // 2 if place.type == "cuda" else _BATCH_BYTES) // each))

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        one, entry = tasks[0], _entry(tasks[0])
        graphs, how = _on(self._set(one), device), _side_by_side(tasks)
        trials = len(tasks) if len(tasks) > 1 or self._are_together(one, device) else None
        drawn = parts_of(self._set(one), one)
        numbers = [number_of(task) for task in tasks]
        parts = drawn.of_runs(numbers) if trials is not None else drawn.run(numbers[0])
        # No test graph is marked as one while settings are chosen.
        shown = GraphParts(parts.train, parts.val, torch.zeros_like(parts.test))
        size = how["batch"]
        learned = GraphBatches(graphs, shown, batch_size=size)
        if trials is not None:
            # Dropout is drawn by the place of a node in its batch. So that a training comes out the same whichever
            # folds are beside it, the batches are always whole; whose graphs they are is told by the masks.
            learned.kept.fill_(True)
        model = made(entry, graphs, how, trials)
        result = fit(
            model,
            learned,
            val=_looked_at(model, graphs, parts.val, size),
            test=held(graphs, parts.test, "test", size) if one.tested else None,
            seeds=[task.seed for task in tasks],
            callback=lambda progress: tell(progress.epoch / progress.epochs, progress),
            device=device,
            **{name: how[name] for name in ("lr", "weight_decay", "epochs", "patience", "keep")},
        )
        return [record_of(task, s, result, device, command) for s, task in enumerate(tasks)]

    def _are_together(self, task: Task, device: str) -> bool:
        """Whether trainings have a dimension of trials, be it of one."""
        on_gpu = torch.device(device).type != "cpu"
        return _entry(task).beside and (on_gpu if self.together is None else self.together)

    def _set(self, task: Task) -> GraphSet:
        return _read(task.dataset) if self.graphs is None else self.graphs


def _looked_at(model: Any, graphs: GraphSet, mask: Tensor, size: int) -> Any:
    """The graphs to choose by, each for those that choose by it; where a GPU replays steps all for all, since there it
    is the launches that take the time."""
    if graphs.device.type == "cpu" or not getattr(model, "leaves_out", False):
        return held(graphs, mask, "val", size)
    none = torch.zeros_like(mask)
    return GraphBatches(graphs, GraphParts(none, mask, none), "val", batch_size=size)


def _entry(task: Task) -> Entry:
    entry = entry_of(task.model)
    assert entry is not None  # it was checked
    return entry


def _side_by_side(tasks: Sequence[Task]) -> dict[str, Any]:
    """The settings of tasks that train side by side: a list of numbers where they differ, one for each trial."""
    how = dict(tasks[0].settings)
    for name in VECTORS:
        each = [task.settings[name] for task in tasks]
        how[name] = each if any(value != each[0] for value in each) else each[0]
    return how


@lru_cache(maxsize=2)
def _read(name: str) -> GraphSet:
    return named_graphs(name)


@lru_cache(maxsize=2)
def _on(graphs: GraphSet, device: str) -> GraphSet:
    return graphs.to(device)
