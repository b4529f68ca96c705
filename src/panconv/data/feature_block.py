"""`Block`: some columns of a graph that one transformer takes together, and where their values are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from panconv.data.encoders import Categories, Counts, Words, date_parts
from panconv.data.graph import Graph
from panconv.data.later import as_learned, check_categories, check_dates, check_numbers
from panconv.data.learned_blocks import DATE_PARTS
from panconv.data.positions import positions
from panconv.data.structure import structural

_DATE = ("", ", sin of the season", ", cos of the season")


@dataclass(frozen=True)
class Block:
    """Some columns that one transformer takes together.

    Args:
        source: where their values are: "columns", "dates", "matrix", "structure" or "positions".
        columns: their names; of a matrix none.
        learned: what the transformer has learned of them.
        notations: of dates, how each column wrote them, as in `Dates`.
    """

    source: str
    columns: list[str]
    learned: Any
    notations: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of the columns that come out."""
        if isinstance(self.learned, (Categories, Words)):
            return self.learned.names(self.columns[0])
        if self.source == "dates":
            return self.learned.names([f"{name}{part}" for part in _DATE for name in self.columns])
        plain = self.columns or [f"x{place}" for place in range(len(self.learned.scales))]
        return self.learned.names(plain)

    @property
    def of_edges(self) -> bool:
        """Whether its values are those of the whole graph, whatever nodes are asked for."""
        return self.source in ("structure", "positions")

    def values(self, graph: Graph, rows: Any = slice(None)) -> Any:
        """The values of some nodes of a graph, (n, k), or (n,) of texts."""
        if self.source == "matrix":
            return graph.matrix[rows]
        if self.source == "structure":
            found = structural(graph)
            if not set(self.columns) <= found.keys():
                raise ValueError("the graph must be directed, as the one was that features were learned from")
            return stacked([found[name] for name in self.columns])[rows]
        if self.source == "positions":
            return positions(graph)[rows]
        N, columns = graph.num_nodes, [graph.columns[name] for name in self.columns]
        if isinstance(self.learned, (Categories, Words)):
            texts = _of(columns[0].as_texts, rows, N)
            if isinstance(self.learned, Words):
                return texts
            return np.array(as_learned(texts.tolist(), self.learned.categories), dtype=object)
        if self.source == "dates":
            pairs = zip(columns, self.notations, strict=True)
            numbers = [_of(each.as_days(notation), rows, N) for each, notation in pairs]
            return np.concatenate([*np.stack([date_parts(each) for each in numbers]).transpose(2, 1, 0)], 1)
        return stacked([_of(each.as_numbers, rows, N) for each in columns])

    def check(self, graph: Graph) -> None:
        """Refuses a graph whose columns say nothing that was learned from, or without such a matrix."""
        for place, name in enumerate(self.columns if self.source in ("columns", "dates") else ()):
            if self.source == "dates":
                check_dates(name, graph.columns[name], self.notations[place])
            elif isinstance(self.learned, Categories):
                check_categories(name, graph.columns[name], self.learned.categories)
            elif not isinstance(self.learned, Words):
                check_numbers(name, graph.columns[name])
        if self.source == "matrix" and (graph.matrix is None or graph.matrix.shape[1] != len(self.learned.scales)):
            width = "none" if graph.matrix is None else graph.matrix.shape[1]
            raise ValueError(f"the graph must have {len(self.learned.scales)} features in a matrix, got {width}")


def _of(values: np.ndarray, rows: Any, N: int) -> np.ndarray:
    """Some nodes' values among those of a table's rows; nodes beyond have none."""
    if len(values) == N:
        return values[rows]
    places = np.arange(N)[rows]
    found = np.full(len(places), None if values.dtype == object else np.nan)
    there = places < len(values)
    found[there] = values[places[there]]
    return found


def stacked(columns: list[np.ndarray]) -> np.ndarray:
    """Columns of numbers side by side, (n, k) float64."""
    return np.stack(columns, 1).astype(np.float64)


def described(block: Block) -> Iterator[tuple[str, str, int]]:
    """What each of its columns became: the name, in words, and how many columns."""
    learned, name = block.learned, block.columns[0] if block.columns else "the matrix of features"
    if isinstance(learned, Categories):
        yield name, f"category: {len(learned.categories)} columns of 0 and 1", len(learned.categories)
    elif isinstance(learned, Words):
        yield name, f"text: TF-IDF of {len(learned.words):,} words", len(learned.words)
    elif block.source == "positions":
        yield "position", "where a node stands among the others, scaled", len(block.columns)
    elif block.source == "matrix":
        what = "divided by the largest" if isinstance(learned, Counts) else "gaps by the median, scaled"
        yield name, f"numbers: {what}", len(block.names)
    else:
        kind = {"dates": "date: days, and the season", "structure": "of the edges"}.get(block.source, "number")
        how = "mostly 0, divided by the largest" if isinstance(learned, Counts) else "scaled"
        each = DATE_PARTS if block.source == "dates" else 1
        for place, column in enumerate(block.columns):
            missing = place in learned.gaps
            yield column, f"{kind}, {how}{', gaps by the median and told' * missing}", each + each * missing
