"""Folds: which labels each part of a cross-validation learns from, and which it is held against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.model_selection import check_cv
from torch import Tensor

from panconv.base.checks import as_integer, checked_count, shown


class Folds(NamedTuple):
    """K folds of n labels."""

    train: Tensor  # (n, K), bool
    test: Tensor  # (n, K), bool

    @property
    def K(self) -> int:
        return self.train.size(1)

    @property
    def held_out(self) -> Tensor:
        """Which labels are held against some fold, (n,)."""
        return self.test.any(1)

    @property
    def shares(self) -> Tensor:
        """By how much each fold answers for each label, (n, K), float64: 1 over how many it was held against; NaN where
        there was none."""
        return self.test.double() / self.test.sum(1, keepdim=True)

    def of(self, rows: Tensor) -> Folds:
        """The same folds of some rows; those that then have nothing to learn from or to be held against are gone."""
        train, test = self.train[rows], self.test[rows]
        sound = train.any(0) & test.any(0)
        return Folds(train[:, sound], test[:, sound])

    def out_of_fold(self, scores: Tensor) -> Tensor:
        """(n, C), each row's scores (n, K, C) of the fold it was held against; NaN where there was none."""
        return (scores * self.shares.to(scores.dtype).unsqueeze(-1)).sum(1)


def dealt(classes: np.ndarray, K: int, seed: int) -> Folds:
    """Stratified folds of class numbers (n,): each class is shuffled and dealt out, one class after another.

    A class of one member is in every training part, and held against none: what was never seen cannot be told.
    """
    random, fold, next_one = np.random.default_rng(seed), np.full(len(classes), -1), 0
    for each in np.unique(classes):
        members = random.permutation(np.flatnonzero(classes == each))
        if len(members) > 1:
            fold[members] = (next_one + np.arange(len(members))) % K
            next_one += len(members)
    test = torch.from_numpy(fold[:, None] == np.arange(K))
    test = test[:, test.any(0)]
    return Folds(~test, test)


def folds_of(cv: Any, y: np.ndarray, classifies: bool, seed: int = 0) -> Folds:
    """The folds of n labels: K dealt out by class, or those of a splitter, or of (train, test) as scikit-learn has it.

    Args:
        cv: the number of folds, a splitter, or pairs of row numbers among the labels that are known.
        y: (n,), class numbers or numbers.
        classifies: whether they are classes.
        seed: of the dealing.
    """
    n = len(y)
    if as_integer(cv) is not None:
        K = checked_count(cv, "cv", least=2)
        classes: np.ndarray = y if classifies and y.ndim == 1 else np.zeros(n, dtype=np.int64)
        return dealt(classes, min(K, max(n, 2)), seed)
    if not hasattr(cv, "split") and not np.iterable(cv):
        raise TypeError(f"cv must be a number of folds, a splitter or pairs of row numbers, got {shown(cv)}")
    pairs = _pairs(check_cv(cv, y, classifier=classifies), y)
    train, test = torch.zeros(2, n, len(pairs), dtype=torch.bool)
    for k, (learned, held) in enumerate(pairs):
        train[learned, k], test[held, k] = True, True
    return Folds(train, test)


def _pairs(splitter: Any, y: np.ndarray) -> list[Any]:
    """What a splitter makes of the labels alone; fit has no groups to tell it of."""
    try:
        return list(splitter.split(np.zeros((len(y), 1)), y))
    except ValueError as error:
        if "groups" not in str(error):
            raise
        name = type(splitter).__name__
        raise ValueError(
            f"cv={name} splits by groups, which fit is not told: give the pairs that it makes of the labels that are "
            f"known, cv=list({name}(…).split(y[known], groups=groups[known]))"
        ) from None
