"""One epoch of S trials side by side, and the state of each trial that was best so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from panconv.training.adam import told_apart
from panconv.training.clipping import Clip
from panconv.training.metrics import METRICS
from panconv.training.objective import Picked, Sample, gathered, losses, measured, picked

KEEP = ("loss", "accuracy", "both", "last", "metric")


class Limits(NamedTuple):
    """How long a trial goes on, and what makes an epoch its best."""

    epochs: int  # at most
    patience: int  # epochs without progress on the validation nodes after which a trial ends
    keep: str = "loss"
    """A "loss" below all before, a "metric" (or "accuracy", where that is the metric) not worse than any before, or
    "both" at least as good as ever; with "both" either of them is progress. "last": the last epoch, and a trial ends
    when its loss is above the mean of the `patience` before."""
    metric: str = "accuracy"


class Epoch:
    """A step on each training sample, an evaluation on the validation samples, and what is kept of them; called again
    and again.

    Whatever it changes is a tensor changed in place, the number of the epoch too, and no value is looked at from the
    host: so a GPU never waits, and can replay the whole of it where the samples stay the same. An epoch after a trial's
    end changes nothing of what is kept of that trial.

    Args:
        model: scores (N, C), or (N, S, C), of a sample; with `key(seeds, step)` for its dropout, and parameters and
            buffers (S, …) where `trials` is S.
        optimizer: of its parameters.
        train, val: what to learn from, a step each, and what to choose by.
        seeds: one per trial.
        limits: how long, and what is best.
        regularizer: what a step goes down in place of the plain loss, as `panconv.training.consistency` tells.
        clip: what keeps gradients short; None for nothing.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Optimizer,
        train: Iterable[Sample],
        val: Iterable[Sample],
        seeds: Sequence[int],
        limits: Limits,
        regularizer: Callable[[Any, Sample], Tensor] | None = None,
        clip: Clip | None = None,
    ) -> None:
        self.regularizer, self.clip = regularizer, clip
        self.model, self.optimizer, self.train, self.val = model, optimizer, train, val
        epochs, self.patience, self.keep, self.metric = limits
        self.sign = METRICS[self.metric].sign
        parameters = list(model.parameters())
        self.state = [*parameters, *_running(model)]
        dtype, device = parameters[-1].dtype, parameters[-1].device  # path weights, which may be wider, come first
        S, names = len(seeds), ("train_loss", "val_loss", f"val_{self.metric}")
        self.seeds = torch.tensor(seeds, device=device)
        self.number = torch.zeros(1, dtype=torch.long, device=device)  # of the epoch
        self.steps = self.number.clone()  # of all epochs
        self.history = {name: torch.full((epochs, S), torch.nan, dtype=dtype, device=device) for name in names}
        # By trial: what it was at its best, and whether it still runs.
        self.best_state = [each.detach().clone() for each in self.state]
        self.best_loss = torch.full((S,), torch.inf, dtype=dtype, device=device)
        self.best_metric = torch.full((S,), METRICS[self.metric].worst, dtype=dtype, device=device)
        self.best_epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.last_epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.running = torch.ones(S, dtype=torch.bool, device=device)
        # The lowest and the highest so far, not always of the same epoch, and the last epoch with progress.
        self.lowest, self.highest = self.best_loss.clone(), -self.best_loss
        self.progress = torch.zeros(S, dtype=torch.long, device=device)

    def __call__(self, learn: Callable[[], Tensor] | None = None, judge: Callable[[], Picked] | None = None) -> None:
        """One epoch.

        Args:
            learn: what trains, in place of going through the training samples, and gives each trial's loss, (S,).
            judge: what gives the scores to choose by, in place of going through the validation samples.
        """
        self.number += 1
        self.model.train()
        train_loss = self._step() if learn is None else learn()
        self.model.eval()
        with torch.no_grad():
            found = gathered(self.model, self.val) if judge is None else judge()
            val_loss, val_metric = measured(found, self.metric)
            val_metric = val_metric.to(self.best_metric.dtype)  # as it is kept: to be compared with itself later
            self._record(train_loss, val_loss, val_metric)
            self._choose(val_loss, val_metric)

    def loss(self, sample: Sample) -> Tensor:
        """What a step on a sample goes down, by trial, (S,)."""
        if self.regularizer is not None:
            return self.regularizer(self.model, sample)
        return losses(picked(sample.scores(self.model), sample.part))

    def _step(self) -> Tensor:
        """Trains on every sample once; the mean of each trial's losses, each before its step, (S,)."""
        found, rows = zip(*map(self.step_on, self.train), strict=True)
        if len(found) == 1:
            return found[0]
        return torch.stack([each * n for each, n in zip(found, rows, strict=True)]).sum(0) / sum(rows)

    def step_on(self, sample: Sample) -> tuple[Tensor, int | Tensor]:
        """Trains on a sample; the loss of each trial before the step, (S,), and how many rows it is of."""
        absent = None if sample.absent is None else sample.absent.to(self.steps.device)
        step = self._number_of_step(absent)
        self.model.key(self.seeds, step)
        loss = self.loss(sample._replace(step=step))
        if absent is not None:
            self.optimizer = optimizer = told_apart(self.optimizer)
            optimizer.resting = absent
        descend(self.optimizer, loss.sum(), self._clipped)
        return loss.detach(), sample.part.size()

    def _clipped(self) -> None:
        """Cuts the gradients, where they are to be."""
        if self.clip is not None:
            self.clip(self.model.parameters(), by_trial=self.model.trials is not None)

    def _number_of_step(self, absent: Tensor | None) -> Tensor:
        """That of the step to take: of each trial, once one of them has been absent from another, (S,)."""
        if absent is not None and len(self.steps) == 1:
            self.steps = self.steps.repeat(len(absent))
        self.steps += 1 if absent is None else ~absent
        return self.steps[0] if len(self.steps) == 1 else self.steps.clone()

    def _record(self, *values: Tensor) -> None:
        for row, value in zip(self.history.values(), values, strict=True):
            row.index_copy_(0, self.number - 1, value.where(self.running, torch.nan).to(row.dtype).unsqueeze(0))

    def _choose(self, val_loss: Tensor, val_metric: Tensor) -> None:
        better, goes_on = self._judge(val_loss, val_metric)
        _replace(self.best_loss, better, val_loss)
        _replace(self.best_metric, better, val_metric)
        _replace(self.best_epoch, better, self.number)
        _replace(self.last_epoch, self.running, self.number)
        for kept, now in zip(self.best_state, self.state, strict=True):
            stacked = self.model.trials is not None
            _replace(kept, better.reshape(-1, *[1] * (kept.dim() - 1)) if stacked else better[0], now)
        self.running &= goes_on

    def _judge(self, val_loss: Tensor, val_metric: Tensor) -> tuple[Tensor, Tensor]:
        """By trial: whether this is its best epoch so far, and whether it goes on."""
        if self.keep == "last":  # the last so far counts as the best: it is what stays
            return self.running.clone(), ~self._rises(val_loss)
        better, progress = self._compare(val_loss, val_metric)
        _replace(self.progress, progress, self.number)
        return better, self.number - self.progress < self.patience

    def _rises(self, val_loss: Tensor) -> Tensor:
        """GCN's rule: whether the loss is above the mean of the `patience` epochs before, once there are that many."""
        history = self.history["val_loss"]
        epoch = torch.arange(1, len(history) + 1, device=history.device)
        before = (epoch < self.number) & (epoch >= self.number - self.patience)
        mean = history.where(before.unsqueeze(1), 0).sum(0) / self.patience
        return (self.number > self.patience + 1) & (val_loss > mean)

    def _compare(self, val_loss: Tensor, val_metric: Tensor) -> tuple[Tensor, Tensor]:
        """By trial: whether this is its best epoch so far, and whether it improved at all."""
        if self.keep == "loss":
            better = self.running & (val_loss < self.best_loss)
            return better, better
        usable = self.running & val_loss.isfinite()
        merit = self.sign * val_metric
        right = usable & (merit >= self.highest)
        sure = usable & (val_loss <= self.lowest)
        _replace(self.highest, right, merit)
        _replace(self.lowest, sure, val_loss)
        return (right & sure, right | sure) if self.keep == "both" else (right, right)

    def restore(self) -> None:
        """Gives the model the parameters and running means of each trial's best epoch."""
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for now, kept in zip(self.state, self.best_state, strict=True):
                now.copy_(kept)


def _running(model: Any) -> list[Tensor]:
    """What a model learns without gradients, such as running means: its buffers, by trial where there are trials.
    Those that are no part of its state dict are settings, and stay as they are."""
    S, learned = model.trials, model.state_dict().keys()
    buffers = [b for name, b in model.named_buffers() if name in learned]
    return [b for b in buffers if S is None or (b.dim() and b.size(0) == S)]


def descend(optimizer: Optimizer, loss: Tensor, change: Callable[[], None] | None = None) -> None:
    """One step down the slope of a loss, with a change to its gradients if there is one to make."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if change is not None:
        change()
    optimizer.step()


def _replace(kept: Tensor, where: Tensor, new: Tensor) -> None:
    kept.copy_(torch.where(where, new, kept))
