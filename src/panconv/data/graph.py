"""`Graph`: nodes with ids of their own, edges between them, and what a table says of the nodes. `read` returns one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor

from panconv.data.cells import number_in
from panconv.data.columns import Column
from panconv.graph import Adjacency

_MOST_NEAR = 20_000  # ids among which one of nearly that name is looked for


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph as its owner knows it: every answer comes back with the ids of the file.

    Args:
        ids: (N,), int64 where all of them are whole numbers, else texts.
        edge_index: (2, E), both directions of every edge unless it is directed.
        edge_weight: (E,), or None.
        columns: the features of the nodes, a `Column` per column of the table.
        matrix: features that came as a matrix, (N, F), dense or SciPy's CSR; or None.
        label: the column that holds the labels; "" where there is none.
        labels: (N,), the label of each node as text, None where it is not known.
        classes: the labels that there are, sorted; numbers by their size. None where labels are numbers to predict.
        numbers: reads the labels as numbers, (N,), NaN where there is none; None where `labels` say it all.
        directed: whether an edge has a direction.
        guessed, mended: what was guessed, and what was not as it should be, a line each.
    """

    ids: np.ndarray
    edge_index: Tensor
    edge_weight: Tensor | None = None
    columns: dict[str, Column] = field(default_factory=dict)
    matrix: Any = None
    label: str = ""
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    numbers: Callable[[], np.ndarray] | None = None
    directed: bool = False
    guessed: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Edges as their owner counts them: both directions of an undirected one are one."""
        count = self.edge_index.size(1)
        return count if self.directed else count // 2  # there are no self-loops

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of how it was read."""
        return (*self.guessed, *self.mended)

    @property
    def y(self) -> np.ndarray:
        """(N,), the number of each node's class among `classes`, −1 where it is not known."""
        labels = self._labels()
        if not self.classes:
            raise ValueError(
                f"the labels in {self.label!r} are numbers to predict: read classes without regression=True"
            )
        number: dict[Any, int] = {name: place for place, name in enumerate(self.classes)}
        number[None] = -1
        return np.array([number[each] for each in labels], dtype=np.int64)

    @cached_property
    def targets(self) -> np.ndarray:
        """(N,), the labels as numbers, NaN where there is none: what a regression predicts. Read as a column of
        features is, whether or not they were taken for classes: −1 is a number."""
        labels = self._labels()
        if self.numbers is not None:
            return self.numbers()
        found = np.array([np.nan if each is None else number_in(each) for each in labels], dtype=np.float64)
        for each in labels[np.isnan(found)]:
            if each is not None:
                raise ValueError(f"the labels in {self.label!r} are no numbers, such as {each!r}: predict classes")
        return found

    def _labels(self) -> np.ndarray:
        if self.labels is None:
            raise ValueError("the graph has no labels: name their column with read(…, label=…)")
        return self.labels

    def learned_features(self) -> Any:
        """What is known of its columns, as `Features`; where there are none, of its edges. Learned from all nodes."""
        from panconv.data.features import Features  # which imports this module

        return Features.fit(self)

    def features(self) -> Any:
        """(N, F): its columns as numbers."""
        return self.learned_features().transform(self)

    @cached_property
    def adjacency(self) -> Adjacency:
        return Adjacency.from_edge_index(self.edge_index, self.edge_weight, num_nodes=self.num_nodes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.ids.astype(str).tolist())}

    def index(self, node: Any) -> int:
        """The place of a node among `ids`."""
        if (found := self._places.get(str(node).strip())) is not None:
            return found
        near = difflib.get_close_matches(str(node), self._places, 1, 0.6) if self.num_nodes <= _MOST_NEAR else []
        hint = f"did you mean {near[0]!r}?" if near else f"ids are such as {', '.join(map(str, self.ids[:3]))}"
        raise ValueError(f"there is no node {str(node)!r}: {hint}")

    def counts(self) -> dict[str, int]:
        """How many nodes each class has."""
        found = Counter(each for each in (() if self.labels is None else self.labels) if each is not None)
        return {name: found[name] for name in self.classes}

    def __repr__(self) -> str:
        kinds = Counter(column.kind for column in self.columns.values())
        parts = [f"{self.num_nodes:,} nodes", f"{self.num_edges:,} {'directed ' * self.directed}edges"]
        parts += ["weighted"] * (self.edge_weight is not None)
        parts += [f"{count} {kind}" for kind, count in kinds.items()]
        parts += [] if self.matrix is None else [f"{self.matrix.shape[1]:,} features"]
        if self.labels is not None:
            known = sum(each is not None for each in self.labels)
            what = f"labels of {len(self.classes)} classes" if self.classes else "numbers to predict"
            parts.append(f"{known:,} {what} in {self.label!r}")
        return f"Graph({', '.join(parts)})"


def as_ids(texts: list[str]) -> np.ndarray:
    """Ids as whole numbers, where all are and each is written as Python writes it, else as texts."""
    plain = np.array(texts, dtype=object)
    try:
        numbers = plain.astype(np.int64)
    except (ValueError, OverflowError):
        return plain
    return numbers if numbers.astype(str).tolist() == texts else plain
