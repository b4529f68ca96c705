"""The parts of a score as arrays, by length, node and feature; and the explanation that is made of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from panconv.estimator.explaining.best_paths import Path
from panconv.estimator.explaining.explanation import Explanation, Part, PathPart
from panconv.estimator.nodes import Nodes


class Parts(NamedTuple):
    """The score of a class at a node is the bias and the sum of any one of `lengths`, `ends` and `features`."""

    bias: float
    lengths: np.ndarray  # by steps
    nodes: np.ndarray  # (n,), the numbers of those that are heard
    ends: np.ndarray  # (n,), what these add
    features: np.ndarray  # (F,)
    paths: list[Path]

    def explanation(self, nodes: Nodes, row: int, label: Any, score: float, probability: float) -> Explanation:
        """With the names of nodes and features."""
        names = NodeNames(nodes)
        ends, features = (_by_size(values) for values in (self.ends, self.features))
        return Explanation(
            node=names[row],
            label=plain(label),
            score=score,
            probability=probability,
            bias=self.bias,
            lengths=tuple(self.lengths.tolist()),
            ends=tuple(Part(names[self.nodes[at]], float(self.ends[at])) for at in ends),
            features=tuple(Part(nodes.names[at], float(self.features[at])) for at in features),
            paths=tuple(PathPart(tuple(names[at] for at in path), value) for path, value in self.paths),
        )


class At(Protocol):
    """A head at a node."""

    scores: np.ndarray  # (C,)

    def parts(self, c: int, top: int) -> Parts:
        """Of the score of class c, with its `top` best paths."""


class NodeNames:
    """The ids of nodes by their rows; their row numbers where they have none."""

    def __init__(self, nodes: Nodes) -> None:
        self._ids = nodes.ids

    def __getitem__(self, row: int) -> Any:
        return int(row) if self._ids is None else plain(self._ids[row])


def plain(value: Any) -> Any:
    """A number or a text without NumPy around it."""
    return value.item() if isinstance(value, np.generic) else value


def _by_size(values: np.ndarray) -> list[int]:
    """The places of those that are not 0, the largest first."""
    order = np.argsort(-np.abs(values), kind="stable")
    return order[values[order] != 0].tolist()
