"""Epochs over a set of graphs as a GPU has them: a step is recorded once, for batches that are filled up to one size,
and then replayed for each batch.

A step launches some hundred small kernels, and to launch one takes longer than to run it.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from panconv.data.filled_batches import FilledBatches, wanted
from panconv.data.graph_batches import GraphBatch, GraphBatches
from panconv.training.cuda_graph import Replayed
from panconv.training.epoch import Epoch
from panconv.training.inputs import as_learned, checked_targets
from panconv.training.loading import Batches
from panconv.training.objective import GRAPH_WEIGHT, Part, Picked, Sample, picked

_log = logging.getLogger(__name__)


class ByBatch:
    """An epoch, called again and again, whose steps are replayed. What comes out is what would have, to rounding.

    The first one is gone through as any other, and so prepares of the set what the model asks for.

    Args:
        epoch: over batches of `GraphBatches`, as `able` says.
        device: of the model.
    """

    def __init__(self, epoch: Epoch, device: torch.device) -> None:
        self.epoch, self.device = epoch, device
        self.passes: tuple[Learning, Judging] | None = None
        self.goes_on = True  # to replay, as long as that is possible

    @staticmethod
    def able(epoch: Epoch) -> bool:
        """Whether an epoch can be had in this way: the model leaves out what fills up, and every trial has its part."""
        if epoch.regularizer is not None or not getattr(epoch.model, "leaves_out", False):
            return False
        found = [each.loader for each in (epoch.train, epoch.val) if isinstance(each, Batches)]
        return len(found) == 2 and all(
            type(each) is GraphBatches  # whose batches are what they are said to be
            and each.graphs.device == epoch.steps.device
            and bool(wanted(each).any(0).all())
            for each in found
        )

    def __call__(self) -> None:
        if self.passes is not None:
            self.epoch(*self.passes)
            self._look()
            return
        self.epoch()
        if self.goes_on:
            epoch, device = self.epoch, self.device
            self.passes = Learning(epoch, epoch.train, device), Judging(epoch, epoch.val, device)

    def _look(self) -> None:
        """Goes through batches as they are, where a GPU could not record what is done: to fill them up is work then."""
        if self.device.type == "cuda" and any(each.step.captured is False for each in self.passes or ()):
            _log.debug("a step could not be recorded, and is taken as it is")
            self.passes, self.goes_on = None, False


class Pass:
    """All batches of a part, one after another.

    Args:
        epoch: whose model is called.
        batches: as `fit` has them.
        device: where.
    """

    def __init__(self, epoch: Epoch, batches: Any, device: torch.device) -> None:
        self.epoch, self.device, self.part, self.dtype = epoch, device, batches.part, batches.read.dtype
        self.filled = FilledBatches(batches.loader)
        which = batches.which  # trials, of those that the masks have columns for
        self.columns = None if which is None else torch.tensor(which, device=device)
        self.order = torch.zeros(len(batches.loader), self.filled.size, dtype=torch.long, device=device)
        self.next = torch.zeros(1, dtype=torch.long, device=device)  # which batch it is, told where no host is asked
        self.step = self._recorder()

    def _recorder(self) -> Replayed:
        """Which does not hold what holds it: a recording goes, with its memory, as soon as nobody needs it."""
        return Replayed(partial(_one_of, weakref.ref(self)), self.device)

    def go_through(self, drawn: Sequence[Tensor]) -> None:
        self.order.copy_(self.filled.numbers(drawn))
        self.next.zero_()
        for which in drawn:
            absent = self._absent(which)
            if absent is None and self.filled.fits(which):
                self.step()
                continue
            self.next += 1
            if absent is None or not bool(absent.all()):  # a batch that nobody learns from is no step
                self._take(self.filled.plain(which), absent)

    def _absent(self, which: Tensor) -> Tensor | None:
        """The trials that take no part in a batch, (S,), where there are such."""
        return None

    def one(self) -> None:
        """The next batch, whichever it is."""
        which = self.order.index_select(0, self.next).squeeze(0)
        self.next += 1
        self._take(self.filled.batch(which), None)

    def _take(self, batch: GraphBatch, absent: Tensor | None) -> None:
        raise NotImplementedError

    def _sample(self, batch: GraphBatch, absent: Tensor | None) -> Sample:
        weight = self._weight(getattr(batch, f"{self.part}_mask"), batch.index)
        named = {"batch": batch.batch, "batch_size": batch.num_graphs}
        if self.part == "train":
            named[GRAPH_WEIGHT] = weight
        y = as_learned(checked_targets(batch.y), batch.y.device, self.dtype).unsqueeze(1)
        part = Part(None, y, weight.reshape(len(y), -1), filled=True)
        return Sample((batch.x.to(self.dtype), batch.adj), part, named, absent=absent)

    def _weight(self, mask: Tensor | None, index: Tensor) -> Tensor:
        """1 where a graph is in the part, (b,) or (b, S), else 0, from the numbers of graphs and their mask."""
        mask = index < self.filled.none if mask is None else mask
        if mask.dim() == 2 and self.columns is not None:
            mask = mask.index_select(1, self.columns)
        return mask.to(self.dtype)


def _one_of(batches: weakref.ref[Pass]) -> None:
    found = batches()
    assert found is not None
    found.one()


class Learning(Pass):
    """A step on each batch; gives the mean of each trial's losses, each before its step, (S,)."""

    def __init__(self, epoch: Epoch, batches: Any, device: torch.device) -> None:
        super().__init__(epoch, batches, device)
        self.total, self.rows = (torch.zeros_like(epoch.best_loss) for _ in range(2))

    def __call__(self) -> Tensor:
        self.total.zero_()
        self.rows.zero_()
        self.go_through(self.filled.drawn())
        return self.total / self.rows

    def _absent(self, which: Tensor) -> Tensor | None:
        absent = self.filled.absent(which)
        if len(absent) > 1 and self.columns is not None:
            absent = absent[self.columns.cpu()]
        return absent if bool(absent.any()) else None

    def _take(self, batch: GraphBatch, absent: Tensor | None) -> None:
        before = self.epoch.optimizer, self.epoch.steps
        loss, rows = self.epoch.step_on(self._sample(batch, absent))
        self.total += loss * rows
        self.rows += rows
        after = self.epoch.optimizer, self.epoch.steps
        if any(a is not b for a, b in zip(before, after, strict=True)):  # from now on each trial counts its own steps
            self.step = self._recorder()


class Judging(Pass):
    """The scores of each batch; gives those of all graphs of the part."""

    def __init__(self, epoch: Epoch, batches: Any, device: torch.device) -> None:
        super().__init__(epoch, batches, device)
        graphs, filled = batches.loader.graphs, self.filled
        shape = (filled.none + 1, len(epoch.running), epoch.model.out_channels)
        self.scores = torch.zeros(shape, dtype=self.dtype, device=device)
        kept = filled.loader.kept.nonzero().squeeze(1).to(device)
        y = as_learned(checked_targets(graphs.y), device, self.dtype).index_select(0, kept)
        mask = filled.masks.get(f"{self.part}_mask")
        weight = self._weight(None if mask is None else mask.index_select(0, kept), kept)
        self.kept = Part(kept, y.unsqueeze(1), weight.reshape(len(kept), -1), filled=True)

    def __call__(self) -> Picked:
        self.go_through(self.filled.mixed())
        return picked(self.scores, self.kept)

    def _take(self, batch: GraphBatch, absent: Tensor | None) -> None:
        found = self._sample(batch, None).scores(self.epoch.model)
        self.scores.index_copy_(0, batch.index, found.reshape(len(batch.index), *self.scores.shape[1:]))
