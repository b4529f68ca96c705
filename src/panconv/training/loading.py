"""What `fit` learns from where it comes in batches: those of a loader, or some graphs in a list."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data.data import BaseData

from panconv.base.checks import kind_of, shown
from panconv.training.inputs import Inputs, Reader, Task, as_learned, check_known, checked_parts, is_graph
from panconv.training.objective import GRAPH_WEIGHT, Part, Sample


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


def loader_task(loaders: Mapping[str, Any], read: Reader, model: Any) -> Task:
    """The batches of each part, for a model that is made ready."""
    found = {part: Batches(each, part, read, model) for part, each in loaders.items() if each is not None}
    return Task(found["train"], found["val"], found.get("test"), False)


class Batches:
    """The batches of a loader as samples, read anew in every epoch.

    All rows of a batch count, or those of its `batch_size` seed nodes, which come first; where it has a mask of the
    part's name, only those. A mask (n, S) has a column for each trial, and a row counts in the trials whose column says
    so. A model that asks for it is told, while it trains, which graphs are a trial's own.

    Args:
        loader: gives graphs, or batches of graphs, as often as it is asked.
        part: "train", "val" or "test".
        read: makes the model's inputs.
        model: what is trained.
    """

    def __init__(self, loader: Any, part: str, read: Reader, model: Any) -> None:
        self.loader, self.part, self.read = checked_loader(loader, part), part, read
        self.C, self.trials = model.out_channels, model.trials or 1
        self.which: list[int] | None = None  # of the trials, where a training goes on with some of them

    def __iter__(self) -> Iterator[Sample]:
        some, missing = False, torch.ones(self.trials, dtype=torch.bool)
        for batch in self.loader:
            sample = self._sample(batch)
            if len(sample.part.y):
                some, missing = True, missing & (False if sample.absent is None else sample.absent)
                yield sample if self.which is None else sample.of_trials(self.which)
        if not some:
            raise ValueError(f"{_called(self.part)} gives no batch with a row to {self.part} on: it needs at least one")
        if self.part != "test" and bool(missing.any()):
            raise ValueError(
                f"{_called(self.part)} gives no row whose {self.part}_mask is true for trial "
                f"{int(missing.nonzero()[0])}: every trial needs at least one"
            )

    def of_trials(self, which: Sequence[int]) -> Batches:
        """The same batches for some of the trials alone."""
        few = copy.copy(self)
        few.which = [int(each) if self.which is None else self.which[each] for each in which]
        return few

    def _sample(self, batch: Any) -> Sample:
        _, y = checked_parts(batch)
        if getattr(batch, "sample_weight", None) is not None:
            raise ValueError("sample_weight goes with one graph and its masks, got a batch with it: take it out")
        mask, seeds = getattr(batch, f"{self.part}_mask", None), _seeds(batch)
        mask = None if mask is None else _columns(mask[: len(y) if seeds is None else seeds].cpu(), self.trials)
        rows = None if mask is None and seeds is None else torch.arange(len(y) if seeds is None else seeds)
        rows = rows if rows is None or mask is None else rows[mask if mask.dim() == 1 else mask.any(1)]
        y = y if rows is None else y[rows.to(y.device)]
        check_known(y, self.C)
        y = as_learned(y, self.read.device, self.read.dtype).unsqueeze(1)
        part = Part(None if rows is None else rows.to(self.read.device), y)
        sample = self._told(self.read(batch), mask if seeds is None else None).with_part(part)
        return sample if mask is None or mask.dim() == 1 else self._by_trial(sample, mask)

    def _by_trial(self, sample: Sample, mask: Tensor) -> Sample:
        """The same with a weight for each trial, 1 or 0 by its mask, (n, S)."""
        weight, absent = mask[mask.any(1)].to(self.read.device, self.read.dtype), ~mask.any(0)
        part = sample.part._replace(weight=weight, filled=True)
        return sample._replace(part=part, absent=absent if bool(absent.any()) else None)

    def _told(self, inputs: Inputs, mask: Tensor | None) -> Inputs:
        """Which graphs are a trial's own, for a model that wants to know, and where not all are."""
        if self.part != "train" or not self.read.weighs or mask is None or bool(mask.all()):
            return inputs
        if mask.dim() == 2 and self.read.takes is not None:  # copies side by side, which are all told the same
            raise ValueError(
                f"train_mask has a column for each of {self.trials} trials, but the model takes {GRAPH_WEIGHT} and is "
                "trained in copies, which share it: give fit one seed at a time"
            )
        weight = mask.to(self.read.device, self.read.dtype)
        return inputs._replace(named={**inputs.named, GRAPH_WEIGHT: weight})


def _columns(mask: Tensor, trials: int) -> Tensor:
    """A mask (n,), or (n, S) where the trials have each its own."""
    if mask.dtype != torch.bool or mask.dim() > 2 or (mask.dim() == 2 and mask.size(1) != trials):
        raise ValueError(
            f"the masks of a batch must be boolean, (n,) or (n, {trials}), a column per trial, got {shown(mask)}"
        )
    return mask.squeeze(1) if mask.dim() == 2 and trials == 1 else mask


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
