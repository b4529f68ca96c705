"""The graphs of benchmarks/estimators.py and their splits: whose labels are given, and who is tested."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from contestants import Contest
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data

from panconv import load
from panconv.data.heterophilous import METRIC_OF
from panconv.data.planted import planted
from panconv.data.splits import random_split

# What `planted` is asked for, a graph drawn anew per split, and how many labels of each class are given.
PLANTED: dict[str, tuple[dict[str, Any], int]] = {
    "homophilous": ({"num_nodes": 1000, "share": 0.7}, 12),
    "heterophilous": ({"num_nodes": 1000, "share": 0.7, "prefers": "next", "signal": 2.0}, 12),
    "no features": ({"num_nodes": 1000, "share": 0.8, "degree": 10.0, "features": 0}, 12),
    "weak labels": ({"num_nodes": 1000, "share": 0.7}, 3),
    "useless edges": ({"num_nodes": 1000, "share": 0.0, "signal": 2.0}, 12),
}
CITATIONS = ("cora", "citeseer", "pubmed")
GRAPHS = (*PLANTED, *CITATIONS, *METRIC_OF)
GIVEN_SPLITS = 10


class Split(NamedTuple):
    """A contest and what nobody in it sees."""

    contest: Contest
    truth: np.ndarray  # (N,)
    test: np.ndarray  # (n,), rows
    metric: str  # "accuracy" or "auc"

    def judged(self, scores: np.ndarray) -> float:
        """Of scores (N, C), in percent; who says nothing of a node says the commonest of the given classes."""
        given = np.bincount(self.contest.y[self.contest.known], minlength=self.contest.classes)
        scores = (np.asarray(scores, dtype=np.float64) + 1e-9 * given / given.sum())[self.test]
        truth = self.truth[self.test]
        if self.metric == "auc":
            return 100 * float(roc_auc_score(truth, scores[:, 1] - scores[:, 0]))
        return 100 * float((scores.argmax(1) == truth).mean())


def split_of(name: str, number: int, nodes: int | None = None) -> Split:
    """A split of a graph by its number; of fewer nodes, where the graph is planted."""
    if name in PLANTED:
        how, per_class = PLANTED[name]
        data = planted(**{**how, "num_nodes": nodes or how["num_nodes"]}, seed=number)
        given = _per_class(data.y.numpy(), per_class, number)
        return _split(data, given, ~given, number, "accuracy")
    if name in CITATIONS:
        data = _loaded(name)
        train, _, test = (mask.numpy() for mask in random_split(data.y, number))
        return _split(data, train, test, number, "accuracy")
    data = _loaded(name)
    given, test = (data.train_mask | data.val_mask)[:, number].numpy(), data.test_mask[:, number].numpy()
    return _split(data, given, test, number, METRIC_OF[name])


def splits_of(name: str, wanted: int) -> range:
    """The numbers of the splits of a graph: the files of the heterophilous benchmark bring ten along."""
    return range(min(wanted, GIVEN_SPLITS) if name in METRIC_OF else wanted)


_LOADED: dict[str, Data] = {}


def _loaded(name: str) -> Data:
    if name not in _LOADED:
        _LOADED[name] = load(name, sparse=True)
    return _LOADED[name]


def _per_class(y: np.ndarray, count: int, seed: int) -> np.ndarray:
    """A mask (N,) of so many nodes of each class."""
    rng, mask = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
    for c in np.unique(y):
        mask[rng.choice(np.flatnonzero(y == c), count, replace=False)] = True
    return mask


def _split(data: Data, given: np.ndarray, test: np.ndarray, seed: int, metric: str) -> Split:
    truth = data.y.numpy()
    y = np.where(given, truth, -1)
    contest = Contest(data.edge_index, _features(data), y, int(truth.max()) + 1, seed)
    return Split(contest, truth, np.flatnonzero(test), metric)


def _features(data: Data) -> Any:
    """An array, or CSR where at least three quarters are 0."""
    x = data.get("x")
    if x is None:
        return None
    if x.layout == torch.strided:
        return x.numpy()
    made = sp.csr_matrix(tuple(part.numpy() for part in (x.values(), x.col_indices(), x.crow_indices())), x.shape)
    return made if made.nnz < made.shape[0] * made.shape[1] / 4 else made.toarray()
