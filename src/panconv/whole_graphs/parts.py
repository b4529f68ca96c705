"""Which graphs a training learns from, chooses by and is tested on, as its record says; and the set it is of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from panconv.data import GraphBatches, GraphSet, graph_folds, graph_split, point_patterns, read_graphs
from panconv.data.graph_batches import GraphBatch
from panconv.data.graph_folds import GraphParts
from panconv.records.record import Task
from panconv.records.schema import is_whole
from panconv.whole_graphs.contest import MARK

COUNTS = {"given": ("folds", 2), "random": ("runs", 1)}  # the setting that says how many, by split, and the least

_POINTS = re.compile(r"point-patterns-(0\.\d{1,9})(?:-(\d{1,9}))?")


def named_graphs(name: str) -> GraphSet:
    """A set of graphs by the name that a record has, or by its path; point patterns are generated.

    Those are called ``point-patterns-0.35``, by the share of the area that disks cover, and ``point-patterns-0.35-900``
    where they are not to be 15,000 graphs.
    """
    if not (generated := _POINTS.fullmatch(str(name))):
        source, _, digest = str(name).partition(MARK)
        graphs = read_graphs(source)
        if digest and digest != _digest(graphs):
            raise ValueError(
                f"the graphs of {source} are not those that the record {name} is of: put these in their place"
            )
        return graphs
    fraction, count = generated.groups()
    made = point_patterns(float(fraction), int(count)) if count else point_patterns(float(fraction))
    return GraphSet(**{**made.tensors, "name": name})


def recorded_name(graphs: GraphSet) -> str:
    """What records call a set: its name, and of one that was read what is in it too, since another may be called so."""
    return graphs.name if _POINTS.fullmatch(graphs.name) else f"{graphs.name}{MARK}{_digest(graphs)}"


def _digest(graphs: GraphSet) -> str:
    found = hashlib.sha256()
    for part in (graphs.x, graphs.edge_index, graphs.ptr, graphs.y, graphs.edge_weight):
        found.update(b"" if part is None else part.cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:8]


def check_split(task: Task) -> None:
    """Refuses a split that is not told how many folds or runs there are."""
    if task.split not in COUNTS:
        raise ValueError(f"split must be one of {', '.join(COUNTS)} for whole graphs, got {task.split!r}")
    name, least = COUNTS[task.split]
    if not is_whole(task.settings.get(name), least):
        raise ValueError(f"settings must have {name}, a whole number of at least {least}, got {task.settings!r:.200}")


def number_of(task: Task) -> int:
    """The fold or run of a training: seed s has split s mod n."""
    return task.seed % task.settings[COUNTS[task.split][0]]


def parts_of(graphs: GraphSet, task: Task) -> GraphParts:
    """The parts of all its folds or runs, (G, n). They are drawn from seed 0, so that all models have the same."""
    return _drawn(graphs, task.split, task.settings[COUNTS[task.split][0]])


@lru_cache(maxsize=4)
def _drawn(graphs: GraphSet, split: str, count: int) -> GraphParts:
    return graph_folds(graphs.y, count) if split == "given" else graph_split(graphs.y, runs=count)


def held(graphs: GraphSet, mask: Tensor, part: str, batch_size: int) -> list[GraphBatch]:
    """The graphs that are not trained on, in batches for all epochs.

    Trials of one fold have batches of their own: `fit` evaluates a batch for those trials alone whose graphs are in it.

    Args:
        graphs: the set.
        mask: (G,), or (G, S) with a column for each trial.
        part: "val" or "test".
        batch_size: graphs in a batch.
    """
    found: list[GraphBatch] = []
    for columns in _alike(mask):
        own = mask if columns is None else mask & torch.tensor([s in columns for s in range(mask.size(1))])
        none = torch.zeros_like(own)
        parts = GraphParts(none, **{name: own if name == part else none for name in ("val", "test")})
        found += GraphBatches(graphs, parts, part, batch_size=batch_size)
    return found


def _alike(mask: Tensor) -> Iterator[Sequence[int] | None]:
    """Columns with the same graphs, together; None for a mask that has none."""
    if mask.dim() == 1:
        yield None
        return
    groups: dict[bytes, list[int]] = {}
    for s, column in enumerate(mask.T):
        groups.setdefault(column.numpy().tobytes(), []).append(s)
    yield from groups.values()
