"""`Origin`: what stays known of the graph that an estimator was fitted on, where the graph itself is not handed on."""

from __future__ import annotations

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
