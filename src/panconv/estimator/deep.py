"""The deep head: `PAN.preset("general")`, an ensemble of seeds side by side, by their mean scores."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.compute.features import SparseRows
from panconv.estimator.folds import dealt
from panconv.estimator.nodes import Matrix, Nodes
from panconv.training.models import PAN
from panconv.training.recipe import Recipe

_SHARE = 0.7  # of the time that there is, for finding when to stop; the rest is for all labels


class Scaling(NamedTuple):
    """How features are made ready: counts as shares of their row, as presets were searched with, and numbers of either
    sign about their mean, since the sum of a row of those says nothing."""

    mean: np.ndarray | None  # (F,); None for shares
    size: np.ndarray | None

    @staticmethod
    def of(x: Matrix) -> Scaling:
        if x.min() >= 0 or sp.issparse(x):
            return Scaling(None, None)
        size = x.std(0)
        return Scaling(x.mean(0), np.where(size > 0, size, 1.0))

    def __call__(self, x: Matrix) -> Tensor:
        """Float32, dense or sparse CSR."""
        if self.mean is not None:
            return torch.from_numpy(np.asarray((x - self.mean) / self.size, dtype=np.float32))
        total = np.asarray(abs(x).sum(1)).reshape(-1, 1)
        share = 1 / np.where(total > 0, total, 1.0)
        if not sp.issparse(x):
            return torch.from_numpy((x * share).astype(np.float32))
        made = sp.csr_matrix(x.multiply(share), dtype=np.float32)
        start, column = (torch.from_numpy(part.astype(np.int64)) for part in (made.indptr, made.indices))
        return torch.sparse_csr_tensor(start, column, torch.from_numpy(made.data), made.shape, check_invariants=False)


class DeepHead(NamedTuple):
    """A trained ensemble."""

    model: PAN
    scaling: Scaling
    scores: (
        Tensor  # (n, C) of the labelled rows out of fold, by seeds that neither learned from them nor stopped by them
    )
    epochs: int

    def by_seed(self, nodes: Nodes) -> Tensor:
        """Scores (N, S, C)."""
        with torch.no_grad():
            return self.model(_sparse(self.scaling(nodes.x)), nodes.adj).double()

    def decision(self, nodes: Nodes) -> Tensor:
        """The mean scores of the seeds, (N, C)."""
        return self.by_seed(nodes).mean(1)


def _sparse(x: Tensor) -> Any:
    return x if x.layout == torch.strided else SparseRows.of(x)


def fit_deep(
    nodes: Nodes,
    rows: np.ndarray,
    y: np.ndarray,
    seeds: Sequence[int],
    epochs: int | None = None,
    seconds: float | None = None,
    recipe: Recipe | None = None,
) -> DeepHead:
    """Trains twice: once to see when to stop, and what comes out of fold; then on all labels for as long.

    Each seed first learns without two parts of the labels, one to stop by and one that is predicted. Then each learns
    from all labels but one, another for each seed, since a training must have something to be measured by.

    Args:
        nodes: the graph.
        rows: (n,), the numbers of the nodes whose class is known.
        y: (n,), their class numbers.
        seeds: at least 3.
        epochs: at most; None for the preset's.
        seconds: to spend, or a little more; None for as many as it takes.
        recipe: of the model and its training; None for the preset "general".
    """
    began, S = time.perf_counter(), len(seeds)
    recipe = PAN.preset("general") if recipe is None else recipe
    recipe = recipe if epochs is None else recipe.but(epochs=epochs)
    part = dealt(y, S, seeds[0]).test  # (n, S)
    if part.size(1) < S or S < 3:
        raise ValueError(
            f"head='pan' needs 3 seeds, and of some class as many labels as seeds, got {S} seeds and {part.size(1)} "
            "parts of the labels: set seeds=3, or head='linear'"
        )
    scaling, C = Scaling.of(nodes.x), int(y.max()) + 1
    data = Data(x=scaling(nodes.x), adj=nodes.adj, y=torch.full((nodes.x.shape[0],), -1))
    data.y[rows] = torch.from_numpy(y)
    stop = part.roll(1, 1)
    _set_masks(data, rows, _level(~(part | stop)), stop)
    cut = None if seconds is None else _until(began + _SHARE * seconds)
    first = recipe.fit(data, seeds, classes=C, cut=cut)
    with torch.no_grad():
        found = first.model(_sparse(data.x), nodes.adj)[rows].double()  # (n, S, C)
    held = part.any(1, keepdim=True)
    scores = torch.where(held, (found * part.unsqueeze(-1)).sum(1), torch.nan)
    best = max(1, round(statistics.median(first.best_epoch)))
    one = torch.zeros_like(part)
    one[torch.from_numpy(_apart(y, S)), torch.arange(S)] = True
    _set_masks(data, rows, ~one, one)
    last = recipe.but(epochs=best, patience=best + 1, keep="last").fit(data, seeds, classes=C)
    return DeepHead(last.model, scaling, scores, best)


def _set_masks(data: Data, rows: np.ndarray, train: Tensor, val: Tensor) -> None:
    """Masks (N, S) of those of the labelled rows (n, S)."""
    for name, part in (("train_mask", train), ("val_mask", val)):
        mask = torch.zeros(len(data.y), part.size(1), dtype=torch.bool)
        mask[rows] = part
        data[name] = mask


def _level(train: Tensor) -> Tensor:
    """Training parts (n, S) of one size, as the preset's training asks: the larger ones go without a label or two."""
    place = train.cumsum(0)
    return train & (place <= train.sum(0).min())


def _apart(y: np.ndarray, S: int) -> np.ndarray:
    """A labelled row for each seed, of the largest class."""
    return np.flatnonzero(y == np.bincount(y).argmax())[:S]


def _until(end: float) -> Any:
    """Ends all trials when the time is over, once each has an epoch to go back to."""

    def cut(done: int, history: Any, best: Tensor) -> Tensor | None:
        return (
            torch.zeros_like(best, dtype=torch.bool) if time.perf_counter() > end and bool((best > 0).all()) else None
        )

    return cut
