"""`PathFeatures`: the path features of nodes as a scikit-learn transformer, whose rows are nodes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from panconv.estimator.nodes import Matrix
from panconv.estimator.terms import Paths, TermStore
from panconv.met.methods import checked_method


class PathFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """[X, G(1)X, …, G(L)X], the terms of the operator side by side, each of one size, for some nodes of one graph.

    The graph and the features of all its nodes live in the estimator; what goes through a `Pipeline`, a `GridSearchCV`
    or a splitter are names of nodes. So a fold hides labels, never nodes or edges, and splits may be grouped or ordered
    in time. `clone` shares graph and features, and the terms are found once for all clones. Neither may be changed in
    place.

    Args:
        graph: a graph that was read, whose nodes are then named by its ids; a PyG `Data`, an `Adjacency`, an
            edge_index, a SciPy or torch sparse matrix A[receiver, sender], whose nodes are named by their row numbers.
        X: (N, F), a row per node of the graph, dense or sparse; None for the features that the graph has itself.
        L: the longest path.
        method: 1 … 11, a row of `METHODS`. Of those that divide by Z, the terms are those of equal weights.
        paths: which are counted, as in `PANConv`.
        scale: whether each length is divided by how far its rows are from their mean over all nodes of the graph (the
            root of the mean square), so that a penalty means the same for all lengths. Labels are not looked at.

    Attributes:
        scales_: what each length is divided by, (L + 1,); of ones where it is not.

    >>> ring = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    >>> PathFeatures(ring, [[1.0], [0.0], [0.0], [0.0]], L=2, method=3, scale=False).fit_transform([0, 1, 2]).tolist()
    [[1.0, 0.0, 0.5], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """

    def __init__(
        self, graph: Any, X: Any = None, L: int = 3, method: int = 5, paths: Any = "walks", scale: bool = True
    ) -> None:
        self.graph = graph
        self.X = X
        self.L = L
        self.method = method
        self.paths = paths
        self.scale = scale
        self._store = TermStore()

    def __sklearn_clone__(self) -> PathFeatures:
        made = type(self)(**self.get_params(deep=False))
        made._store = self._store
        for name in ("_sklearn_output_config", "_metadata_request"):  # what else scikit-learn's own clone keeps
            if name in vars(self):
                setattr(made, name, copy.deepcopy(vars(self)[name]))
        return made

    def fit(self, nodes: Any, y: Any = None) -> PathFeatures:
        """Finds the terms. Nothing is learned of the labels, nor of which nodes these are."""
        checked_method(self.method)
        self._store.nodes(self.graph, self.X).rows(nodes)
        blocks = self._blocks()
        width = blocks[0].shape[1]
        self.scales_ = np.array([_spread(block) for block in blocks]) if self.scale else np.ones(self.L + 1)
        self.n_features_in_, self._n_features_out = 1, width * (self.L + 1)
        return self

    def transform(self, nodes: Any) -> Matrix:
        """The path features of some nodes, (n, (L + 1)·F): a block per length, sparse if X is and they are too."""
        check_is_fitted(self, "n_features_in_")
        rows = self._store.nodes(self.graph, self.X).rows(nodes)
        found = [block[rows] / block.dtype.type(size) for block, size in zip(self._blocks(), self.scales_, strict=True)]
        if not sp.issparse(found[0]):
            return np.hstack(found)
        whole = sp.hstack(found, format="csr")
        frames = _get_output_config("transform", self)["dense"] != "default"  # which hold no sparse matrix
        return whole.toarray() if frames else whole

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The feature's name, and the length of the paths that it came by."""
        names = self._store.nodes(self.graph, self.X).names
        return np.array([f"{name}_{n}" for n in range(self.L + 1) for name in names], dtype=object)

    def _blocks(self) -> list[Matrix]:
        return self._store.blocks(self.graph, self.X, Paths(self.L, self.method, self.paths))


def _spread(block: Matrix) -> float:
    """The root of the mean squared distance of rows from their mean; 1 where they are all alike."""
    x = block.data if sp.issparse(block) else block
    most = float(np.abs(x).max(initial=0.0)) or 1.0
    mean = np.asarray(block.mean(0, dtype=np.float64)).ravel() / most
    square = float(np.square(x / most, dtype=np.float64).sum()) / max(1, block.shape[0]) - float(mean @ mean)
    return most * square**0.5 if square > 1e-12 * float(mean @ mean) + 1e-300 else 1.0
