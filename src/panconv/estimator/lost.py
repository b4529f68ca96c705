"""What candidates lose on labels that they did not see, and which of them is taken."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.estimator.calibration import temperature
from panconv.estimator.compared import mean_and_error, standard_errors
from panconv.estimator.losses import LOSSES
from panconv.estimator.penalties import Task
from panconv.estimator.together import gain_of_seeds

_CLEARLY = 0.5  # standard errors: a candidate that loses as many more than the best loses clearly more


class Lost(NamedTuple):
    """What each labelled row lost."""

    each: Tensor  # (n,), float64; NaN where a row was never held out
    weight: Tensor  # (n,)

    @staticmethod
    def of(scores: Tensor, task: Task, by_seed: Tensor | None = None) -> Lost:
        """The log loss, at the best temperature; of numbers the square, where each column's variance is 1.

        Args:
            scores: (n, C), out of fold.
            task: the same rows.
            by_seed: (m, S, C) where S seeds will answer together, of whom one has told each row: what they say of
                nodes that none of them has learned from. By what they lose less together, all rows lose less.
        """
        T, unit = 1.0, None
        if task.loss == "squared":
            unit = _spread(task)
            each = ((scores - task.targets).square() / unit).mean(1)
        else:
            T = temperature(scores, task.targets, task.weight, task.loss)
            each = LOSSES[task.loss].value((scores / T).unsqueeze(1), task.targets.unsqueeze(1)).squeeze(1)
        if by_seed is not None:
            each = each - gain_of_seeds(by_seed / T, task.loss, unit).mean()
        return Lost(each, task.weight)

    @property
    def mean(self) -> float:
        """NaN where nothing was held out."""
        return float(mean_and_error(self.each, self.weight)[0])

    def less(self, other: Lost) -> float:
        """By how many standard errors the other one loses less than this."""
        return standard_errors(self.each, other.each, self.weight)


def least(lost: dict[str, Lost]) -> str:
    """The name of what is taken, of candidates in the order of their simplicity: the first that does not lose clearly
    more than the best."""
    told = {name: each.mean for name, each in lost.items()}
    known = [name for name, mean in told.items() if mean == mean]
    if not known:
        return next(iter(lost))
    best = min(known, key=told.__getitem__)
    return next(name for name in known if name == best or lost[name].less(lost[best]) < _CLEARLY)


def _spread(task: Task) -> Tensor:
    """The variance of each column, (C,); 1 of one that varies by rounding alone."""
    share = (task.weight / task.weight.sum()).unsqueeze(1)
    mean = (share * task.targets).sum(0)
    spread = (share * (task.targets - mean).square()).sum(0)
    return torch.where(spread > 1e-24 * mean.square(), spread, 1.0)
