"""`Features`: the columns of a graph as one matrix, learned from some nodes and applied to any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from panconv.base.files import replacing
from panconv.data.columns import CATEGORY, DATE, NUMBER, TEXT, UNUSED, Column
from panconv.data.encoders import Categories, Counts, Numbers, Words, date_parts
from panconv.data.graph import Graph
from panconv.data.positions import COLUMNS, positions
from panconv.data.structure import structural
from panconv.data.tables import number_in

_FORMAT, _VERSION = "panconv features", 1
_MOSTLY_ZERO = 0.5
_KINDS: dict[str, Any] = {"numbers": Numbers, "counts": Counts, "categories": Categories, "words": Words}
_DATE = ("", ", sin of the season", ", cos of the season")


@dataclass(frozen=True)
class Block:
    """Some columns that one transformer takes together.

    Args:
        source: where their values are: "columns", "dates", "matrix", "structure" or "positions".
        columns: their names; of a matrix none.
        learned: what the transformer has learned of them.
    """

    source: str
    columns: list[str]
    learned: Any

    @property
    def names(self) -> list[str]:
        """Of the columns that come out."""
        if isinstance(self.learned, (Categories, Words)):
            return self.learned.names(self.columns[0])
        if self.source == "dates":
            return self.learned.names([f"{name}{part}" for part in _DATE for name in self.columns])
        plain = self.columns or [f"x{place}" for place in range(len(self.learned.scales))]
        return self.learned.names(plain)

    def values(self, graph: Graph) -> Any:
        """The values of a graph's nodes, (N, k), or (N,) of texts."""
        if self.source == "matrix":
            if graph.matrix is None or graph.matrix.shape[1] != len(self.learned.scales):
                width = "none" if graph.matrix is None else graph.matrix.shape[1]
                raise ValueError(f"the graph must have {len(self.learned.scales)} features in a matrix, got {width}")
            return graph.matrix
        if self.source == "structure":
            found = structural(graph)
            return _stacked([found[name] for name in self.columns])
        if self.source == "positions":
            return positions(graph)
        if isinstance(self.learned, (Categories, Words)):
            return _texts(_column(graph, self.columns[0]))
        numbers = [_numbers(_column(graph, name)) for name in self.columns]
        if self.source == "dates":
            return np.concatenate([*np.stack([date_parts(each) for each in numbers]).transpose(2, 1, 0)], 1)
        return _stacked(numbers)


@dataclass(frozen=True)
class Features:
    """What is known of the columns of a graph, learned from some of its nodes.

    >>> from panconv import read
    >>> graph = read([("a", "b"), ("b", "c")])
    >>> features = Features.fit(graph)
    >>> features.transform(graph).shape
    (3, 71)
    """

    blocks: tuple[Block, ...]
    unused: tuple[tuple[str, str], ...] = ()  # columns, and why they are not used

    @classmethod
    def fit(cls, graph: Graph, nodes: Any = None) -> Features:
        """Learns from the nodes given, numbers or a mask of them, and looks at no others; None for all."""
        rows = np.arange(graph.num_nodes)[slice(None) if nodes is None else nodes]
        if not rows.size:
            raise ValueError("nodes must be some of the graph's, got none: there is nothing to learn from")
        blocks = tuple(_learned(graph, rows))
        if not any(block.names for block in blocks):
            blocks = tuple(_of_edges(graph, rows))
        return cls(blocks, tuple((name, each.why) for name, each in graph.columns.items() if each.kind == UNUSED))

    @property
    def names(self) -> list[str]:
        """(F,), of the columns of the matrix."""
        return [name for block in self.blocks for name in block.names]

    @property
    def of_edges(self) -> bool:
        """Whether they are made of the edges, since no column tells anything of the nodes."""
        return all(block.source in ("structure", "positions") for block in self.blocks)

    def transform(self, graph: Graph) -> Any:
        """(N, F) float32: dense, or CSR where most of it is 0."""
        parts = []
        for block in self.blocks:
            values = block.values(graph)
            if isinstance(block.learned, Counts):
                values = sp.csr_matrix(np.nan_to_num(values) if not sp.issparse(values) else values)
            parts.append(block.learned.transform(values))
        whole = sp.hstack([sp.csr_matrix(part) for part in parts], format="csr").astype(np.float32)
        return whole if whole.nnz < whole.shape[0] * whole.shape[1] / 4 else whole.toarray()

    def rows(self) -> list[tuple[str, str, int]]:
        """What each column became: its name, in words, and how many columns."""
        found = [row for block in self.blocks for row in _rows(block)]
        return [*found, *((name, f"not used: {why}", 0) for name, why in self.unused)]

    def __str__(self) -> str:
        lines = self.rows()
        wide = max(len(name) for name, _, _ in lines)
        return "\n".join(f"{name:<{wide}}  {count:>5}  {what}" for name, what, count in lines)

    def save(self, path: Path) -> None:
        """Writes them as JSON."""
        kinds = {kind: name for name, kind in _KINDS.items()}
        blocks = [
            {"source": b.source, "columns": b.columns, "kind": kinds[type(b.learned)], "learned": asdict(b.learned)}
            for b in self.blocks
        ]
        content = {"format": _FORMAT, "version": _VERSION, "blocks": blocks, "unused": self.unused}
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(content, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Features:
        """Reads what `save` wrote."""
        try:
            content = json.loads(path.read_text())
            if (content["format"], content["version"]) != (_FORMAT, _VERSION):
                raise ValueError(f"it is of another format, version {content['version']}")
            blocks = [Block(b["source"], b["columns"], _checked(_KINDS[b["kind"]](**b["learned"])))
                      for b in content["blocks"]]  # fmt: skip
            return cls(tuple(blocks), tuple((name, why) for name, why in content["unused"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = " ".join(str(error).split())[:120]
            raise ValueError(f"{path} holds no features that panconv wrote ({what}): write them anew") from None


def _checked(learned: Any) -> Any:
    """What was learned, if each part of it is a list of texts or of numbers."""
    for name, values in vars(learned).items():
        kinds = (str,) if name in ("categories", "words") else (int, float)
        if not isinstance(values, list) or not all(isinstance(each, kinds) for each in values):
            raise ValueError(f"{name} is damaged")
    lengths = {len(values) for name, values in vars(learned).items() if name != "gaps"}
    if len(lengths) != 1:
        raise ValueError("its lists differ in length")
    return learned


# ---------------------------------------------------------------------- learning


def _learned(graph: Graph, rows: np.ndarray) -> Iterator[Block]:
    """A block for all numbers, one for all that are mostly 0, one for all dates, and one per column of texts."""
    of = {kind: [c for c in graph.columns.values() if c.kind == kind] for kind in (NUMBER, DATE, CATEGORY, TEXT)}
    counts: list[Column] = []
    numbers: list[Column] = []
    for each in of[NUMBER]:
        (counts if _is_count(each.values[rows]) else numbers).append(each)
    if numbers:
        yield _block("columns", numbers, Numbers.fit(_stacked([each.values[rows] for each in numbers])))
    if counts:
        found = sp.csr_matrix(np.nan_to_num(_stacked([each.values[rows] for each in counts])))
        yield _block("columns", counts, Counts.fit(found))
    if of[DATE]:
        block = _block("dates", of[DATE], None)
        yield _block("dates", of[DATE], Numbers.fit(block.values(graph)[rows]))
    for each in of[CATEGORY]:
        yield _block("columns", [each], Categories.fit(each.values[rows]))
    for each in of[TEXT]:
        yield _block("columns", [each], Words.fit(each.values[rows]))
    if graph.matrix is not None and graph.matrix.shape[1]:
        values = graph.matrix[rows]
        if sp.issparse(values) or _is_count(values):
            yield Block("matrix", [], Counts.fit(sp.csr_matrix(values)))
        else:
            yield Block("matrix", [], Numbers.fit(values))


def _of_edges(graph: Graph, rows: np.ndarray) -> Iterator[Block]:
    """What the edges tell of the nodes, where nothing else does."""
    values = structural(graph)
    yield Block("structure", [*values], Numbers.fit(_stacked([*values.values()])[rows]))
    yield Block("positions", [f"position {j}" for j in range(COLUMNS)], Numbers.fit(positions(graph)[rows]))


def _is_count(values: np.ndarray) -> bool:
    """Whether numbers are mostly 0, and never negative: centred, they would fill the memory and say no more."""
    return bool((values == 0).mean() >= _MOSTLY_ZERO and np.nanmin(values, initial=0) >= 0)


def _block(source: str, columns: list[Column], learned: Any) -> Block:
    return Block(source, [each.name for each in columns], learned)


def _column(graph: Graph, name: str) -> np.ndarray:
    """A column's values; one that this graph does not have, or has no use for, is missing everywhere."""
    found = graph.columns.get(name)
    if found is None:
        raise ValueError(f"the graph has no column {name!r}, which the features were learned from: add it")
    return found.values if len(found.values) else np.full(graph.num_nodes, np.nan)


def _texts(values: np.ndarray) -> np.ndarray:
    """Texts, None where there is none: in another graph the same column may look like one of numbers."""
    if values.dtype == object:
        return values
    return np.array([None if each != each else f"{each:g}" for each in values.tolist()], dtype=object)


def _numbers(values: np.ndarray) -> np.ndarray:
    """Numbers, NaN where there is none: in another graph the same column may look like one of texts."""
    if values.dtype != object:
        return values
    return np.array([np.nan if each is None else number_in(each) for each in values.tolist()])


def _stacked(columns: list[np.ndarray]) -> np.ndarray:
    return np.stack(columns, 1).astype(np.float64)


def _rows(block: Block) -> Iterator[tuple[str, str, int]]:
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
        each = len(_DATE) if block.source == "dates" else 1
        gaps = getattr(learned, "gaps", [])
        for place, column in enumerate(block.columns):
            missing = place in gaps
            yield column, f"{kind}, {how}{', gaps by the median and told' * missing}", each + each * missing
