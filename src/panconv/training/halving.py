"""Successive halving: of settings that train side by side, the worse half ends early, unless it is still moving.

Short runs choose wrongly: a setting with a small step may be the worst at a quarter of the way and the best at its end.
So whatever has lowered its validation loss in the last third of the epochs goes on, however far behind it is, and
likewise what has raised its validation metric there, where the best epoch is chosen by that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from panconv.records.record import Task

BY_METRIC = ("metric", "accuracy", "both")  # of `keep`: what looks at the metric to find the best epoch
RUNGS = (0.25, 0.5)  # shares of the epochs
_RECENT = 1 / 3  # of the epochs done


def survivors(
    val_loss: Tensor,  # (epochs done, S), NaN once a trial has stopped
    val_metric: Tensor,  # (epochs done, S)
    settings: Tensor,  # (S,): the number of each trial's setting, from 0
    out: Tensor,  # (S,): which trials have been cut before
    by_metric: bool = False,  # whether a metric that rises counts as moving too
) -> Tensor:  # (S,): which trials go on
    """The rule of a rung: settings are ranked by the mean, over their seeds, of the best validation metric so far, a
    tie goes to the lower loss, and the worse half is cut but for those that still move."""
    loss = val_loss.double().nan_to_num(torch.inf, torch.inf, torch.inf)
    lowest, at = loss.min(0)
    highest, reached = val_metric.double().nan_to_num(-torch.inf).max(0)  # the first time that it was that high
    last = torch.maximum(at, reached) if by_metric else at
    moving = last + 1 > len(loss) * (1 - _RECENT)
    inside = [s for s in range(int(settings.max()) + 1) if not bool(out[settings == s].all())]
    merit = {s: (float(highest[settings == s].mean()), -float(lowest[settings == s].mean())) for s in inside}
    worst_first = sorted(inside, key=merit.__getitem__)
    cut = [s for s in worst_first[: len(inside) // 2] if not bool(moving[settings == s].any())]
    return ~(out | torch.isin(settings, torch.tensor(cut, dtype=settings.dtype)))


class Halving:
    """What `fit` asks which trials go on: all of them, but at the first look at or after a rung those of `survivors`.

    Args:
        settings: the number of each trial's setting.
        rungs: epochs, rising.
        by_metric: whether the best epoch is chosen by the metric, so that a metric that rises counts as moving too.
    """

    def __init__(self, settings: Sequence[int], rungs: Sequence[int], by_metric: bool = False) -> None:
        self.settings, self.rungs, self.by_metric = torch.tensor(settings), list(rungs), by_metric
        self.out = torch.zeros(len(settings), dtype=torch.bool)

    def __call__(self, epoch: int, history: dict[str, Tensor], best_epoch: Tensor) -> Tensor | None:
        passed = [rung for rung in self.rungs if rung <= epoch]
        if not passed:
            return None
        self.rungs = self.rungs[len(passed) :]
        metric = next(name for name in history if name.startswith("val_") and name != "val_loss")
        loss, found = history["val_loss"].cpu(), history[metric].cpu()
        goes_on = survivors(loss, found, self.settings, self.out, self.by_metric)
        self.out = ~goes_on
        return goes_on.to(best_epoch.device)


def cutting(tasks: Sequence[Task]) -> dict[str, Any]:
    """What to give to `fit` for trainings side by side: `cut`, where their settings ask for halving."""
    how = tasks[0].settings
    rungs, by_metric = how.get("halving"), how.get("keep") in BY_METRIC
    numbers: dict[str, int] = {}
    settings = [numbers.setdefault(task.alike(), len(numbers)) for task in tasks]
    return {"cut": Halving(settings, rungs, by_metric)} if rungs and len(numbers) > 1 else {}
