"""`Features`: the columns of a graph as one matrix, learned from some nodes and applied to any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from panconv.base.checks import as_integer, shown
from panconv.base.files import replacing
from panconv.data.columns import CATEGORY, DATE, NUMBER, TEXT, UNUSED, Column
from panconv.data.encoders import Categories, Counts, Numbers, Words
from panconv.data.feature_block import Block, described, stacked
from panconv.data.graph import Graph
from panconv.data.learned_blocks import KINDS, checked_learned, checked_notations
from panconv.data.positions import COLUMNS, positions
from panconv.data.structure import structural

_FORMAT, _VERSION = "panconv features", 1
_MOSTLY_ZERO = 0.5
_ROWS = 2**15  # whose features are made at a time
_FEW = 5  # names in a message


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

    def transform(self, graph: Graph, nodes: Any = None) -> Any:
        """(N, F) float32: dense, or CSR where most of it is 0. Made some nodes at a time.

        Args:
            graph: any that has the columns which were learned from; others that it has are not looked at.
            nodes: the numbers of those whose features are wanted, in any order; None for all.
        """
        self._check(graph)
        rows = np.arange(graph.num_nodes) if nodes is None else np.asarray(nodes)
        of_edges = {place: each.values(graph) for place, each in enumerate(self.blocks) if each.of_edges}
        chunks = [self._chunk(graph, rows[start : start + _ROWS], of_edges) for start in range(0, len(rows), _ROWS)]
        if sum(_stored(each) for each in chunks) < len(rows) * len(self.names) / 4:
            return sp.vstack([sp.csr_matrix((0, len(self.names)), dtype=np.float32), *chunks], format="csr")
        whole = np.empty((len(rows), len(self.names)), np.float32)
        for place, each in enumerate(chunks):
            whole[place * _ROWS : (place + 1) * _ROWS] = each.toarray() if sp.issparse(each) else each
        return whole

    def _chunk(self, graph: Graph, rows: np.ndarray, of_edges: dict[int, np.ndarray]) -> Any:
        """(n, F) of some nodes, float32, dense or CSR, whichever is less."""
        parts = []
        for place, block in enumerate(self.blocks):
            values = of_edges[place][rows] if place in of_edges else block.values(graph, rows)
            if isinstance(block.learned, Counts):
                values = sp.csr_matrix(np.nan_to_num(values) if not sp.issparse(values) else values)
            parts.append(sp.csr_matrix(block.learned.transform(values), dtype=np.float32))
        whole = sp.hstack(parts, format="csr")
        return whole if whole.nnz < whole.shape[0] * whole.shape[1] / 4 else whole.toarray()

    def _check(self, graph: Graph) -> None:
        """Refuses a graph without what was learned from."""
        wanted = [name for each in self.blocks if each.source in ("columns", "dates") for name in each.columns]
        if missing := [name for name in wanted if name not in graph.columns]:
            few = ", ".join(map(repr, missing[:_FEW])) + (f" and {len(missing) - _FEW} more" * (len(missing) > _FEW))
            raise ValueError(
                f"the graph has no column {few}, which the features were learned from: add it, if only with empty cells"
            )
        for each in self.blocks:
            each.check(graph)

    def rows(self) -> list[tuple[str, str, int]]:
        """What each column became: its name, in words, and how many columns."""
        found = [row for block in self.blocks for row in described(block)]
        return [*found, *((name, f"not used: {why}", 0) for name, why in self.unused)]

    def __str__(self) -> str:
        lines = self.rows()
        wide = max(len(name) for name, _, _ in lines)
        return "\n".join(f"{name:<{wide}}  {count:>5}  {what}" for name, what, count in lines)

    def plain(self) -> dict[str, Any]:
        """All of it as what JSON can say."""
        kinds = {kind: name for name, kind in KINDS.items()}
        blocks = [
            {"source": b.source, "columns": b.columns, "kind": kinds[type(b.learned)], "learned": asdict(b.learned)}
            | ({"notations": b.notations} if b.source == "dates" else {})
            for b in self.blocks
        ]
        return {"format": _FORMAT, "version": _VERSION, "blocks": blocks, "unused": self.unused}

    @classmethod
    def of_plain(cls, content: Any) -> Features:
        """From what `plain` gave; what has not its form is a ValueError, KeyError or TypeError."""
        if (content["format"], as_integer(content["version"])) != (_FORMAT, _VERSION):
            raise ValueError(f"it is of another format, version {shown(content['version'])}")
        blocks = tuple(map(_block_of, content["blocks"]))
        unused = tuple((name, why) for name, why in content["unused"])
        if not all(isinstance(each, str) for pair in unused for each in pair):
            raise TypeError("unused is damaged: it must be pairs of texts")
        return cls(blocks, unused)

    def save(self, path: Path) -> None:
        """Writes them as JSON."""
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(self.plain(), allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Features:
        """Reads what `save` wrote."""
        try:
            return cls.of_plain(json.loads(path.read_text()))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = " ".join(str(error).split())[:120]
            raise ValueError(f"{path} holds no features that panconv wrote ({what}): write them anew") from None


# ---------------------------------------------------------------------- learning


def _learned(graph: Graph, rows: np.ndarray) -> Iterator[Block]:
    """A block for all numbers, one for all that are mostly 0, one for all dates, and one per column of texts."""
    of = {kind: [c for c in graph.columns.values() if c.kind == kind] for kind in (NUMBER, DATE, CATEGORY, TEXT)}
    counts: list[Column] = []
    numbers: list[Column] = []
    for each in of[NUMBER]:
        (counts if _is_count(each.values[rows]) else numbers).append(each)
    if numbers:
        yield _block("columns", numbers, Numbers.fit(stacked([each.values[rows] for each in numbers])))
    if counts:
        found = sp.csr_matrix(np.nan_to_num(stacked([each.values[rows] for each in counts])))
        yield _block("columns", counts, Counts.fit(found))
    if of[DATE]:
        block = replace(_block("dates", of[DATE], None), notations=[each.notation for each in of[DATE]])
        yield replace(block, learned=Numbers.fit(block.values(graph)[rows]))
    for each in of[CATEGORY]:
        yield _block("columns", [each], Categories.fit(each.values[rows]))
    for each in of[TEXT]:
        yield _block("columns", [each], Words.fit(each.values[rows]))
    if graph.matrix is not None and graph.matrix.shape[1]:
        yield _of_matrix(graph.matrix[rows])


def _of_matrix(values: Any) -> Block:
    """A block for the features that came as a matrix."""
    counted = sp.issparse(values) or _is_count(values)
    return Block("matrix", [], Counts.fit(sp.csr_matrix(values)) if counted else Numbers.fit(values))


def _of_edges(graph: Graph, rows: np.ndarray) -> Iterator[Block]:
    """What the edges tell of the nodes, where nothing else does."""
    values = structural(graph)
    yield Block("structure", [*values], Numbers.fit(stacked([*values.values()])[rows]))
    yield Block("positions", [f"position {j}" for j in range(COLUMNS)], Numbers.fit(positions(graph)[rows]))


def _is_count(values: np.ndarray) -> bool:
    """Whether numbers are mostly 0, and never negative: centred, they would fill the memory and say no more."""
    return bool((values == 0).mean() >= _MOSTLY_ZERO and np.nanmin(values, initial=0) >= 0)


def _block_of(said: Any) -> Block:
    """A block from a file, checked."""
    source, columns = said["source"], said["columns"]
    learned = checked_learned(source, columns, said["kind"], said["learned"])
    return Block(source, columns, learned, checked_notations(source, columns, said.get("notations")))


def _block(source: str, columns: list[Column], learned: Any) -> Block:
    return Block(source, [each.name for each in columns], learned)


def _stored(chunk: Any) -> int:
    return int(chunk.nnz if sp.issparse(chunk) else np.count_nonzero(chunk))
