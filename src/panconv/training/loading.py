"""What `fit` learns from where it comes in batches: those of a loader, or some graphs in a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch_geometric.data.data import BaseData

from panconv.base.checks import kind_of
from panconv.training.inputs import Reader, Task, as_learned, check_known, checked_parts, is_graph
from panconv.training.objective import Part, Sample


def first_batch(loaders: Mapping[str, Any]) -> Any:
    """What the model is tried on."""
    if loaders["val"] is None:
        raise ValueError(
            "val is missing: a loader goes with another one to choose the best epoch by, fit(model, loader, val=…); of "
            "a dataset of one graph with masks give the graph, dataset[0]"
        )
    batch = next(iter(checked_loader(loaders["train"], "train")), None)
    if batch is None:
        raise ValueError("data gives no batch: it needs at least one")
    return batch


def loader_task(loaders: Mapping[str, Any], read: Reader, C: int) -> Task:
    """The batches of each part, for a model of C scores."""
    found = {part: Batches(each, part, read, C) for part, each in loaders.items() if each is not None}
    return Task(found["train"], found["val"], found.get("test"), False)


class Batches:
    """The batches of a loader as samples, read anew in every epoch.

    All rows of a batch count, or those of its `batch_size` seed nodes, which come first; where it has a mask of the
    part's name, only those.

    Args:
        loader: gives graphs, or batches of graphs, as often as it is asked.
        part: "train", "val" or "test".
        read: makes the model's inputs.
        C: scores of the model.
    """

    def __init__(self, loader: Any, part: str, read: Reader, C: int) -> None:
        self.loader, self.part, self.read, self.C = checked_loader(loader, part), part, read, C

    def __iter__(self) -> Iterator[Sample]:
        some = False
        for batch in self.loader:
            sample = self._sample(batch)
            if len(sample.part.y):
                some = True
                yield sample
        if not some:
            raise ValueError(f"{_called(self.part)} gives no batch with a row to {self.part} on: it needs at least one")

    def _sample(self, batch: Any) -> Sample:
        _, y = checked_parts(batch)
        if getattr(batch, "sample_weight", None) is not None:
            raise ValueError("sample_weight goes with one graph and its masks, got a batch with it: take it out")
        mask, seeds = getattr(batch, f"{self.part}_mask", None), _seeds(batch)
        rows = torch.arange(len(y) if seeds is None else seeds) if mask is not None or seeds is not None else None
        if mask is not None and rows is not None:
            rows = rows[mask[: len(rows)].cpu()]
        y = y if rows is None else y[rows.to(y.device)]
        check_known(y, self.C)
        y = as_learned(y, self.read.device, self.read.dtype)
        return self.read(batch).with_part(
            Part(None if rows is None else rows.to(self.read.device), y.unsqueeze(1)),
        )


def checked_loader(loader: Any, part: str) -> Any:
    """Something that gives its batches in every epoch; one graph is a batch."""
    if isinstance(loader, BaseData):
        return [loader]
    if is_graph(loader) or isinstance(loader, Iterator):
        kind = "an iterator, which gives its batches once" if isinstance(loader, Iterator) else kind_of(loader)
        raise TypeError(f"{_called(part)} must be a graph, a list of graphs or a loader of batches, got {kind}")
    return loader


def _called(part: str) -> str:
    return "data" if part == "train" else part


def _seeds(batch: Any) -> int | None:
    """How many seed nodes come first. A PyG `Batch` calls the number of its graphs by the same name."""
    stored = "batch_size" in batch if isinstance(batch, BaseData) else hasattr(batch, "batch_size")
    return int(batch.batch_size) if stored and batch.batch_size is not None else None
