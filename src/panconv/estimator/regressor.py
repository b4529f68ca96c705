"""`PANRegressor`: numbers of nodes, by scikit-learn's conventions."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import torch
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_X_y
from torch import Tensor

from panconv.base.checks import checked_count
from panconv.estimator.base import GraphEstimator, as_tensor, folds_for, seed_of
from panconv.estimator.choosing import chosen_head
from panconv.estimator.explaining import Explanation
from panconv.estimator.explaining.asking import column_number, head_at
from panconv.estimator.given import Given
from panconv.estimator.held_out import HeldOut
from panconv.estimator.labels import numbers
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.report import beside


class PANRegressor(RegressorMixin, GraphEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Numbers of the nodes of a graph, learned from those that are known.

    With a graph, what is not known is NaN or None, and `fit` takes all nodes; without one it is a ridge regression of
    the rows it is given. What a graph makes impossible is said of `PANClassifier`.

    Args:
        head: "linear", ridge regression on path features, in closed form; "pan", an ensemble of the deep model, which
            learns numbers of mean 0 and size 1 and answers in yours; "auto", whichever loses less out of fold.
        L, method, paths, cv, seeds, epochs, budget, device, random_state: as in `PANClassifier`.

    Attributes:
        head_, choice_, scores_, seconds_: as in `PANClassifier`; the loss is the mean square, where the variance of a
            column is 1.
        held_out_: the numbers that were predicted out of fold, beside the true ones, as `HeldOut`.

    >>> from torch_geometric.utils import scatter
    >>> from panconv.data.planted import planted
    >>> graph = planted(200, features=4)
    >>> sender, receiver = graph.edge_index
    >>> mean = scatter(graph.x[sender, 0], receiver, dim_size=200, reduce="mean")  # of each node's neighbours
    >>> y = torch.where(torch.arange(200) % 4 == 0, mean, torch.nan)  # NaN where the number is not known
    >>> reg = PANRegressor("linear", method=3).fit(graph.x, y, graph=graph.edge_index)
    >>> reg.score(y=mean) > 0.9
    True
    """

    _beside: dict[str, Tensor] | None  # by `report.beside`; None without a graph, or where it was loaded

    def __init__(
        self,
        head: str = "auto",
        *,
        L: int = 3,
        method: int = 5,
        paths: Any = "walks",
        cv: Any = 5,
        seeds: int = 5,
        epochs: int | None = None,
        budget: float | str | None = None,
        device: Any = "cpu",
        random_state: int | None = 0,
    ) -> None:
        self.head = head
        self.L = L
        self.method = method
        self.paths = paths
        self.cv = cv
        self.seeds = seeds
        self.epochs = epochs
        self.budget = budget
        self.device = device
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, graph: Any = None) -> PANRegressor:
        """Learns from the nodes whose numbers are known. Arguments as in `PANClassifier`; y is (N,) or (N, K)."""
        began, given = time.perf_counter(), Given.of(X, y, graph, numbers=True)
        if given.y is None:
            raise ValueError("requires y to be passed, but the target y is None: give y, or a graph with numbers")
        if given.graph is None:
            check_X_y(given.X, given.y, accept_sparse="csr", multi_output=True, y_numeric=True, estimator=self)
        nodes = self._taken(given)
        x = nodes.x if isinstance(nodes, Nodes) else nodes
        known = numbers(given.y, isinstance(nodes, Nodes))
        if len(known.known) != x.shape[0]:
            raise ValueError(f"y must have a row per node, {x.shape[0]}, got {len(known.known)}")
        weight = self._weights(sample_weight, nodes)
        labels = known.without(weight)
        rows = labels.rows
        seed = seed_of(self.random_state)
        folds = folds_for(self.cv, known, labels, seed, nodes)
        task = Task(labels.targets, as_tensor(weight[rows]), folds, "squared")
        self._flat = len(np.shape(np.asarray(given.y))) == 1
        self.head_, self.choice_, self._model, scores, self.scores_ = chosen_head(
            self, nodes, labels, task, seed, began
        )
        single = isinstance(nodes, Nodes) and task.targets.size(1) == 1
        self._beside = beside(nodes, torch.from_numpy(rows), task) if single else None
        self.held_out_ = HeldOut.of(rows, scores, task.targets)
        self._settle(nodes, labels, self._model.decision(nodes))
        self.seconds_ = time.perf_counter() - began
        return self

    def predict(self, X: Any = None, *, graph: Any = None, nodes: Any = None) -> np.ndarray:
        """Numbers (n,) or (n, K), as y was. Arguments as in `PANClassifier`."""
        found = self._asked(X, graph, nodes)
        return found[:, 0] if self._flat else found

    def explain(self, node: Any, *, label: Any = None, top: int = 5, X: Any = None, graph: Any = None) -> Explanation:
        """Why a node has the number that it has, as `PANClassifier.explain`; label is the column of y, where there are
        several, and the probability NaN."""
        nodes = self._nodes("explain", X, graph)
        top = checked_count(top, "top", least=0)
        head, row = head_at(self._model, nodes, node)
        k = column_number(len(head.scores), label)
        return head.parts(k, top).explanation(nodes, row, None if self._flat else k, float(head.scores[k]), math.nan)

    def score(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, graph: Any = None, nodes: Any = None
    ) -> float:
        """R² of the nodes whose numbers are given, NaN or None elsewhere. Arguments as in `PANClassifier.score`."""
        told = self._truth(X, y, sample_weight, graph, nodes, numbers=True)
        truth = numbers(told.y, self._origin is not None)
        predicted = self.predict(X, graph=graph, nodes=nodes)
        truth = self._compared(truth, told.graph, nodes, len(predicted))
        predicted = predicted.reshape(len(predicted), -1)
        weight = None if told.weight is None else np.asarray(told.weight)[truth.known]
        return float(r2_score(truth.y[truth.known], predicted[truth.known], sample_weight=weight))
