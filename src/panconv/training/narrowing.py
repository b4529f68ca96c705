"""Fewer trials: where most of those side by side have ended, a training goes on with the others alone."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from panconv.base.checks import shown
from panconv.nn.kept import forget_what_stays
from panconv.training.adam import Rates, TrialAdam, adam, told_apart
from panconv.training.epoch import Epoch

_BY_TRIAL = ("best_loss", "best_metric", "best_epoch", "last_epoch", "running", "lowest", "highest", "progress")
# From how many trials on it is worth the while. A GPU has to record its epoch anew, and takes hardly less for fewer
# trials where it waits for the launches.
_LEAST = defaultdict(lambda: 32, cpu=2)
_SHAPED = ("exp_avg", "exp_avg_sq")  # of an optimizer's state, what has the shape of the parameter


Cut = Callable[[int, dict[str, Tensor], Tensor], Tensor | None]


def checked_cut(cut: Cut, done: int, epoch: Epoch) -> Tensor | None:
    """Which trials go on after so many epochs, (S,); None for all."""
    goes_on = cut(done, {name: values[:done] for name, values in epoch.history.items()}, epoch.best_epoch)
    if goes_on is None:
        return None
    S = len(epoch.running)
    if not isinstance(goes_on, Tensor) or goes_on.dtype != torch.bool or goes_on.shape != (S,):
        raise ValueError(f"cut must give a boolean tensor ({S},), one per trial, or None, got {shown(goes_on)}")
    return goes_on


class Narrowing:
    """The epoch of all trials, and the one that is run: of all, or of those that are left.

    What comes out for a trial is, to rounding, what would have come out among all.

    Args:
        full: of all trials.
        rates: those of its optimizer, to make another; None for an epoch that is not to be narrowed.
    """

    def __init__(self, full: Epoch, rates: Rates | None) -> None:
        self.full = self.now = full
        self.rates = rates
        self.rows = torch.arange(len(full.running), device=full.running.device)  # of all trials, those at hand
        able = [full.model] if full.regularizer is None else [full.model, full.regularizer]
        self.able = rates is not None and all(hasattr(each, "narrowed") for each in able)

    def end(self, goes_on: Tensor | None) -> None:
        """Ends trials of all, (S,), here and now."""
        if goes_on is not None:
            self.now.running &= goes_on.to(self.rows.device)[self.rows]

    def narrow(self, running: int) -> bool:
        """Goes on with the trials that run, so many of them, if that is less than half; whether it did."""
        if not self.able or 2 * running >= len(self.rows) or len(self.rows) < _LEAST[self.rows.device.type]:
            return False
        self.report(state=True)
        rows = self.now.running.nonzero().squeeze(1)
        assert self.rates is not None
        self.rates = self.rates.narrowed(rows.tolist())
        forget_what_stays()  # of the wider model, whose steps are not replayed any more
        before, self.now = self.now, narrowed(self.now, rows, self.rates)
        self.rows = self.rows[rows]
        before.optimizer.zero_grad(set_to_none=True)  # whose memory is not needed any more
        before.optimizer.state.clear()
        return True

    def report(self, state: bool = False) -> None:
        """Puts what has come out so far in its place among all trials; the best state only where that is asked for."""
        if self.now is self.full:
            return
        pairs = [(getattr(self.full, name), getattr(self.now, name), 0) for name in _BY_TRIAL]
        pairs += [(self.full.history[name], values, 1) for name, values in self.now.history.items()]
        if state:
            pairs += [(kept, best, 0) for kept, best in zip(self.full.best_state, self.now.best_state, strict=True)]
        for kept, found, dim in pairs:
            kept.index_copy_(dim, self.rows, found)


def narrowed(epoch: Epoch, rows: Tensor, rates: Rates) -> Epoch:
    """An epoch of some trials alone, with a model, an optimizer and samples of their own, from where they stand."""
    few, which = copy.copy(epoch), rows.tolist()
    few.model = epoch.model.narrowed(which)
    few.optimizer = _moved(epoch, few.model, rates, rows)
    few.regularizer = None if epoch.regularizer is None else epoch.regularizer.narrowed(which)  # type: ignore[attr-defined]
    few.clip = None if epoch.clip is None else epoch.clip.narrowed(which)
    few.train, few.val = _samples(epoch.train, which), _samples(epoch.val, which)
    few.state = _state(epoch, few.model)
    few.best_state = [kept[rows] for kept in epoch.best_state]
    few.history = {name: values[:, rows] for name, values in epoch.history.items()}
    few.seeds, few.number = epoch.seeds[rows], epoch.number.clone()
    few.steps = epoch.steps.clone() if len(epoch.steps) == 1 else epoch.steps[rows]
    for name in _BY_TRIAL:
        setattr(few, name, getattr(epoch, name)[rows])
    return few


def _samples(samples: Any, which: Sequence[int]) -> Any:
    """Those of a graph have columns by trial, and so may the batches of a loader."""
    return [each.of_trials(which) for each in samples] if isinstance(samples, list) else samples.of_trials(which)


def _state(epoch: Epoch, model: nn.Module) -> list[Tensor]:
    """The parameters and running means of a narrower model, in the order in which the epoch has them."""
    those = {id(each) for each in epoch.state}
    names = [name for name, each in epoch.model.named_buffers() if id(each) in those]
    buffers = dict(model.named_buffers())
    return [*model.parameters(), *(buffers[name] for name in names)]


def _moved(epoch: Epoch, model: Any, rates: Rates, rows: Tensor) -> Optimizer:
    """An optimizer for a narrower model that goes on where the other one stands."""
    device = rows.device
    optimizer = adam(model, rates.lr, rates.weight_decay, device, rates.decay_others)
    if isinstance(epoch.optimizer, TrialAdam):
        optimizer = told_apart(optimizer)
    counts: dict[int, Tensor] = {}  # of steps: one that parameters share stays shared, but torch's own share none
    for old, new in zip(epoch.model.parameters(), model.parameters(), strict=True):
        state = epoch.optimizer.state.get(old)
        if state:
            count = id(state["step"]) if isinstance(optimizer, TrialAdam) else id(new)
            step = counts.setdefault(count, state["step"][rows] if state["step"].dim() else state["step"].clone())
            optimizer.state[new] = {"step": step, **{name: state[name][rows] for name in _SHAPED}}
    return optimizer
