"""The answers for the nodes of a graph as a table: a row per node, by its id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from panconv.data.graph import Graph
from panconv.estimator import sure
from panconv.estimator.classifier import PANClassifier

OF_CLASSES = ("id", "class", "probability", "second", "second_probability", "set", "known", "hops")
OF_NUMBERS = ("id", "value", "known", "hops")
ALPHA = 0.1  # a set of classes misses the right one so often
_DIGITS = 6  # of a probability


def header(estimator: Any) -> tuple[str, ...]:
    """The names of the columns: those of a classifier, or of a regressor."""
    return OF_CLASSES if isinstance(estimator, PANClassifier) else OF_NUMBERS


def answers(
    estimator: Any, graph: Graph, known: np.ndarray | None, rows: np.ndarray | None = None
) -> Iterator[list[Any]]:
    """The rows of a table that `header` is the first line of.

    Args:
        estimator: a fitted `PANClassifier` with one class per node, or a `PANRegressor`.
        graph: whose nodes are asked for: the one that it was fitted on, or another.
        known: (N,), bool, of which nodes the label was learned from; None if nobody knows, which leaves the columns
            `known` and `hops` empty.
        rows: (n,), numbers of the nodes that are wanted; None for all.
    """
    nodes = None if rows is None else graph.ids[rows]  # of a few nodes no more of the graph is looked at than they need
    rows = np.arange(graph.num_nodes) if rows is None else rows
    ids, far = graph.ids[rows].tolist(), _hops(graph, known)[rows]
    hops = [int(each) if np.isfinite(each) else None for each in far]
    learned = [None] * len(rows) if known is None else ["yes" if each else "no" for each in known[rows]]
    if not isinstance(estimator, PANClassifier):
        values = estimator.predict(graph=graph, nodes=nodes).tolist()
        yield from map(list, zip(ids, values, learned, hops, strict=True))
        return
    p = estimator.predict_proba(graph=graph, nodes=nodes)
    names = [str(each) for each in estimator.classes_]
    sets = sure.sets(torch.from_numpy(p), sure.allowed(estimator._doubts, ALPHA)).numpy()
    order = np.argsort(-p, axis=1, kind="stable")[:, :2].tolist()
    for i, (first, second) in enumerate(order):
        both = [part for c in (first, second) for part in (names[c], round(float(p[i, c]), _DIGITS))]
        yield [ids[i], *both, set_of(names, sets[i]), learned[i], hops[i]]


def set_of(names: list[str], within: np.ndarray) -> str:
    """The names of a set of classes with | between them; a | in a name has a backslash before it."""
    return "|".join(
        name.replace("\\", "\\\\").replace("|", "\\|") for name, there in zip(names, within, strict=True) if there
    )


def _hops(graph: Graph, known: np.ndarray | None) -> np.ndarray:
    if known is None or not known.any():  # a graph that nothing was learned from
        return np.full(graph.num_nodes, np.inf)
    return sure.hops(graph.adjacency, np.flatnonzero(known))
