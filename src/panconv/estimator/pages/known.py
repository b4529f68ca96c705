"""`Known`: what a page can say of the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from panconv.base.checks import kind_of, shown
from panconv.estimator.nodes import Nodes
from panconv.graph import Adjacency


class Known(NamedTuple):
    """A graph, what its nodes are called, and their classes as far as they are known."""

    adj: Adjacency
    ids: np.ndarray | None  # (N,), None for row numbers
    places: dict[str, int] | None  # the row of each id
    labels: Sequence[Any] | None  # (N,), None or "" where a class is not known
    predicted: Sequence[Any] | None  # (N,)

    @staticmethod
    def of(graph: Any, labels: Any = None, predicted: Any = None) -> Known:
        """From a fitted estimator, a graph that was read, `Nodes`, or anything an `Adjacency` is made from."""
        nodes = getattr(graph, "_fitted_on", None)
        if isinstance(nodes, Nodes):
            predicted = graph.predict() if predicted is None else predicted
        elif hasattr(graph, "fit"):
            raise ValueError(
                f"graph must be a graph or an estimator fitted with one, got {kind_of(graph)}: name the graph"
            )
        nodes = graph if nodes is None else nodes
        labels = getattr(nodes, "labels", None) if labels is None else labels
        adj = nodes.adj if isinstance(nodes, Nodes) else getattr(nodes, "adjacency", nodes)
        adj = adj if isinstance(adj, Adjacency) else Adjacency.of(adj)
        ids = getattr(nodes, "ids", None)
        places = None if ids is None else {name: row for row, name in enumerate(np.asarray(ids).astype(str).tolist())}
        known = Known(adj, ids, places, labels, predicted)
        known._check()
        return known

    def _check(self) -> None:
        for name, given in (("labels", self.labels), ("predicted", self.predicted)):
            if given is not None and len(given) != self.adj.num_nodes:
                raise ValueError(f"{name} must have an entry per node, {self.adj.num_nodes}, got {len(given)}")

    def row(self, node: Any) -> int:
        """The row of a node, by its id or number."""
        found = int(node) if self.places is None else self.places.get(str(node), -1)
        if not 0 <= found < self.adj.num_nodes:
            raise ValueError(f"node {shown(node)} of the explanation is not in the graph: give the graph it is of")
        return found

    def name(self, row: int) -> str:
        return str(row if self.ids is None else self.ids[row])

    def label(self, row: int) -> str | None:
        return _said(self.labels, row)

    def prediction(self, row: int) -> str | None:
        return _said(self.predicted, row)


def _said(values: Sequence[Any] | None, row: int) -> str | None:
    """A class as text; of several labels their numbers; None where it is not known."""
    value = None if values is None else values[row]
    if value is None or (np.ndim(value) == 0 and (value != value or str(value) == "")):
        return None
    if np.ndim(value):
        return ", ".join(str(place) for place in np.flatnonzero(value)) or "none"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
