"""`PANClassifier`: classes of nodes, by scikit-learn's conventions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from panconv.estimator import sure
from panconv.estimator.answers import Answers
from panconv.estimator.base import GraphEstimator, as_tensor, folds_for, per_class, seed_of
from panconv.estimator.calibration import temperature
from panconv.estimator.choosing import chosen_head
from panconv.estimator.given import Given
from panconv.estimator.held_out import HeldOut
from panconv.estimator.labels import check_alike, checked_classes, class_labels
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.report import beside, report


class PANClassifier(ClassifierMixin, Answers, GraphEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classes of the nodes of a graph, learned from those that are known.

    With a graph, `fit` takes all nodes and the labels of some; unknown ones are −1, NaN or None. No masks are asked
    for: what has to be chosen is chosen by stratified folds, and at the end all labels are learned from. Without a
    graph it is a convex classifier of the rows it is given, for which −1 is a class like any other, and keeps all of
    scikit-learn's contract.

    A graph makes two things impossible: that a row is given without the graph that it stands in, and so that rows are
    split as if they knew nothing of each other. `cross_val_score` and its like take `PathFeatures` in a pipeline.

    Args:
        head: "linear", a convex model of path features; "pan", an ensemble of the deep model; "auto", whichever loses
            less out of fold, which is a linear one where there is no graph, or a splitter for cv. It also weighs linear
            heads without edges, with long paths and without self-loops, and in a budget more of the deep model.
        L, method, paths: of the path features, as in `PathFeatures`.
        class_weight: "balanced", weights by class, or None.
        cv: the number of folds, a splitter, or pairs of row numbers among the labelled rows.
        seeds: how many of the deep model are trained side by side.
        epochs: of the deep model at most; None for the preset's.
        budget: the time for all of `fit`, in seconds or as "90s", "5m", "1h"; None for as much as it takes, of
            which the deep head that "auto" tries has ten minutes at most. What the heads leave of a budget goes into a
            search of the deep model's settings. The least is what the linear heads take, or with "pan" an epoch of each
            training.
        device: where the deep head is trained: "cpu", "cuda", or "auto" for a GPU where there is one. What was learned
            is on the CPU afterwards, where all answers are computed, and where the linear heads learn.
        random_state: of the folds and seeds, an integer or None.

    Attributes:
        classes_: (C,). ids_: the names of the nodes, where the graph has such. head_: which head was chosen,
            "linear" or "pan". choice_: which of `scores_` that is.
        scores_: the log loss of each candidate out of fold, lower is better; where there are many labels, linear ones
            are compared on some of them.
        seconds_: what `fit` took.
        report_: what it is worth beside the majority class, the features alone and the graph alone; see `summary`.
        held_out_: the scores of labelled nodes out of fold, with their rows and classes, as `HeldOut`.
        temperature_: what scores are divided by in `predict_proba`, so that they say how sure it is.

    >>> from panconv.data.planted import planted
    >>> graph = planted(200, classes=2, features=4)
    >>> y = torch.where(torch.arange(200) % 4 == 0, graph.y, -1)  # −1 where the class is not known
    >>> clf = PANClassifier("linear").fit(graph.x, y, graph=graph.edge_index)
    >>> clf.predict(nodes=[1, 2, 3])
    array([1, 1, 0])
    >>> clf.score(y=graph.y) > 0.8
    True
    """

    def __init__(
        self,
        head: str = "auto",
        *,
        L: int = 3,
        method: int = 5,
        paths: Any = "walks",
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.cv = cv
        self.seeds = seeds
        self.epochs = epochs
        self.budget = budget
        self.device = device
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, graph: Any = None) -> PANClassifier:
        """Learns from the nodes whose class is known.

        Args:
            X: (N, F), a row per node; or a graph that was read, or a PyG `Data`, whose labels outside of its train and
                validation masks are not looked at.
            y: (N,), or (N, K) of 0 and 1 where a node may have several labels.
            sample_weight: (N,).
            graph: an `Adjacency`, an edge_index, a sparse matrix A[receiver, sender], or a graph that was read; None
                for rows that know nothing of each other.
        """
        began, given = time.perf_counter(), Given.of(X, y, graph)
        if given.y is None:
            raise ValueError("requires y to be passed, but the target y is None: give y, or a graph with labels")
        nodes = self._taken(given)
        x = nodes.x if isinstance(nodes, Nodes) else nodes
        names = getattr(given.graph, "classes", None) if y is None else None
        known = class_labels(given.y, isinstance(nodes, Nodes), names)
        if len(known.known) != x.shape[0]:
            raise ValueError(f"y must have a row per node, {x.shape[0]}, got {len(known.known)}: inconsistent numbers")
        weight = self._weights(sample_weight, nodes)
        labels = checked_classes(known.without(weight))
        self.classes_, own = labels.classes, as_tensor(per_class(weight, labels, self.class_weight))
        seed = seed_of(self.random_state)
        task = Task(labels.targets, own, folds_for(self.cv, known, labels, seed, nodes), labels.kind)
        single = labels.kind == "softmax"
        # Before the head, which then knows how much of the budget is left.
        less = beside(nodes, torch.from_numpy(labels.rows), task) if isinstance(nodes, Nodes) and single else None
        self.head_, self.choice_, self._model, scores, self.scores_ = chosen_head(
            self, nodes, labels, task, seed, began
        )
        self._kind = labels.kind
        self.temperature_ = temperature(scores, task.targets, task.weight, labels.kind)
        self.held_out_ = HeldOut.of(labels.rows, scores, task.targets)
        self._settle(nodes, labels, self._model.decision(nodes))
        self._doubts = sure.doubts((scores / self.temperature_).softmax(1), task.targets) if single else None
        made = isinstance(nodes, Nodes) and nodes.made_of_edges
        self.report_ = None if less is None else report(self.head_, scores, less, task, made)
        self.seconds_ = time.perf_counter() - began
        return self

    # ------------------------------------------------------------------ answers

    def decision_function(self, X: Any = None, *, graph: Any = None, nodes: Any = None) -> np.ndarray:
        """Scores (n, C), uncalibrated; of two classes (n,), that of the second less that of the first."""
        scores = self._decided(X, graph, nodes)
        return scores[:, 1] - scores[:, 0] if self._kind == "softmax" and scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any = None, *, graph: Any = None, nodes: Any = None) -> np.ndarray:
        """Calibrated probabilities (n, C); of several labels, of each by itself. Arguments as in `predict`."""
        scores = torch.from_numpy(self._decided(X, graph, nodes)) / self.temperature_
        return (scores.softmax(1) if self._kind == "softmax" else scores.sigmoid()).numpy()

    def predict(self, X: Any = None, *, graph: Any = None, nodes: Any = None) -> np.ndarray:
        """Classes (n,), or of several labels (n, K) of 0 and 1.

        Args:
            X, graph: as in `fit`, of another graph, or the same one changed; None for the nodes that it was fitted on.
            nodes: ids or row numbers of those that are asked for; None for all, in the order of `ids_`.
        """
        scores = self._decided(X, graph, nodes)
        return self.classes_[scores.argmax(1)] if self._kind == "softmax" else (scores > 0).astype(np.int64)

    def score(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, graph: Any = None, nodes: Any = None
    ) -> float:
        """Accuracy: the share of nodes whose class is predicted rightly, of those whose class is given.

        Labels that it has learned from count like any others where they are given: to be told how it does on new ones,
        give those alone, or see `report_`.

        Args:
            X: as in `predict`; or a graph with labels, as in `fit`.
            y: (n,) or (n, K), the true classes of the nodes that are asked for, −1, NaN or None where they are not
                known; None for those that the graph brings, of all its nodes.
            sample_weight: (n,).
            graph, nodes: as in `predict`.
        """
        told = self._truth(X, y, sample_weight, graph, nodes)
        predicted = self.predict(X, graph=graph, nodes=nodes)
        truth = class_labels(told.y, self._origin is not None, getattr(told.graph, "classes", None), one=True)
        truth = self._compared(truth, told.graph, nodes, len(predicted))
        check_alike(truth, self.classes_)
        real = truth.classes[truth.y] if truth.kind == "softmax" else truth.y
        weight = None if told.weight is None else np.asarray(told.weight)[truth.known]
        return float(accuracy_score(real[truth.known], predicted[truth.known], sample_weight=weight))

    def _decided(self, X: Any, graph: Any, nodes: Any) -> np.ndarray:
        return self._asked(X, graph, nodes)
