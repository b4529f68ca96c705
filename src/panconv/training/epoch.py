"""One epoch of S trials side by side, and the state of each trial that was best so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim import Optimizer

HISTORY = ("train_loss", "val_loss", "val_accuracy")
KEEP = ("loss", "accuracy", "both", "last")


class Nodes(NamedTuple):
    """The classes of all nodes, and which of them to learn from and to choose by."""

    y: Tensor  # (N,)
    train: Tensor  # (n,), or (n, S) where each trial has its own
    val: Tensor


class Limits(NamedTuple):
    """How long a trial goes on, and what makes an epoch its best."""

    epochs: int  # at most
    patience: int  # epochs without progress on the validation nodes after which a trial ends
    keep: str = "loss"
    """A "loss" below all before, an "accuracy" not below any before, or "both" at least as good as ever; with "both"
    either of them is progress. "last": the last epoch, and a trial ends when its loss is above the mean of the
    `patience` before."""


class Epoch:
    """A step on the training nodes, an evaluation on the validation nodes, and what is kept of them; called again and
    again.

    Whatever it changes is a tensor changed in place, the number of the epoch too, and no value is looked at from the
    host: so a GPU never waits, and can replay the whole of it. An epoch after a trial's end changes nothing of what is
    kept of that trial.

    Args:
        model: scores (N, C), or (N, S, C), from `inputs`; with `key(seeds, epoch)` for its dropout, and parameters
            (S, …) where `trials` is S.
        optimizer: of its parameters.
        inputs: what the model is called with.
        nodes: their classes, and which to learn from and to choose by.
        seeds: one per trial.
        limits: how long, and what is best.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Optimizer,
        inputs: tuple[Any, ...],
        nodes: Nodes,
        seeds: Sequence[int],
        limits: Limits,
    ) -> None:
        self.model, self.optimizer, self.inputs = model, optimizer, inputs
        epochs, self.patience, self.keep = limits
        self.train, self.val = ((chosen, nodes.y[chosen]) for chosen in (nodes.train, nodes.val))
        self.parameters = list(model.parameters())
        self.state = [*self.parameters, *_running(model)]
        dtype = self.parameters[-1].dtype  # path weights, which may be wider, come first
        device, S = nodes.y.device, len(seeds)
        self.seeds = torch.tensor(seeds, device=device)
        self.number = torch.zeros(1, dtype=torch.long, device=device)
        self.history = {name: torch.full((epochs, S), torch.nan, dtype=dtype, device=device) for name in HISTORY}
        # By trial: what it was at its best, and whether it still runs.
        self.best_state = [p.detach().clone() for p in self.state]
        self.best_loss = torch.full((S,), torch.inf, dtype=dtype, device=device)
        self.best_accuracy = torch.zeros(S, dtype=dtype, device=device)
        self.best_epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.last_epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.running = torch.ones(S, dtype=torch.bool, device=device)
        # The lowest and the highest so far, not always of the same epoch, and the last epoch with progress.
        self.lowest, self.highest = self.best_loss.clone(), self.best_accuracy.clone()
        self.progress = torch.zeros(S, dtype=torch.long, device=device)

    def __call__(self) -> None:
        self.number += 1
        self.model.train()
        train_loss = self._step()
        self.model.eval()
        with torch.no_grad():
            val_loss, val_accuracy = score(self.model(*self.inputs), *self.val)
            self._record(train_loss, val_loss, val_accuracy)
            self._choose(val_loss, val_accuracy)

    def _step(self) -> Tensor:
        """Trains on the training nodes once; the loss of each trial before that, (S,)."""
        self.model.key(self.seeds, self.number[0])
        train_loss = losses(self.model(*self.inputs), *self.train)
        descend(self.optimizer, train_loss.sum())
        return train_loss.detach()

    def _record(self, *values: Tensor) -> None:
        for row, value in zip(self.history.values(), values, strict=True):
            row.index_copy_(0, self.number - 1, value.where(self.running, torch.nan).to(row.dtype).unsqueeze(0))

    def _choose(self, val_loss: Tensor, val_accuracy: Tensor) -> None:
        better, goes_on = self._judge(val_loss, val_accuracy)
        _replace(self.best_loss, better, val_loss)
        _replace(self.best_accuracy, better, val_accuracy)
        _replace(self.best_epoch, better, self.number)
        _replace(self.last_epoch, self.running, self.number)
        for kept, p in zip(self.best_state, self.state, strict=True):
            stacked = self.model.trials is not None
            _replace(kept, better.reshape(-1, *[1] * (kept.dim() - 1)) if stacked else better[0], p)
        self.running &= goes_on

    def _judge(self, val_loss: Tensor, val_accuracy: Tensor) -> tuple[Tensor, Tensor]:
        """By trial: whether this is its best epoch so far, and whether it goes on."""
        if self.keep == "last":  # the last so far counts as the best: it is what stays
            return self.running.clone(), ~self._rises(val_loss)
        better, progress = self._compare(val_loss, val_accuracy)
        _replace(self.progress, progress, self.number)
        return better, self.number - self.progress < self.patience

    def _rises(self, val_loss: Tensor) -> Tensor:
        """GCN's rule: whether the loss is above the mean of the `patience` epochs before, once there are that many."""
        history = self.history["val_loss"]
        epoch = torch.arange(1, len(history) + 1, device=history.device)
        before = (epoch < self.number) & (epoch >= self.number - self.patience)
        mean = history.where(before.unsqueeze(1), 0).sum(0) / self.patience
        return (self.number > self.patience + 1) & (val_loss > mean)

    def _compare(self, val_loss: Tensor, val_accuracy: Tensor) -> tuple[Tensor, Tensor]:
        """By trial: whether this is its best epoch so far, and whether it improved at all."""
        if self.keep == "loss":
            better = self.running & (val_loss < self.best_loss)
            return better, better
        usable = self.running & val_loss.isfinite()
        right = usable & (val_accuracy >= self.highest)
        sure = usable & (val_loss <= self.lowest)
        _replace(self.highest, right, val_accuracy)
        _replace(self.lowest, sure, val_loss)
        return (right, right) if self.keep == "accuracy" else (right & sure, right | sure)

    def restore(self) -> None:
        """Gives the model the parameters and running means of each trial's best epoch."""
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for p, kept in zip(self.state, self.best_state, strict=True):
                p.copy_(kept)


def _running(model: Any) -> list[Tensor]:
    """What a model learns without gradients, such as running means: its buffers, by trial where there are trials."""
    S = model.trials
    return [b for b in model.buffers() if S is None or (b.dim() and b.size(0) == S)]


def descend(optimizer: Optimizer, loss: Tensor) -> None:
    """One step down the slope of a loss."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def score(scores: Tensor, nodes: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy and accuracy of each trial on some nodes (n,) or (n, S) of classes y (the same), (S,) each.

    Args:
        scores: (N, C) or (N, S, C).
    """
    chosen, target = _chosen(scores, nodes, y)
    return _cross_entropy(chosen, target), (chosen.argmax(-1) == target).float().mean(0)


def losses(scores: Tensor, nodes: Tensor, y: Tensor) -> Tensor:
    """Cross entropy of each trial on some nodes, (S,)."""
    return _cross_entropy(*_chosen(scores, nodes, y))


def _cross_entropy(chosen: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(chosen.flatten(0, 1), target.flatten(), reduction="none").reshape(target.shape).mean(0)


def _chosen(scores: Tensor, nodes: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Scores (n, S, C) and classes (n, S), where one trial has a dimension too."""
    if scores.dim() == 2:
        scores = scores.unsqueeze(1)
    if nodes.dim() == 1:
        return scores.index_select(0, nodes), y.unsqueeze(1).expand(-1, scores.size(1))
    return scores.gather(0, nodes.unsqueeze(-1).expand(-1, -1, scores.size(-1))), y


def _replace(kept: Tensor, where: Tensor, new: Tensor) -> None:
    kept.copy_(torch.where(where, new, kept))
