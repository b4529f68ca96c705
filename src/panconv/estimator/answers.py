"""What a classifier says beside its classes: how sure it is, and whether the graph helped."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from panconv.base.checks import checked_count
from panconv.estimator import sure
from panconv.estimator.deep import DeepHead
from panconv.estimator.explaining import Explanation
from panconv.estimator.explaining.asking import class_number, head_at
from panconv.estimator.given import Given
from panconv.estimator.labels import class_labels
from panconv.estimator.nodes import Nodes
from panconv.estimator.report import Report


class Answers:
    """The part of `PANClassifier` that is about its answers."""

    report_: Report | None
    _doubts: Any

    def predict_set(self, X: Any = None, *, alpha: float = 0.1, graph: Any = None, nodes: Any = None) -> np.ndarray:
        """Which classes (n, C), in the order of `classes_`, a node may be of: the right one is among them for about
        1 − alpha of the nodes or more, if these are like those whose labels are known. No set is empty. Other arguments
        as in `predict`."""
        p = self.predict_proba(X, graph=graph, nodes=nodes)  # type: ignore[attr-defined]
        if self._doubts is None:
            raise ValueError("predict_set goes with one class per node: take predict_proba of several labels")
        return sure.sets(torch.from_numpy(p), sure.allowed(self._doubts, alpha)).numpy()

    def hops_to_label(self, nodes: Any = None, *, graph: Any = None) -> np.ndarray:
        """How many edges away the nearest known label is, (n,); 0 for a node that has one, infinite where none is.

        Args:
            nodes: as in `predict`.
            graph: another graph that brings labels of its own, to which is measured.
        """
        if graph is None:
            asked, known = self._own_graph("hops_to_label"), self._known  # type: ignore[attr-defined]
        else:
            known = class_labels(Given.of(None, None, graph).y, True, one=True).known
            asked = Nodes.of(graph, np.zeros((len(known), 0)))
        found = sure.hops(asked.adj, np.flatnonzero(known))
        return found if nodes is None else found[asked.rows(nodes)]

    def disagreement(self, nodes: Any = None, *, X: Any = None, graph: Any = None) -> np.ndarray:
        """The share of the deep head's seeds that say another class than the ensemble, (n,). Arguments as in
        `predict`."""
        model = self._model  # type: ignore[attr-defined]
        if not isinstance(model, DeepHead):
            raise ValueError("disagreement is that of seeds, but head 'linear' has none: set head='pan'")
        graph = self._nodes("disagreement", X, graph)  # type: ignore[attr-defined]
        found = sure.disagreement(model.by_seed(graph)).numpy()
        return found if nodes is None else found[graph.rows(nodes)]

    def explain(self, node: Any, *, label: Any = None, top: int = 5, X: Any = None, graph: Any = None) -> Explanation:
        """Why a node has its score: over path lengths, end nodes, features and single paths (docs/explain.md).

        Args:
            node: its id, or its row number where the graph has no ids.
            label: the class whose score is explained; None for the one that is predicted.
            top: how many of the single paths that add most are looked for; 0 for none.
            X, graph: as in `predict`, of another graph; None for the one that it was fitted on.
        """
        nodes = self._nodes("explain", X, graph)  # type: ignore[attr-defined]
        top = checked_count(top, "top", least=0)
        head, row = head_at(self._model, nodes, node)  # type: ignore[attr-defined]
        c = class_number(self.classes_, label, head.scores)  # type: ignore[attr-defined]
        scores = torch.from_numpy(head.scores) / self.temperature_  # type: ignore[attr-defined]
        share = scores.softmax(0) if self._kind == "softmax" else scores.sigmoid()  # type: ignore[attr-defined]
        label, score = self.classes_[c], float(head.scores[c])  # type: ignore[attr-defined]
        return head.parts(c, top).explanation(nodes, row, label, score, float(share[c]))

    def summary(self) -> str:
        """What the head is worth beside less, and whether the graph helps, in a few lines."""
        check_is_fitted(self, "n_features_in_")
        if self._origin is None:  # type: ignore[attr-defined]
            raise ValueError("summary is of a graph, but the estimator was fitted without one: fit(X, y, graph=…)")
        if self.report_ is None:
            return "Nothing was held out, so nothing can be said: there are too few labels, or several per node."
        return str(self.report_)
