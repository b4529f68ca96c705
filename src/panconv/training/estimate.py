"""What a training on a graph would take, roughly, from products that are timed on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paths import Walks

_WIDTH = 16  # of the paper's hidden layer
_ROWS = 20_000  # of the dense product that is timed
_SIDE = 512  # of the matrices whose product is timed: it tells how fast this machine computes
_BESIDE = 600  # rows on which the linear head compares how lengths may weigh, `panconv.estimator.linear._ROWS`
# Operations beyond plain products, as measured on Cora and Pubmed with 1 to 60 % of the labels:
_EIGEN = 60  # times n³, of principal axes
_SOLVED = 13_000  # times rows × axes × classes, of all folds, penalties and steps
_LEAST = 0.4  # seconds, of small problems: calls, not products
_PER_CELL = 25e-9  # seconds a cell of the terms takes where most of them are 0
_PER_FEATURE, _PER_HIDDEN = 24, 60  # bytes, as `panconv.training.pans` counts them


class Estimate(NamedTuple):
    """A model, and about what it would take."""

    model: str
    seconds: float
    bytes: float


def estimates(adj: Adjacency, width: int, labelled: int, classes: int, cells: int) -> list[Estimate]:
    """For the models that a graph with labels can be given.

    Args:
        adj: the graph.
        width: F, of the features.
        labelled: how many nodes have a label.
        classes: how many there are.
        cells: of the features, those that are not 0.
    """
    N = adj.num_nodes
    M = MET(Walks(adj, 1), [0.0, 1.0], method=5)
    x = torch.ones(N, _WIDTH)
    product = _seconds(lambda: M @ x)
    some = torch.ones(min(N, _ROWS), max(width, 1))
    w = torch.ones(max(width, 1), _WIDTH)
    dense = _seconds(lambda: some @ w) * cells / max(some.numel(), 1)
    terms = 8 * _PER_CELL * N * width if cells < N * width / 4 else 8 * product * width / _WIDTH
    linear = _LEAST + terms + _head(labelled, 4 * width, max(classes, 2)) / _rate()
    found = [Estimate("path features to L = 3 and a linear head, cross-validated", linear, 4 * 4 * N * width)]
    for name, L, trials, epochs in (("PAN, L = 2, 10 trials", 2, 10, 200), ("PAN, L = 8, 10 trials", 8, 10, 200)):
        # Two layers, forward and backward; the first multiplies the features as well, twice each way.
        epoch = 2 * 2 * L * product + 4 * dense
        memory = _PER_FEATURE * cells + trials * _PER_HIDDEN * N * _WIDTH
        found.append(Estimate(name, trials * epochs * epoch, memory))
    return found


def _head(rows: int, width: int, classes: int) -> float:
    """The floating point operations of a linear head."""
    return _axes(rows, width) + 3 * _axes(min(rows, _BESIDE), width) + _SOLVED * rows * min(rows, width) * classes


def _axes(rows: int, width: int) -> float:
    """Those of its principal axes: a Gram matrix in double precision, and its eigenvectors."""
    few, many = sorted((rows, width))
    return 4 * few**2 * many + _EIGEN * few**3


def _rate() -> float:
    """Operations per second of a dense product."""
    a = torch.ones(_SIDE, _SIDE)
    return 2 * _SIDE**3 / _seconds(lambda: a @ a)


def _seconds(work: Callable[[], object]) -> float:
    """The least time of three calls, after one that prepares."""
    work()
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)
