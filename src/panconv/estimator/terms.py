"""Path features: the terms of M·X, a block (N, F) per length, which a head takes one after another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from panconv.base.checks import checked_length
from panconv.estimator.asked import at_once
from panconv.estimator.nodes import Matrix, Nodes
from panconv.graph import Adjacency
from panconv.met import MET, METHODS
from panconv.paths import paths_from

_COLUMNS = 256  # of sparse features that are made dense at a time
_HELD = 4  # terms of a length, and what is between them
_DENSEST = 0.25  # of what is kept sparse: from there on a dense matrix is smaller, or soon read


class Paths(NamedTuple):
    """Which terms are taken: those of which operator, up to which length."""

    L: int
    method: int = 5
    kind: Any = "walks"  # `paths` of a layer

    def operator(self, adj: Adjacency) -> MET:
        """The operator in which every length weighs the same: what a length is worth is for a head to say."""
        return MET(paths_from(self.kind)(adj, checked_length(self.L)), [1.0] * (self.L + 1), self.method)


def blocks(nodes: Nodes, paths: Paths, rows: np.ndarray | None = None) -> Iterator[Matrix]:
    """wₙ-free terms D_nᵇ G(n) D_nᵇ′ X of n = 0 … L, within Zᵃ … Zᵃ′ where the method divides by Z, (N, F) each; or
    (n, F), of some rows alone."""
    M = paths.operator(nodes.adj)
    kept = slice(None) if rows is None else rows
    if not sp.issparse(nodes.x):
        return (term.numpy()[kept] for term in M.terms(torch.from_numpy(np.ascontiguousarray(nodes.x))))
    return iter(_sparse_blocks(M, nodes.x.tocsc(), kept))


def _sparse_blocks(M: MET, x: Any, kept: Any) -> list[Matrix]:
    """The terms of sparse features, a few columns at a time; sparse themselves, where that is less to hold."""
    F = x.shape[1]
    columns: list[list[Any]] = []
    for start in range(0, max(F, 1), _COLUMNS):
        dense = torch.from_numpy(x[:, start : start + _COLUMNS].toarray())
        columns.append([sp.csc_matrix(term.numpy()[kept]) for term in M.terms(dense)])
    found = [sp.hstack(each, format="csr") for each in zip(*columns, strict=True)]
    if sum(block.nnz for block in found) <= _DENSEST * len(found) * found[0].shape[0] * F:
        return found
    return [block.toarray() for block in found]


def columns_at_once(nodes: Nodes, L: int) -> int:
    """Of how many features terms may be held for all nodes of a graph; of sparse ones those of all lengths are."""
    held = _HELD + (L + 1 if sp.issparse(nodes.x) else 0)
    one = nodes.x.shape[0] * (nodes.x.dtype.itemsize * held + 8)
    return max(1, at_once() // max(one, 1))


class TermStore:
    """Terms that were found, by whose they are: estimators that share it find them once. Safe under threads.

    What is kept belongs to one graph and its features, the last that were asked for. It travels empty.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[Any, Any] = (None, None)
        self._nodes: Nodes | None = None
        self._found: dict[Paths, list[Matrix]] = {}

    def nodes(self, graph: Any, X: Any) -> Nodes:
        """What the graph and the features hold, read once."""
        with self._lock:
            return self._read(graph, X)

    def blocks(self, graph: Any, X: Any, paths: Paths) -> list[Matrix]:
        """The terms of a graph's features."""
        with self._lock:
            nodes = self._read(graph, X)
            if not isinstance(paths.kind, str):  # of options or a function nothing is known
                return list(blocks(nodes, paths))
            if paths not in self._found:
                self._found[paths] = self._beginning(paths) or list(blocks(nodes, paths))
            return self._found[paths]

    def _read(self, graph: Any, X: Any) -> Nodes:
        if self._nodes is None or self._of[0] is not graph or self._of[1] is not X:
            self._nodes, self._of, self._found = Nodes.of(graph, X), (graph, X), {}
        return self._nodes

    def _beginning(self, paths: Paths) -> list[Matrix] | None:
        """The terms of shorter paths are the first of longer ones, unless Z, which adds all, divides them."""
        if METHODS[paths.method].overall is not None:
            return None
        longer = (of for of in self._found if of._replace(L=paths.L) == paths and of.L > paths.L)
        return next((self._found[of][: paths.L + 1] for of in longer), None)

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return TermStore, ()
