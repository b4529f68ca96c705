"""`Nodes`: a graph, the features of its nodes and what its nodes are called, of whatever a user hands in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.checks import kind_of, shown
from panconv.estimator.given import by_id
from panconv.graph import Adjacency

Matrix = Any  # np.ndarray or sp.csr_matrix, (N, F) of float32 or float64


class Nodes(NamedTuple):
    """The nodes of a graph, in the order of its rows."""

    adj: Adjacency
    x: Matrix  # (N, F)
    ids: np.ndarray | None  # (N,), what they are called; None for their row numbers
    names: list[str]  # (F,), of the features
    learned: Any = None  # how the columns of a graph that was read became features
    device: str = "cpu"  # where a deep head is trained on them; all else is the CPU's

    @staticmethod
    def of(graph: Any, X: Any = None, learned: Any = None) -> Nodes:
        """From a graph that was read, a PyG `Data`, or anything an `Adjacency` is made from.

        Features that are indexed by its ids are put into their order.

        Args:
            graph, X: as in `PANClassifier.fit`.
            learned: how the columns of the graph that was learned from became features, to take these in the same way.
        """
        names = [str(name) for name in getattr(X, "columns", ())]
        if X is None and hasattr(graph, "learned_features"):
            learned = graph.learned_features() if learned is None else learned
            names, X = [*learned.names], learned.transform(graph)
        ids = getattr(graph, "ids", None)
        x = matrix(given_features(graph) if X is None else by_id(X, ids, "X"))
        adj = adjacency_of(graph, x.shape[0])
        names = names or [f"x{j}" for j in range(x.shape[1])]
        return Nodes(adj, x, None if ids is None else np.asarray(ids), names, learned)

    @property
    def made_of_edges(self) -> bool:
        """Whether the features are those that the edges tell, since the nodes have none of their own."""
        return self.learned is not None and all(block.of_edges for block in self.learned.blocks)

    def rows(self, nodes: Any) -> np.ndarray:
        """The row numbers (n,) of some nodes, which are named by their ids where the graph has such."""
        given = np.asarray(nodes)
        given = given.reshape(-1) if given.ndim == 2 and given.shape[1] == 1 else given
        if given.ndim != 1:
            raise ValueError(f"nodes must be ids or row numbers, (n,) or (n, 1), got shape {given.shape}")
        return self._numbers(given) if self.ids is None else self._named(given, self.ids)

    def _numbers(self, given: np.ndarray) -> np.ndarray:
        N = self.x.shape[0]
        whole = given.astype(np.int64) if given.dtype.kind in "iuf" else None
        if whole is None or (whole != given).any():
            raise TypeError(f"nodes must be row numbers, whole numbers of 0 … {N - 1}, got {shown(given)}")
        if given.size and not (whole.min() >= 0 and whole.max() < N):
            wrong = int(whole.min() if whole.min() < 0 else whole.max())
            raise ValueError(f"nodes names row {wrong}, but the graph has the rows 0 … {N - 1}")
        return whole

    @staticmethod
    def _named(given: np.ndarray, ids: np.ndarray) -> np.ndarray:
        names = given.astype(str).tolist()
        wanted = set(names)  # of a large graph a few ids are asked for, and no more are kept
        place = {name: row for row, name in enumerate(map(str, ids.tolist())) if name in wanted}
        found = [place.get(name, -1) for name in names]
        if -1 in found:
            few = ", ".join(map(str, ids[:3]))
            raise ValueError(f"nodes names {names[found.index(-1)]!r}, but there is no such id: they are as {few}")
        return np.array(found, dtype=np.int64)


def given_features(graph: Any) -> Any:
    """The features that a graph brings along."""
    found = getattr(graph, "features", None)
    found = found() if callable(found) else getattr(graph, "x", None)
    if found is None:
        raise ValueError(f"X is missing, and the graph, {kind_of(graph)}, has no features: give X, (N, F)")
    return found


def adjacency_of(graph: Any, N: int) -> Adjacency:
    """The graph on N nodes. What holds its edges under a name of its own is asked for them."""
    made = getattr(graph, "adjacency", None)
    if made is not None:
        return Adjacency.of(made() if callable(made) else made, num_nodes=N)
    if isinstance(getattr(graph, "edge_index", None), Tensor):
        return Adjacency.of(graph.edge_index, getattr(graph, "edge_weight", None), N)
    return Adjacency.of(graph, num_nodes=N)


def matrix(X: Any, name: str = "X") -> Matrix:
    """Features (N, F), finite, of float32 or float64, dense or CSR."""
    if isinstance(X, Tensor):
        X = _of_tensor(X.detach())
    x = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if x.ndim != 2:
        raise ValueError(f"{name} must be (N, F), a row per node, got shape {x.shape}: reshape it")
    if x.dtype.kind == "O":
        x = _as_numbers(x, name)
    if x.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got {x.dtype}: encode it, as by sklearn.preprocessing")
    x = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    if not sp.issparse(x) and not x.flags.writeable:  # as those of a frame, of which torch warns
        x = x.copy()
    finite = np.isfinite(x.data if sp.issparse(x) else x)
    if not finite.all():
        where = "" if sp.issparse(x) else f", as in column {int((~finite).any(0).argmax())}"
        raise ValueError(f"{name} holds NaN or infinite numbers{where}: impute them, as by sklearn.impute")
    return x


def _of_tensor(x: Tensor) -> Matrix:
    """A tensor as NumPy or SciPy has it."""
    x = x.cpu()
    if x.layout == torch.strided:
        return (x.float() if x.dtype == torch.bfloat16 else x).numpy()
    csr = x.to_sparse_csr()
    parts = (csr.values(), csr.col_indices(), csr.crow_indices())
    return sp.csr_matrix(tuple(part.numpy() for part in parts), shape=tuple(x.shape))


def _as_numbers(x: np.ndarray, name: str) -> np.ndarray:
    try:
        return x.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers: {error}; encode it, as by sklearn.preprocessing") from None
