"""The deep head: a PAN by its recipe, an ensemble of seeds side by side, by their mean scores.

Each seed first learns without two parts of the labels: one to stop by, and one that it is to be judged by. For as many
epochs as that asked for, it then learns without the second part alone, which judges it. At last each learns from all
labels but one, another for each seed.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import checked_count
from panconv.compute.features import SparseRows
from panconv.estimator.asked import Around, Asked, around_few, at_once
from panconv.estimator.folds import dealt
from panconv.estimator.labels import Labels
from panconv.estimator.nodes import Matrix, Nodes
from panconv.training.deadline import Deadline
from panconv.training.fit import FitResult
from panconv.training.models import PAN
from panconv.training.recipe import Recipe

SEEDS = 3  # at least: one part to stop by, one to be judged by, one to learn from
_ELSEWHERE = 2000  # nodes without a label on which seeds are compared, or up to twice as many
_HELD = 6  # copies of a node's hidden row in memory at once
_COUNTS = 0.5  # the share of zeros from which on columns that are never negative are taken for counts
# Consistency compares class probabilities; switched off for numbers and several labels.
_FOR_CLASSES = {"draws": 1, "consistency": 0.0, "nodes": None, "ramp": 0}


class Scaling(NamedTuple):
    """How features are made ready: counts as shares of their row, as presets were searched with, and other numbers
    about their mean, since the sum of a row of those says nothing."""

    mean: np.ndarray | None  # (F,); None for shares
    size: np.ndarray | None

    @staticmethod
    def of(x: Matrix) -> Scaling:
        stored = (x.count_nonzero() if sp.issparse(x) else np.count_nonzero(x)) / max(1, x.shape[0] * x.shape[1])
        if stored <= 1 - _COUNTS and not bool(((x.data if sp.issparse(x) else x) < 0).any()):
            return Scaling(None, None)
        x = _dense(x)
        size = x.std(0)
        return Scaling(x.mean(0), np.where(size > 0, size, 1.0))

    def __call__(self, x: Matrix) -> Tensor:
        """Float32, dense or sparse CSR."""
        if self.mean is not None:
            return torch.from_numpy(np.asarray((_dense(x) - self.mean) / self.size, dtype=np.float32))
        total = np.asarray(abs(x).sum(1)).reshape(-1, 1)
        share = 1 / np.where(total > 0, total, 1.0)
        if not sp.issparse(x):
            return torch.from_numpy((x * share).astype(np.float32))
        made = sp.csr_matrix(x.multiply(share), dtype=np.float32)
        start, column = (torch.from_numpy(part.astype(np.int64)) for part in (made.indptr, made.indices))
        return torch.sparse_csr_tensor(start, column, torch.from_numpy(made.data), made.shape, check_invariants=False)


def _dense(x: Matrix) -> np.ndarray:
    return x.toarray() if sp.issparse(x) else np.asarray(x)


class Units(NamedTuple):
    """From what the model says to the user's units: numbers are learned with mean 0 and size 1, classes as they are."""

    mean: Tensor  # (C,), float64, that is added
    size: Tensor  # (C,), float64, by which is multiplied before

    @staticmethod
    def of(labels: Labels, weight: Tensor) -> Units:
        targets = labels.targets
        if labels.kind != "squared":
            return Units(torch.zeros(targets.size(1)).double(), torch.ones(targets.size(1)).double())
        share = (weight / weight.sum()).unsqueeze(1)
        mean = (share * targets).sum(0)
        size = (share * (targets - mean).square()).sum(0).sqrt()
        return Units(mean, torch.where(size > 1e-12 * mean.abs() + 1e-300, size, 1.0))

    def __call__(self, scores: Tensor) -> Tensor:
        return self.mean + self.size * scores.double()


class DeepHead(NamedTuple):
    """A trained ensemble."""

    model: PAN
    scaling: Scaling
    units: Units
    epochs: int  # of the training on all labels
    recipe: Recipe | None = None  # of that training

    def by_seed(self, nodes: Nodes) -> Tensor:
        """Scores (N, S, C)."""
        with torch.no_grad():
            return self.units(self.model(_sparse(self.scaling(nodes.x)), nodes.adj))

    def decision(self, nodes: Nodes) -> Tensor:
        """The mean scores of the seeds, (N, C)."""
        return self.by_seed(nodes).mean(1)

    def decided(self, asked: Asked, rows: np.ndarray | None) -> Tensor:
        """The mean scores of some nodes, (n, C), or of all: through blocks around them, where the whole graph at once
        would take much memory, and these are not many times the work; else one seed after another."""
        N, wide = asked.num_nodes, max(self.model.hidden_channels, len(self.units.mean))
        fits = at_once() // (4 * _HELD * max(asked.width, (self.model.trials or 1) * wide))  # nodes
        if rows is not None and self._is_local and (found := around_few(asked, self.model, rows, fits)) is not None:
            return self.decision(found[0])[found[1]]
        if fits >= N:
            scores = self.decision(asked.whole())
            return scores if rows is None else scores[rows]
        once = torch.arange(N) if rows is None else torch.from_numpy(rows)
        once, place = once.unique(return_inverse=True)
        return self._in_blocks(asked, once, max(fits, 1))[place]

    def _in_blocks(self, asked: Asked, rows: Tensor, fits: int) -> Tensor:
        """The mean scores of some nodes, each once, by blocks of at most so many nodes as far as that goes."""
        scores, done = torch.empty(len(rows), len(self.units.mean), dtype=torch.float64), 0
        if self._is_local:
            for some, nodes in Around(asked, self.model).batches(rows, fits):
                scores[done : done + len(some)] = self.decision(nodes)[: len(some)]
                done += len(some)
        if done < len(rows):
            scores[done:] = self._in_turn(asked.whole())[rows[done:]]
        return scores

    @property
    def _is_local(self) -> bool:
        """Whether no norm looks at other nodes than those a node hears."""
        norm = self.model.config["norm"]
        return norm in (None, "batch", "layer") and not self.model.supports_norm_batch

    def _in_turn(self, nodes: Nodes) -> Tensor:
        """`decision`, one seed after another."""
        S = self.model.trials
        if S is None:
            return self.decision(nodes)
        found = (self._replace(model=self.model.narrowed([s])).decision(nodes) for s in range(S))
        return sum(found, start=torch.zeros((), dtype=torch.float64)) / S


class Held(NamedTuple):
    """What a recipe came to on labels that its seeds neither learned from nor stopped by.

    The recipe itself, or how long it trains, may have been chosen by them: the labels that one seed is judged by are
    those that another stops by. Of a recipe that was searched for, every label has had its say in the choice, so its
    scores are somewhat too good.
    """

    recipe: Recipe  # with as many epochs as suit it
    scores: Tensor  # (n, C) of the labelled rows, out of fold; NaN for a row that no part holds
    epochs: int  # that suit it
    seconds: float  # that it took
    elsewhere: Tensor | None = None  # (m, S, C): of some nodes whose label no seed knows; None where there are none


class DeepTraining:
    """The labels of a graph in parts, and trainings on them.

    Args:
        nodes: the graph, and where to train.
        labels: what is known of its nodes.
        weight: (n,), of the labelled nodes, float64.
        seeds: at least 3.
    """

    def __init__(self, nodes: Nodes, labels: Labels, weight: Tensor, seeds: Sequence[int]) -> None:
        self.nodes, self.labels, self.weight, self.seeds = nodes, labels, weight, list(seeds)
        checked_count(len(self.seeds), "seeds", least=SEEDS)
        S, y = len(self.seeds), labels.y[labels.known]
        self.part = dealt(y if labels.kind == "softmax" else np.zeros(len(y), np.int64), S, self.seeds[0]).test
        if self.part.size(1) < S:
            kinds = "of some class " * (labels.kind == "softmax")
            raise ValueError(
                f"head='pan' needs {SEEDS} seeds, and {kinds}as many labels as seeds, got {S} seeds and "
                f"{self.part.size(1)} parts of the labels: set seeds={SEEDS}, or head='linear'"
            )
        self.scaling, self.units = Scaling.of(nodes.x), Units.of(labels, weight)

    @cached_property
    def data(self) -> Data:
        """The graph as `fit` takes it, but for the masks."""
        targets, rows, N = self.labels.targets, self.labels.rows, self.nodes.x.shape[0]
        if self.labels.kind == "softmax":
            y = torch.full((N,), -1)
            y[rows] = targets.argmax(1)
        else:
            learned = (targets - self.units.mean) / self.units.size
            y = torch.zeros(N, targets.size(1), dtype=torch.float32)
            y[rows] = learned.float()
            y = y > 0.5 if self.labels.kind == "logistic" else y
        data = Data(x=self.scaling(self.nodes.x), adj=self.nodes.adj, y=y)
        if bool((self.weight != self.weight[0]).any()):
            data.sample_weight = torch.ones(N)
            data.sample_weight[rows] = (self.weight / self.weight.mean()).float()
        return data

    def held(self, recipe: Recipe, end: float | None = None) -> Held:
        """What a recipe says of each part without having seen it; by a time, if there is one, with as much left for
        `finished`.

        The parts to stop by are learned from as well, once they have told how long to train: a head is judged by what
        as many labels are worth as the folds of other heads learn from.
        """
        began = time.perf_counter()
        stop, others = self.part.roll(1, 1), ~self.part
        first = self._fit(recipe, others & ~stop, stop, end, to_come=2)
        best = max(1, round(statistics.median(first.best_epoch)))
        recipe = self._for_so_long(recipe, best)
        last = self._fit(recipe, others, self.part, end, to_come=1)
        with torch.no_grad():
            found = last.model(_sparse(self.data.x), self.nodes.adj)  # (N, S, C)
        scores = self.units((found[self.labels.rows] * self.part.unsqueeze(-1)).sum(1))
        scores[~self.part.any(1)] = torch.nan
        elsewhere = self.units(found[some]) if len(some := self._unlabelled()) else None
        return Held(recipe, scores, best, time.perf_counter() - began, elsewhere)

    def _unlabelled(self) -> np.ndarray:
        """Some nodes whose label is not known, evenly spread over all of them."""
        free = np.setdiff1d(np.arange(self.nodes.x.shape[0]), self.labels.rows)
        return free[:: max(1, len(free) // _ELSEWHERE)]

    def finished(self, held: Held, end: float | None = None) -> DeepHead:
        """The ensemble that learns from all labels but one, for as many epochs as suit it, or until a time."""
        S, one = len(self.seeds), torch.zeros_like(self.part)
        one[self._apart(S), torch.arange(S)] = True
        last = self._fit(held.recipe, ~one, one, end)
        return DeepHead(last.model, self.scaling, self.units, max(last.stopped_epoch), held.recipe)

    @staticmethod
    def _for_so_long(recipe: Recipe, epochs: int) -> Recipe:
        """The recipe trained for so many epochs, whatever the validation says."""
        return recipe.but(epochs=epochs, patience=epochs + 1, keep="last")

    def split(self) -> Data:
        """The graph with a split per seed, whose labels to be judged by are in neither part; over all seeds each label
        is in some part to stop by."""
        stop = self.part.roll(1, 1)
        return self._with_parts(~(self.part | stop), stop)

    def _fit(self, recipe: Recipe, train: Tensor, val: Tensor, end: float | None, to_come: int = 0) -> FitResult[PAN]:
        if self.labels.kind != "softmax":
            recipe = recipe.but(**_FOR_CLASSES)
        cut = None if end is None else Deadline(end, to_come)
        data, C = self._with_parts(train, val), len(self.units.mean)
        found = recipe.fit(data, self.seeds, self.nodes.device, classes=C, cut=cut)
        found.model.cpu()  # where answers are computed, wherever it was trained
        return found

    def _with_parts(self, train: Tensor, val: Tensor) -> Data:
        """The graph with labelled rows (n, S) to learn from and to look at, by seed."""
        data = copy.copy(self.data)
        for name, part in (("train_mask", _level(train)), ("val_mask", val)):
            mask = torch.zeros(len(data.y), part.size(1), dtype=torch.bool)
            mask[self.labels.rows] = part
            data[name] = mask
        return data

    def _apart(self, S: int) -> np.ndarray:
        """A labelled row for each seed, some twice if there are few; of classes of the largest, which can spare it."""
        y = self.labels.y[self.labels.known]
        largest = np.arange(S) if self.labels.kind != "softmax" else np.flatnonzero(y == np.bincount(y).argmax())
        return np.resize(largest, S)


def _sparse(x: Tensor) -> Any:
    return x if x.layout == torch.strided else SparseRows.of(x)


def _level(train: Tensor) -> Tensor:
    """Training parts (n, S) of one size, as the presets' training asks: the larger ones go without a label or two."""
    place = train.cumsum(0)
    return train & (place <= train.sum(0).min())
