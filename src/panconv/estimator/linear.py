"""The linear head: a convex model of path features, whose penalty and whose weight per length are cross-validated.

    scores = b + Σₙ (terms of length n) · Wₙ,     minimising  Σᵢ sᵢ ℓ(scoresᵢ, yᵢ) + ½ λ Σₙ ‖Wₙ‖² / gₙ²

with ℓ the cross entropy of classes, or that of each label where a node may have several, or for numbers the square; gₙ
is what a length weighs (`scaled.PROFILES`), beside terms of one size.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.estimator import ridge
from panconv.estimator.axes import Axes
from panconv.estimator.compared import standard_errors
from panconv.estimator.nested import without_say
from panconv.estimator.nodes import Matrix
from panconv.estimator.penalties import (
    PENALTIES,
    SMALL,
    Chosen,
    Task,
    able,
    compared,
    least_lost,
    refitted,
    with_ones,
)
from panconv.estimator.scaled import Scaled

_log = logging.getLogger(__name__)
_ROWS, _VALUES = 600, 2**21  # things are compared on so many rows at least, and on about so many values of terms


class LinearHead(NamedTuple):
    """A fitted head."""

    coefs: list[Tensor]  # (F, C) for each length, float64
    intercept: Tensor  # (C,)
    profile: str
    chosen: Chosen
    compared: dict[str, float]  # the held-out loss of each profile that was tried
    tried: dict[str, list[Chosen]] | None = None  # what it was chosen from, by profile, on all rows

    def picked(self, weight: Tensor) -> Chosen:
        """What would have been chosen if the rows weighed this, (n,): of those that weigh 0 nothing is asked."""
        of = {name: able(each, weight)[0] for name, each in (self.tried or {}).items()}
        return of[_clearly_best(of, weight)]

    def unflattered(self, task: Task) -> Tensor:
        """Scores (n, C) of rows that had no say in the choice."""
        return without_say(lambda weight: self.picked(weight).scores, task) if self.tried else self.chosen.scores

    def decision(self, blocks: Iterable[Matrix]) -> Tensor:
        """Scores (N, C), from the terms as they come, a block (N, F) per length."""
        scores = self.intercept.numpy()
        for block, coef in zip(blocks, self.coefs, strict=True):
            scores = scores + block @ coef.numpy()
        return torch.from_numpy(scores)

    def of_columns(self, some: slice) -> LinearHead:
        """The part of the scores that is of some features."""
        return self._replace(coefs=[coef[some] for coef in self.coefs], intercept=torch.zeros_like(self.intercept))

    @property
    def lengths(self) -> list[float]:
        """How much of the coefficients' size is with each length."""
        sizes = [float(coef.square().sum()) for coef in self.coefs]
        return [size / (sum(sizes) or 1.0) for size in sizes]


def fit_linear(blocks: Iterable[Matrix], task: Task, profiles: list[str] | None = None) -> LinearHead:
    """A head for rows whose terms come as blocks (n, F), one per length.

    Args:
        blocks: the terms of the rows.
        task: what is to be learned of them.
        profiles: names of `PROFILES` to choose from; None for all.
    """
    began = time.perf_counter()
    rows = Scaled.of(blocks, task.weight)
    names = [name for name in rows.profiles() if profiles is None or name in profiles]
    found: dict[str, tuple[Axes, list[Chosen]]] = {}
    best, losses, fewer = names[0], {}, task
    if len(names) > 1:
        drawn = some_rows(len(task.weight), rows.width)
        some, fewer = (rows, task) if drawn is None else (rows.of_rows(drawn), task.of(drawn))
        found = {best: _tried(some, fewer, best)}
        near = _around(able(found[best][1], fewer.weight)[0].penalty)
        found |= {name: _tried(some, fewer, name, near) for name in names[1:]}
        of = {name: able(each, fewer.weight)[0] for name, (_, each) in found.items()}
        losses, best = {name: each.loss for name, each in of.items()}, _clearly_best(of, fewer.weight)
    if best != names[0] or best not in found or fewer is not task:
        found = {} if fewer is not task else found  # of other rows
        found[best] = _tried(rows, task, best)
    axes, choice = found[best][0], able(found[best][1], task.weight)[0]
    Z = rows.beside(best)
    if task.loss == "squared":
        W = ridge.refitted(with_ones(axes.Q), task, choice)
    else:
        W = refitted(with_ones(axes.Q), task, choice)
    coefs, shift = rows.back(best, axes.back(Z, W[:-1]))
    said = (len(task.weight), choice.penalty, best, time.perf_counter() - began)
    _log.info("linear head of %d rows: chose the penalty %.3g and the lengths' weights %r, in %.2f s", *said)
    tried = {name: each for name, (_, each) in found.items()}
    return LinearHead(coefs, shift + W[-1], best, choice, losses, tried)


def _clearly_best(found: dict[str, Chosen], weight: Tensor) -> str:
    """The profile that rows lose least by, if by a standard error less than the first: few labels say little."""
    first = next(iter(found))
    least = least_lost([*found.values()], weight)
    best = next(name for name, each in found.items() if each is least)
    return best if standard_errors(found[first].lost, least.lost, weight) > 1 else first


def _around(penalty: float) -> tuple[float, ...]:
    """Four penalties about one, enough to compare another profile by: they are solved at once."""
    place = min(range(len(PENALTIES)), key=lambda i: abs(PENALTIES[i] - penalty))
    first = max(0, min(place - 2, len(PENALTIES) - 7))
    return PENALTIES[first : first + 7 : 2]


def _tried(
    rows: Scaled, task: Task, profile: str, penalties: tuple[float, ...] = PENALTIES
) -> tuple[Axes, list[Chosen]]:
    axes = Axes.of(rows.beside(profile), task.weight)
    Q = with_ones(axes.Q)
    if task.loss == "squared":
        return axes, ridge.compared(Q.double(), task)
    return axes, compared(Q.double() if Q.numel() <= SMALL else Q.float(), task, penalties)


def some_rows(n: int, width: int) -> Tensor | None:
    """As many of n rows as things are compared on, drawn at random; None for all. Each stays in its fold."""
    most = max(_ROWS, _VALUES // max(1, width))
    return None if n <= most else torch.randperm(n, generator=torch.Generator().manual_seed(0))[:most]
