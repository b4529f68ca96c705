"""The linear head at a node, taken apart exactly.

    score_c(i) = b_c + Σₙ Σⱼ Gₙ[i, j] · (xⱼ·Wₙ)_c

where Gₙ, the term of length n with all that scales it, is known by its row i alone: that is a product of the transposed
term with a unit vector. All in float64.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from panconv.estimator.explaining.best_paths import Path, Search
from panconv.estimator.explaining.parts import Parts
from panconv.estimator.linear import LinearHead
from panconv.estimator.nodes import Matrix, Nodes
from panconv.estimator.terms import Paths
from panconv.met import MET
from panconv.met.single import PathFactors
from panconv.paths import PathFamily, SelfAvoidingPaths, ShortestPaths, Walks

_ROWS = 2**14  # of the features that are looked at a time
_KINDS: dict[type[PathFamily], str] = {
    Walks: "walks",
    ShortestPaths: "shortest",
    SelfAvoidingPaths: "self_avoiding",
}


class LinearAt:
    """The linear head at a node of a graph.

    Args:
        head: the head.
        paths: whose terms it takes.
        nodes: the graph.
        row: the number of the node.
    """

    def __init__(self, head: LinearHead, paths: Paths, nodes: Nodes, row: int) -> None:
        self._head, self._x, self._row = head, nodes.x, row
        self._M = paths.operator(nodes.adj)
        self._heard = rows_of(self._M, row)  # (L+1, N)
        self._search = search_of(self._M, row)
        able = (self._heard != 0).any(0)
        if self._search is not None:  # signed weights may cancel where paths do arrive
            able[self._search.near] = True
        self._near = np.flatnonzero(able)
        self._terms = sum(  # (L+1, F)
            (np.asarray((part.T @ self._heard[:, at].T).T) for at, part in features_of(self._x, self._near)),
            start=np.zeros((len(self._heard), self._x.shape[1])),
        )
        coefs = zip(self._terms, head.coefs, strict=True)
        self.scores = head.intercept.numpy() + sum(term @ coef.numpy() for term, coef in coefs)

    def parts(self, c: int, top: int) -> Parts:
        W = np.stack([coef[:, c].numpy() for coef in self._head.coefs])  # (L+1, F)
        sent = np.zeros_like(self._heard)  # xⱼ·Wₙ
        for at, part in features_of(self._x, self._near):
            sent[:, at] = np.asarray((part @ W.T).T)
        by_length = self._heard * sent
        return Parts(
            bias=float(self._head.intercept[c]),
            lengths=by_length.sum(1),
            nodes=self._near,
            ends=by_length.sum(0)[self._near],
            features=(self._terms * W).sum(0),
            paths=self._paths(sent, top),
        )

    def _paths(self, sent: np.ndarray, top: int) -> list[Path]:
        if self._search is None or top == 0:
            return []
        size, sign = at_ends(PathFactors.of(self._M), self._row, sent)
        return self._search.best(size, sign, top)


def rows_of(M: MET, row: int) -> np.ndarray:
    """A row of the terms of an operator, (L+1, N)."""
    unit = torch.zeros(M.shape[0], dtype=torch.float64)
    unit[row] = 1
    return torch.stack(list(M.T.terms(unit))).numpy()


def search_of(M: MET, row: int) -> Search | None:
    """The search for single paths to a node; None for a family of a user's own, of whose paths nothing is known."""
    kind = _KINDS.get(type(M.paths))
    return None if kind is None else Search(M.paths.adj, row, M.paths.L, kind)


def at_ends(factors: PathFactors, row: int, sent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a path to each end adds beside the product of its edges, by the logarithm of its size, and its sign.

    Args:
        factors: of the operator.
        row: where the paths begin.
        sent: (L+1, N), what is heard of each node by each length.
    """
    value = (factors.behind.numpy() * sent) * factors.sign[:, row].numpy()[:, None]
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(value)) + factors.log_before[:, row].numpy()[:, None]
    size = np.where(value == 0, -np.inf, size)
    if (alone := float(factors.alone[row])) != 0:  # beside the path of no steps
        value[0, row] = np.sign(value[0, row]) * np.exp(size[0, row]) + alone * sent[0, row]
        size[0, row] = np.log(abs(value[0, row])) if value[0, row] else -np.inf
    return size, np.sign(value)


def features_of(x: Matrix, nodes: np.ndarray) -> Iterator[tuple[np.ndarray, Matrix]]:
    """The features of some nodes in float64, some at a time, with the numbers of these."""
    for start in range(0, len(nodes), _ROWS):
        at = nodes[start : start + _ROWS]
        part = x[at]
        yield at, part.astype(np.float64)
