"""`Origin`: what stays known of the graph that an estimator was fitted on, where the graph itself is not handed on."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from panconv.estimator.nodes import Nodes


class Origin(NamedTuple):
    """How the graph was read, and what its columns became."""

    names: list[str]  # (F,), of the features
    learned: Any  # how the columns of a graph that was read became features, `Features`; None for features as given
    weighted: bool  # whether its edges had weights
    directed: bool | None  # as its owner said; None where nobody was asked
    label: str | None  # the column that held the labels, where there was one

    @staticmethod
    def of(graph: Any, nodes: Nodes) -> Origin:
        """Of a graph as it was given, and what was made of it."""
        directed, label = getattr(graph, "directed", None), getattr(graph, "label", None)
        return Origin(
            names=nodes.names,
            learned=nodes.learned,
            weighted=nodes.adj.value is not None,
            directed=directed if isinstance(directed, bool) else None,
            label=label if isinstance(label, str) and label else None,
        )

    def compare(self, graph: Any, nodes: Nodes) -> None:
        """Warns where another graph was read in another way."""
        directed = getattr(graph, "directed", None)
        if self.directed is not None and isinstance(directed, bool) and directed != self.directed:
            _warn("directed", directed, f"read it with directed={self.directed}")
        if (nodes.adj.value is not None) != self.weighted:
            _warn("weighted", not self.weighted, "give the same kind of edges")


def _warn(what: str, is_so: bool, remedy: str) -> None:
    one, other = ("is", "was not") if is_so else ("is not", "was")
    warnings.warn(
        f"the graph {one} {what}, but that which the model was fitted on {other}: {remedy}, or answers mean little",
        stacklevel=5,
    )
