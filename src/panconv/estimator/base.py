"""What the estimators share: how a graph and its labels come in, and for which nodes an answer is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from panconv.base.checks import as_integer, as_number, checked_device, checked_seed, shown
from panconv.estimator.asked import Asked, around_few
from panconv.estimator.folds import Folds, folds_of
from panconv.estimator.given import Given, by_id
from panconv.estimator.labels import Labels
from panconv.estimator.linear import LinearHead
from panconv.estimator.nodes import Matrix, Nodes, matrix
from panconv.estimator.origin import Origin
from panconv.estimator.terms import Paths, blocks, columns_at_once
from panconv.nn import PANConv

_DTYPES = (np.float64, np.float32)


class LinearModel(NamedTuple):
    """A linear head, and the paths whose terms it takes; None where there is no graph."""

    head: LinearHead
    paths: Paths | None

    def decision(self, nodes: Nodes | Matrix) -> Tensor:
        """Scores (N, C)."""
        return self.head.decision(terms_of(nodes, self.paths))

    def decided(self, asked: Asked, rows: np.ndarray | None) -> Tensor:
        """Scores of some nodes, (n, C), or of all. Of few nodes no more is looked at than what lies around them."""
        paths = self.paths
        assert paths is not None
        if rows is not None and not callable(paths.kind):  # of whose paths nothing would be known
            layer = PANConv(1, 1, paths.L, paths.method, paths=paths.kind)  # which says how far they reach
            if (block := around_few(asked, layer, rows)) is not None:
                return self._by_columns(block[0])[block[1]]
        scores = self._by_columns(asked.whole())
        return scores if rows is None else scores[rows]

    def _by_columns(self, nodes: Nodes) -> Tensor:
        """Scores (N, C), the terms of a few features at a time where those of all are much: scores are their sum."""
        assert self.paths is not None
        F, fits = nodes.x.shape[1], columns_at_once(nodes, self.paths.L)
        if fits >= F:
            return self.decision(nodes)
        scores = self.head.intercept
        for start in range(0, F, fits):
            some = slice(start, start + fits)
            part = self.head.of_columns(some)
            scores = scores + self._replace(head=part).decision(nodes._replace(x=nodes.x[:, some]))
        return scores


class Truth(NamedTuple):
    """What answers are compared with."""

    y: Any  # a row per node that is asked for; of a graph's own labels one per node
    weight: Any  # of the nodes that are asked for; None where all weigh the same
    graph: Any  # which brought the labels along; None where they were given beside it


def terms_of(nodes: Nodes | Matrix, paths: Paths | None, rows: np.ndarray | None = None) -> Iterator[Matrix]:
    """A block per length, of all rows or of some; without a graph the features alone, as paths of length 0."""
    if paths is not None:
        return blocks(nodes, paths, rows)
    return iter([nodes if rows is None else nodes[rows]])


class GraphEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The part of `PANClassifier` and `PANRegressor` that is the same for both."""

    device: Any
    _origin: Origin | None  # of the graph that it was fitted on; None without one
    _model: Any  # a `LinearModel` or a `DeepHead`
    _fitted_on: Nodes | None  # that graph, where it is at hand: not in an estimator that was loaded

    def save(self, path: Any) -> None:
        """Writes the fitted estimator as a folder of plain files, which `panconv.load_model` reads: what was learned,
        but no graph (docs/folder.md). It is written whole or not at all.

        Args:
            path: a new or empty folder, or that of a former model, which is replaced.
        """
        from panconv.estimator import saving  # which makes estimators of this class

        saving.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _taken(self, given: Given) -> Nodes | Matrix:
        """The nodes to learn from, or without a graph the features as scikit-learn checks them."""
        device, self._origin = checked_device(self.device), None
        if given.graph is None:
            return validate_data(self, given.X, accept_sparse="csr", dtype=_DTYPES)
        nodes = Nodes.of(given.graph, given.X)._replace(device=str(device))
        self._origin = Origin.of(given.graph, nodes)
        validate_data(self, nodes.x if given.X is None else _shaped(given.X), skip_check_array=True)
        if given.X is None and nodes.learned is not None:
            self.feature_names_in_ = np.array(nodes.names, dtype=object)
        return nodes

    def _weights(self, sample_weight: Any, nodes: Nodes | Matrix) -> np.ndarray:
        x, ids = (nodes.x, nodes.ids) if isinstance(nodes, Nodes) else (nodes, None)
        given = by_id(sample_weight, ids, "sample_weight")
        return _check_sample_weight(given, x, dtype=np.float64, ensure_non_negative=True)

    def _settle(self, nodes: Nodes | Matrix, labels: Labels, scores: Tensor) -> None:
        """Keeps what was found of the nodes of the graph that it was fitted on."""
        self._fitted_on = nodes if isinstance(nodes, Nodes) else None
        self._scores: Any = scores.numpy() if self._fitted_on is not None else None
        self._known = labels.known
        self.__dict__.pop("ids_", None)  # of a fit before
        if self._fitted_on is not None and self._fitted_on.ids is not None:
            self.ids_ = self._fitted_on.ids

    def _asked(self, X: Any, graph: Any, nodes: Any) -> np.ndarray:
        """The scores (n, C) of the nodes that are asked for."""
        check_is_fitted(self, "n_features_in_")
        given = Given.of(X, False, graph)
        if given.graph is None and given.X is None:
            if self._origin is None:
                raise ValueError("X is missing: without a graph there are no other rows than those that are given")
            fitted_on, scores = self._own_graph("predict"), self._scores
            return scores if nodes is None else scores[fitted_on.rows(nodes)]
        if given.graph is None:
            if self._origin is not None:
                raise ValueError(
                    "graph is missing, and features alone tell no paths: predict() is of the nodes it was fitted on, "
                    f"predict(X, graph=…) of others, got X, {shown(np.asarray(given.X))}"
                )
            x = validate_data(self, given.X, accept_sparse="csr", dtype=_DTYPES, reset=False)
            return self._model.decision(x).numpy()
        found = self._read(given)
        return self._model.decided(found, None if nodes is None else found.names.rows(nodes)).numpy()

    def _truth(self, X: Any, y: Any, sample_weight: Any, graph: Any, nodes: Any, numbers: bool = False) -> Truth:
        """What `score` is given to compare with. Arguments as there, and `numbers` as in `Given.of`."""
        check_is_fitted(self, "n_features_in_")
        given = Given.of(X, None if y is None else False, graph, numbers)
        if y is None and given.y is None:
            raise ValueError("y is missing: give the labels or numbers to compare with")
        ids = getattr(self._fitted_on if given.graph is None else given.graph, "ids", None)
        ids = ids if ids is None or nodes is None else np.asarray(nodes).reshape(-1)
        weight = by_id(sample_weight, ids, "sample_weight")
        return Truth(given.y, weight, given.graph) if y is None else Truth(by_id(y, ids, "y"), weight, None)

    @staticmethod
    def _compared(truth: Labels, graph: Any, nodes: Any, count: int) -> Labels:
        """What `count` answers are compared with.

        Args:
            truth: the labels of the nodes that are asked for; or of all nodes of a graph.
            graph: the one that brought them along; None where they were given beside it.
            nodes: those that are asked for; None for all.
            count: how many answers there are.
        """
        if graph is not None and nodes is not None:
            truth = truth.of(Nodes.of(graph, np.zeros((len(truth.known), 0))).rows(nodes))
        if len(truth.known) != count:
            raise ValueError(f"y must have {count} rows, one per node that is asked for, got {len(truth.known)}")
        if not truth.known.any():
            raise ValueError("y has no labels of the nodes that are asked for: ask for others, or give y")
        return truth

    def _nodes(self, what: str, X: Any, graph: Any) -> Nodes:
        """The graph that something is asked of: another one, or the one that it was fitted on."""
        check_is_fitted(self, "n_features_in_")
        given = Given.of(X, False, graph)
        if given.graph is not None:
            return self._read(given).whole()
        fitted_on = self._own_graph(what)
        if given.X is not None:
            raise ValueError(f"graph is missing, and features alone tell no paths: {what}(…, X=…, graph=…)")
        return fitted_on

    def _own_graph(self, what: str) -> Nodes:
        """The graph that it was fitted on."""
        check_is_fitted(self, "n_features_in_")
        if self._origin is None:
            raise ValueError(f"{what} is of a graph, but the estimator was fitted without one: fit(X, y, graph=…)")
        if self._fitted_on is None:
            raise ValueError(f"graph is missing: a model that was loaded has none of its own, so give {what}(graph=…)")
        return self._fitted_on

    def _read(self, given: Given) -> Asked:
        """Another graph, whose features are made as those of the graph that it was fitted on."""
        if self._origin is None:
            raise ValueError("graph is given, but the estimator was fitted without one: fit(X, y, graph=…)")
        if given.X is None and self._origin.learned is None and hasattr(given.graph, "learned_features"):
            raise ValueError("X is missing: the estimator was fitted on features that were given beside the graph")
        found = Asked.of(given.graph, given.X, self._origin.learned)
        self._origin.compare(given.graph, found.names)
        if found.learned is None:
            x = found.names.x if given.X is None else _shaped(given.X)
            validate_data(self, x, skip_check_array=True, reset=False)
        return found


def _shaped(X: Any) -> Any:
    """Features whose names and number scikit-learn can see."""
    return X if hasattr(X, "columns") or hasattr(X, "shape") else matrix(X)


def per_class(weight: np.ndarray, labels: Labels, class_weight: Any) -> np.ndarray:
    """The weights of the known rows (n,), times those of their classes."""
    own = weight[labels.known]
    if class_weight is None:
        return own
    if labels.kind != "softmax":
        raise ValueError(f"class_weight goes with one class per row, got {shown(class_weight)}: leave it None")
    y, C = labels.y[labels.known], len(labels.classes)
    if isinstance(class_weight, dict):
        _check_class_weight(class_weight, labels.classes.tolist())
        return own * np.array([class_weight.get(each, 1.0) for each in labels.classes.tolist()], dtype=np.float64)[y]
    if class_weight != "balanced":
        raise ValueError(
            f"class_weight must be 'balanced', a dict of class and weight, or None, got {shown(class_weight)}"
        )
    total = np.bincount(y, own, minlength=C)
    return own * (own.sum() / (C * total))[y]


def _check_class_weight(given: dict[Any, Any], classes: list[Any]) -> None:
    for name, value in given.items():
        if name not in classes:
            raise ValueError(f"class_weight names {shown(name)}, which is no class: they are {shown(classes)}")
        if (number := as_number(value)) is None or not 0 <= number < float("inf"):
            raise ValueError(f"class_weight of {shown(name)} must be at least 0 and finite, got {shown(value)}")


def folds_for(cv: Any, labels: Labels, counted: Labels, seed: int, nodes: Nodes | Matrix) -> Folds:
    """The folds of the labels that count. Pairs and splitters speak of all that are known, weighing nothing or not.

    Nodes that have ids are dealt out in the order of these: a table that is sorted another way gives the same folds.
    """
    classifies = labels.kind != "squared"
    if as_integer(cv) is not None:
        rows, ids = counted.rows, nodes.ids if isinstance(nodes, Nodes) else None
        if ids is None:
            return folds_of(cv, counted.y[rows], classifies, seed)
        order = np.argsort(ids[rows].astype(str))
        return folds_of(cv, counted.y[rows[order]], classifies, seed).of(torch.from_numpy(np.argsort(order)))
    return folds_of(cv, labels.y[labels.known], classifies).of(torch.from_numpy(counted.known[labels.known]))


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls so: an integer, a generator, or None, which is 0 here."""
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    return checked_seed(0 if random_state is None else random_state)


def as_tensor(weight: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(weight, dtype=np.float64))
