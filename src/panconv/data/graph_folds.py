"""Which graphs of a set each run trains on, chooses by and is tested on: stratified folds, or shares at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.model_selection import KFold, StratifiedKFold
from torch import Tensor

from panconv.base.checks import as_number, checked_count, checked_seed, shown
from panconv.base.random import keys, words
from panconv.data.graph_set_checks import checked_target

_MOST_SEED = 2**32 - 1  # of scikit-learn's


class GraphParts(NamedTuple):
    """Which graphs are in each part, a column per run: no graph is in two parts of a run."""

    train: Tensor  # (G, S), bool; or (G,) of one run
    val: Tensor
    test: Tensor

    @property
    def runs(self) -> int | None:
        """S, or None of one run alone."""
        return self.train.size(1) if self.train.dim() == 2 else None

    def run(self, number: int) -> GraphParts:
        """One of the runs alone, masks (G,)."""
        return GraphParts(*(mask[:, number] for mask in self))

    def of_runs(self, numbers: Sequence[int]) -> GraphParts:
        """Some of the runs, in that order, masks (G, S)."""
        return GraphParts(*(mask[:, list(numbers)] for mask in self))


def graph_folds(y: Tensor, folds: int = 10, seed: int = 0, val: float = 0.1) -> GraphParts:
    """Folds of which each graph is tested in one, and of the rest a share to choose by.

    The test parts are scikit-learn's, ``StratifiedKFold(folds, shuffle=True, random_state=seed)``, as GIN's code has
    them; of numbers to learn those of `KFold`. Of the rest each class gives the same share for validation, which of
    few members is rounded, at random by the seed.

    Args:
        y: the classes of the graphs, (G,) of integers, or numbers (G,).
        folds: at least 2, and no more than the smallest class has members, or than there are graphs.
        seed: of both.
        val: the share of the rest, above 0 and below 1.

    >>> parts = graph_folds(torch.arange(100) % 2, folds=5)
    >>> [mask[:, 0].sum().item() for mask in parts]
    [72, 8, 20]
    """
    given, K = _checked(y), checked_count(folds, "folds", 2)
    seed, share = checked_count(seed, "seed", 0, _MOST_SEED), as_number(val)
    if share is None or not 0 < share < 1:
        raise ValueError(
            f"val must be a share of the graphs that are not tested, above 0 and below 1, got {shown(val)}"
        )
    classes = np.zeros(len(given), np.int64) if given.dtype.kind == "f" else given
    kinds, counts = np.unique(classes, return_counts=True)
    if counts.min() < K:
        fewest = "there are graphs" if given.dtype.kind == "f" else f"class {kinds[counts.argmin()]} has graphs"
        raise ValueError(
            f"folds must be at most {counts.min()}, as many as {fewest}, got {K}: take fewer folds, "
            "or where that is less than 2 random splits (runs)"
        )
    splitter = (KFold if given.dtype.kind == "f" else StratifiedKFold)(K, shuffle=True, random_state=seed)
    test = np.zeros((len(given), K), bool)
    for k, (_, held) in enumerate(splitter.split(given, given)):
        test[held, k] = True
    chosen = np.stack([_share_of(classes, ~test[:, k], share, seed, k) for k in range(K)], 1)
    train = ~(chosen | test)
    if not (chosen.any(0).all() and train.any(0).all()):
        least = int((~test).sum(0).min())
        raise ValueError(f"val = {share:g} of {least} graphs leaves none to choose by, or none to train on: change it")
    return GraphParts(*(torch.from_numpy(mask) for mask in (train, chosen, test)))


def graph_split(y: Tensor, shares: Sequence[float] = (0.8, 0.1, 0.1), runs: int = 10, seed: int = 0) -> GraphParts:
    """Graphs drawn at random for training, validation and test, anew in every run; classes are not looked at.

    Args:
        y: of the graphs, (G,).
        shares: of each part, above 0; what is left over by rounding is tested.
        runs: how many; run r is the same whatever their number.
        seed: of all of them.

    >>> [mask.sum(0).tolist() for mask in graph_split(torch.arange(20) % 2, runs=2)]
    [[16, 16], [2, 2], [2, 2]]
    """
    G, S = len(_checked(y)), checked_count(runs, "runs")
    given = [as_number(share) for share in shares] if isinstance(shares, (tuple, list)) else []
    numbers = [number for number in given if number is not None and number > 0]
    if len(given) != 3 or len(numbers) != 3 or abs(sum(numbers) - 1) > 1e-9:
        raise ValueError(f"shares must be three numbers above 0 that add up to 1, got {shown(shares)}")
    train, val = (int(G * number + 1e-9) for number in numbers[:2])
    if not min(train, val, G - train - val):
        raise ValueError(f"shares {shown(shares)} of {G} graphs leave a part empty: take more graphs, or other shares")
    key = keys(torch.tensor(checked_seed(seed)), 1, torch.arange(S))
    rank = words(key, (G,)).argsort(dim=1, stable=True).argsort(dim=1).T  # (G, S)
    return GraphParts(rank < train, (rank >= train) & (rank < train + val), rank >= train + val)


def _checked(y: Any) -> np.ndarray:
    """The targets as an array: int64 of classes, float64 of numbers."""
    given = y if isinstance(y, Tensor) else torch.as_tensor(y)
    found = checked_target(given, len(given)).cpu().numpy()
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def _share_of(classes: np.ndarray, rest: np.ndarray, share: float, seed: int, fold: int) -> np.ndarray:
    """A share of the rest, (G,) bool, evenly from class by class: of those next to each other every so many."""
    order = np.lexsort((words(keys(torch.tensor(seed), 2, fold), (len(rest),)).numpy(), classes, ~rest))[: rest.sum()]
    number = np.floor(np.arange(len(order) + 1) * share + 0.5)
    found = np.zeros(len(rest), bool)
    found[order[np.diff(number) > 0]] = True
    return found
