"""What a choice comes to on rows that had no say in it: made anew for each fold, by the rows of the other folds."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from panconv.estimator.penalties import Task


def without_say(pick: Callable[[Tensor], Tensor], task: Task) -> Tensor:
    """Scores (n, C), out of fold: those of a fold are of what the others choose. NaN where nothing was held out.

    What is chosen by the same rows that it is judged by looks better than it is. Nothing is trained for this: all that
    might be chosen has scores out of fold already.

    Args:
        pick: the scores (n, C), out of fold, of what rows with some weights (n,) choose.
        task: the rows.
    """
    scores = torch.zeros(task.targets.shape, dtype=torch.float64)
    for test, share in zip(task.folds.test.T, task.folds.shares.T, strict=True):
        others = task.weight * ~test
        able = bool((others[task.folds.held_out] > 0).any())  # a single fold has no others to ask
        scores += share.unsqueeze(1).where(test.unsqueeze(1), 0) * pick(others if able else task.weight).nan_to_num()
    scores[~task.folds.held_out] = torch.nan
    return scores
