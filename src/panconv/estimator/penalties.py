"""The penalty of a convex head, by cross-validation: all folds and some penalties side by side, strongest first."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.estimator.compared import mean_and_error, standard_errors
from panconv.estimator.folds import Folds
from panconv.estimator.losses import LOSSES
from panconv.estimator.solver import Problems, minimise, polished

# Per unit of weight, where rows have a mean squared length of 1: from next to the mean class to next to no penalty.
PENALTIES = tuple(10.0 ** (-0.4 * k) for k in range(1, 17))
SMALL = 2**20  # values of Q up to which float64, and four penalties at a time, cost nothing that is felt
_ENOUGH = {True: 1e-6, False: 1e-5}  # of the loss, in a fold, small or not; what is kept is solved to `_EXACT`
_EXACT = 1e-9
_GAIN = 1e-3  # what some weaker penalties must bring, or still weaker ones are not looked at
_KEPT = 2**18  # scores of a penalty, up to which those of all are kept
FALLBACK = 1e-2  # where there is nothing to choose by


class Task(NamedTuple):
    """What a head learns, row by row."""

    targets: Tensor  # (n, C)
    weight: Tensor  # (n,), float64
    folds: Folds
    loss: str  # a name of `LOSSES`, or "squared"

    def of(self, rows: Tensor) -> Task:
        return Task(self.targets[rows], self.weight[rows], self.folds.of(rows), self.loss)

    def each(self, values: Tensor) -> Tensor:
        """What each row lost, the mean of its folds, (n,) of values (n, K); NaN where none was held against it."""
        test = self.folds.test
        return (values.double() * test).sum(1) / test.sum(1)

    def held_out(self, values: Tensor) -> Tensor:
        """The mean of what rows lost in the folds that they were held against, (P,) of values (n, P, K)."""
        counted = self.weight.unsqueeze(1) * self.folds.test  # (n, K)
        return (values.double() * counted.unsqueeze(1)).sum((0, 2)) / counted.sum()


class Chosen(NamedTuple):
    """What cross-validation found."""

    penalty: float  # per unit of weight
    loss: float  # held out, the mean of the rows; NaN where there was nothing to choose by
    tried: dict[float, float]  # the loss by penalty
    scores: Tensor  # (n, C), out of fold; NaN for rows that no fold was held against
    lost: Tensor  # (n,), what each row lost out of fold, float64
    start: Tensor | None = None  # (r + 1, C): the mean of the folds' coefficients


def with_ones(Q: Tensor) -> Tensor:
    """With a last column for what is added to the scores."""
    return torch.cat([Q, Q.new_ones(len(Q), 1)], dim=1)


def able(found: list[Chosen], weight: Tensor) -> list[Chosen]:
    """Those that lose no more than the best does and a standard error, of rows with these weights.

    The strongest of these penalties is the choice: the lowest point of a noisy curve is too weak a penalty where labels
    are few (docs/estimator.md).
    """
    best = least_lost(found, weight)
    return [each for each in found if each is best or standard_errors(each.lost, best.lost, weight) < 1]


def least_lost(found: list[Chosen], weight: Tensor) -> Chosen:
    """The one that rows with these weights lose least by."""
    return min(found, key=lambda each: float(mean_and_error(each.lost, weight)[0]))


def chosen(Q: Tensor, task: Task, penalties: tuple[float, ...] = PENALTIES) -> Chosen:
    """The strongest penalty whose held-out loss is not clearly above the lowest; arguments as in `compared`."""
    return able(compared(Q, task, penalties), task.weight)[0]


def compared(Q: Tensor, task: Task, penalties: tuple[float, ...] = PENALTIES) -> list[Chosen]:
    """What each penalty comes to; of many rows those that are able, since much would have to be held for the others.

    Args:
        Q: (n, r + 1), the rows on their axes and a column of ones.
        task: what they are to tell.
        penalties: descending.
    """
    K = task.folds.K
    if not bool(task.folds.held_out.any()):
        return [nothing_held_out(task)]
    small = Q.numel() <= SMALL
    found: list[Chosen] = []
    start, at_once = None, 4 if small else 2
    tried: dict[float, float] = {}
    squares = Q.square().T @ task.weight.to(Q.dtype)
    for first in range(0, len(penalties), at_once):
        some = penalties[first : first + at_once]
        problems = _problems(Q, task, some, squares)
        start = None if start is None else start.repeat(1, len(some), 1)
        W = minimise(problems, start, _ENOUGH[small])
        scores = problems.scores(W)
        lost = problems.loss.value(scores, problems.targets).unflatten(1, (len(some), K))
        losses = task.held_out(lost).tolist()
        before = min(tried.values(), default=math.inf)
        tried |= dict(zip(some, losses, strict=True))
        for place, penalty in enumerate(some):
            own = task.folds.out_of_fold(scores.unflatten(1, (len(some), K))[:, place].double())
            mean = W.unflatten(1, (len(some), K))[:, place].mean(1)
            found.append(Chosen(penalty, losses[place], tried, own, task.each(lost[:, place]), mean))
        if task.targets.numel() > _KEPT:
            found = able(found, task.weight)
        if losses[-1] > min(losses) or min(losses) > before - _GAIN:  # weaker ones are no better
            break
        start = W[:, -K:]
    return found


def nothing_held_out(task: Task) -> Chosen:
    """Where there is nothing to choose by."""
    nowhere = torch.full(task.targets.shape, torch.nan, dtype=torch.float64)
    return Chosen(FALLBACK, torch.nan, {}, nowhere, nowhere[:, 0])


def refitted(Q: Tensor, task: Task, choice: Chosen) -> Tensor:
    """The coefficients (r + 1, C) that all rows give, float64."""
    Q, start = Q.double(), None if choice.start is None else choice.start.double().unsqueeze(1)
    ridge = Q.new_full((Q.size(1), 1), choice.penalty * float(task.weight.sum()))
    ridge[-1] = 0.0
    targets, squares = task.targets.double().unsqueeze(1), Q.square().T @ task.weight
    problems = Problems(Q, targets, task.weight.unsqueeze(1), ridge, LOSSES[task.loss], squares)
    W = minimise(problems, start, _EXACT, steps=1000)
    if task.loss == "softmax":  # which does not see what all classes have in common
        W = W - W.mean(2, keepdim=True)
    return polished(problems, W).squeeze(1)


def _problems(Q: Tensor, task: Task, penalties: tuple[float, ...], squares: Tensor) -> Problems:
    """Each penalty with each fold, (P·K), folds last. A penalty is per unit of all rows' weight, as in the refit."""
    weights = task.weight.to(Q.dtype).unsqueeze(1) * task.folds.train  # (n, K)
    ridge = Q.new_tensor(penalties).mul_(float(task.weight.sum())).repeat_interleave(task.folds.K)
    penalty = ridge.expand(Q.size(1), -1).clone()
    penalty[-1] = 0.0
    targets = task.targets.to(Q.dtype).unsqueeze(1)
    return Problems(Q, targets, weights.repeat(1, len(penalties)), penalty, LOSSES[task.loss], squares)
