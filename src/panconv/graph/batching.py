"""Many graphs as one: prepared graphs joined block by block, by concatenation alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import kind_of
from panconv.base.tracing import lasting
from panconv.graph.blocks import Blocks
from panconv.graph.csr import CSR, narrow
from panconv.graph.degrees import Facts
from panconv.graph.pattern import Pattern
from panconv.graph.pieces import Pieces, starts
from panconv.graph.repeated import Reading
from panconv.graph.travelling import Travelling

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

S = TypeVar("S")
_TRANSPOSED = "transposed"


def block_diagonal(graphs: Iterable[Adjacency]) -> Adjacency:
    """Graphs side by side as one, as PyG's `Batch` numbers their nodes; ``joined[i]`` gives the i-th back.

    Nothing is sorted or checked again. Bases and operands that all of the graphs have are joined as well. Where some
    graphs are weighted, the edges of the others weigh 1.

    >>> path = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
    >>> joined = block_diagonal([path, path, path])
    >>> joined, joined[1]
    (Adjacency(num_nodes=6, num_edges=6, symmetric), Adjacency(num_nodes=2, num_edges=2, symmetric))
    """
    graphs = list(graphs)
    for i, graph in enumerate(graphs):
        if not isinstance(graph, Travelling):
            raise TypeError(f"graphs must hold nothing but Adjacency, got {kind_of(graph)} at {i}: use Adjacency.of")
        if not graph.joins:
            raise TypeError(f"graphs must be whole, got {kind_of(graph)} at {i}: ask its loader for all seeds at once")
        if graph.device != graphs[0].device:
            raise ValueError(
                f"graphs must be on one device, got {graphs[0].device} and, at {i}, {graph.device}: move them with .to"
            )
    if not graphs:
        raise ValueError("graphs must hold at least one Adjacency, got none: leave out empty batches")
    with lasting():
        return _Joining(np.array([graph.num_nodes for graph in graphs]), graphs[0].device).join(graphs)


class _Joining:
    """The concatenations, each taken once: bases share tensors, and so they do when joined."""

    def __init__(self, nodes: np.ndarray, device: torch.device) -> None:
        self.nodes, self.device = nodes, device
        self.first = starts(nodes)  # node of each, and how many there are
        self.made: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def once(self, kind: str, parts: Sequence[Any], make: Callable[[], S]) -> S:
        """What is made of the very same parts only once. They are held, so that no others take their identity."""
        name = (kind, *map(id, parts))
        if name not in self.made:
            self.made[name] = parts, make()
        return self.made[name][1]

    def join(self, graphs: Sequence[Adjacency]) -> Adjacency:
        """The graphs, or the same base of each of them."""
        return self.once("graphs", graphs, lambda: self._join(graphs))

    def _join(self, graphs: Sequence[Adjacency]) -> Adjacency:
        pieces = _pieces(graphs)
        entries = pieces.sizes[:, 1]
        made = type(graphs[0])(
            self.pattern([graph.pattern for graph in graphs], pieces),
            self.filled([graph.value for graph in graphs], entries),
            mirrored=pieces.is_mirrored,
            sides=(
                self.filled([graph.left for graph in graphs], self.nodes),
                self.filled([graph.right for graph in graphs], self.nodes),
            ),
            entry_of_edge=self.edges(graphs, entries),
            facts=self.facts(graphs, pieces),
        )
        reading = _reading(graphs)
        made.pieces, made.loops, made.repeats = pieces, reading.filled()["loops"], reading.repeats
        made._overruled = self.overruled(graphs, pieces)
        for key in graphs[0].prepared_parts() if not made.is_tracked else ():
            parts = [graph._cache[key] for graph in graphs if key in graph._cache]
            if len(parts) == len(graphs):
                self.put(made, key, parts, graphs)
        return made

    def put(self, made: Adjacency, key: Any, parts: list[Any], graphs: Sequence[Adjacency]) -> None:
        """What all graphs have prepared under a key, joined, among what is prepared of the joined graph."""
        if isinstance(parts[0], Travelling):
            made._cache[key] = self.join(parts)
        elif isinstance(key, torch.dtype):
            made._cache[key] = CSR(made.crow, made.col, torch.cat([a.value for a in parts]))
            if not made.is_symmetric:
                mirrors = [g._cache.get(key if g.is_symmetric else (_TRANSPOSED, key)) for g in graphs]
                values = [a.value for a in mirrors if a is not None]
                if len(values) == len(graphs):
                    crow, col, _ = made.by_column()
                    made._cache[_TRANSPOSED, key] = CSR(crow, col, torch.cat(values))
        elif not isinstance(parts[0], CSR) and (joined := parts[0].join(parts[1:])) is not None:
            made._cache[key] = joined

    def pattern(self, patterns: Sequence[Pattern], pieces: Pieces) -> Pattern:
        return self.once("patterns", patterns, lambda: self._pattern(patterns, pieces))

    def _pattern(self, patterns: Sequence[Pattern], pieces: Pieces) -> Pattern:
        """Rows are not joined: they follow from their pointers as quickly, and would travel along."""
        entries = pieces.sizes[:, 1]
        made = Pattern(
            *self.rows([p.crow for p in patterns], [p.col for p in patterns], entries), **pieces.joined_pattern()
        )
        transposed = [p.known(_TRANSPOSED) for p in patterns]
        if made.known("symmetric") is False and None not in transposed:
            crows, cols, perms = zip(*transposed, strict=True)
            mirror = Pattern(*self.rows(crows, cols, entries))
            made.know_transposed(mirror, self.shifted(perms, entries, entries))
            made.blocks = self.blocks(made), self.blocks(mirror)
        elif made.known("symmetric"):
            made.blocks = self.blocks(made), None
        return made.note_blocks()

    def rows(self, crow: Sequence[Tensor], col: Sequence[Tensor], entries: np.ndarray) -> tuple[Tensor, Tensor]:
        """Row pointers and columns; every crow but the first loses its 0, where the one before it ends."""
        bound, inner = int(max(self.first[-1], entries.sum())), np.ones(self.first[-1] + len(crow), bool)
        inner[(self.first[:-1] + np.arange(len(crow)))[1:]] = False
        kept = torch.from_numpy(inner.nonzero()[0]).to(self.device)
        rows = self.shifted(crow, entries, self.nodes + 1).index_select(0, kept)
        return narrow(rows, bound), narrow(self.shifted(col, self.nodes, entries), bound)

    def shifted(self, parts: Sequence[Tensor], by: np.ndarray, sizes: np.ndarray) -> Tensor:
        """The parts behind each other, each increased by what the ones before it come to, int64."""
        before = torch.from_numpy(np.repeat(by.cumsum() - by, sizes))
        return torch.cat(list(parts)) + before.to(self.device)

    def filled(self, parts: Sequence[Tensor | None], sizes: np.ndarray) -> Tensor | None:
        """The parts behind each other, ones where one is missing, and None where all are."""

        def make() -> Tensor:
            given = (torch.ones(n, device=self.device) if p is None else p for p, n in zip(parts, sizes, strict=True))
            return torch.cat(list(given))

        return None if all(part is None for part in parts) else self.once("filled", parts, make)

    def edges(self, graphs: Sequence[Adjacency], entries: np.ndarray) -> Tensor | None:
        """Where each edge went, if all graphs remember it."""
        parts = [graph._entry_of_edge for graph in graphs if graph._entry_of_edge is not None]
        if len(parts) < len(graphs):
            return None
        return self.shifted(parts, entries, np.array([part.numel() for part in parts]))

    def overruled(self, graphs: Sequence[Adjacency], pieces: Pieces) -> Tensor | None:
        """The edges that do not count, where there are such."""
        if all(graph._overruled is None for graph in graphs):
            return None
        given = zip((graph._overruled for graph in graphs), pieces.sizes[:, 2].tolist(), strict=True)
        return torch.cat([torch.zeros(n, dtype=torch.bool, device=self.device) if o is None else o for o, n in given])

    def facts(self, graphs: Sequence[Adjacency], pieces: Pieces) -> Facts:
        if not pieces.is_signed or all(graph._magnitude is None for graph in graphs):
            return pieces.joined_facts(None)
        sizes = [graph._magnitude if graph._magnitude is not None else graph.value for graph in graphs]
        given = [None if size is None else size.detach().abs() for size in sizes]
        return pieces.joined_facts(self.filled(given, pieces.sizes[:, 1]))

    def blocks(self, pattern: Pattern) -> Blocks | None:
        """The parts as the kernels take them: a graph without nodes is none."""
        if not self.first[-1] or self.device.type != "cpu":  # a look would make a GPU wait
            return None
        dtype = pattern.crow.dtype
        start = self.once("start", [dtype], lambda: torch.from_numpy(np.unique(self.first)).to(dtype))
        return Blocks(start, int(self.nodes.max()), pattern.longest)


def _reading(graphs: Sequence[Adjacency]) -> Reading:
    """How all of the graphs were read."""
    words = []
    for name in Reading._fields:
        found = {word for graph in graphs if (word := getattr(graph, name)) is not None}
        if len(found) > 1:
            raise ValueError(
                f"graphs must be read alike, got {name}={' and '.join(map(repr, sorted(found)))}: make them with one "
                f"{name}="
            )
        words.append(found.pop() if found else None)
    return Reading(*words)


def _pieces(graphs: Sequence[Adjacency]) -> Pieces:
    sizes = [
        (graph.num_nodes, graph.num_edges, 0 if graph._entry_of_edge is None else graph._entry_of_edge.numel())
        for graph in graphs
    ]
    facts = [
        (
            *(None if graph._growth is None else graph.growth, graph.decay, graph.is_signed, graph.is_positive),
            *(graph._undirected, graph._mirrored, graph.value is not None),
        )
        for graph in graphs
    ]
    # A bound on all of them is made of those of each, and so is what is said of their direction.
    bounded, told = any(g._growth is not None for g in graphs), any(g._undirected is not None for g in graphs)
    patterns = [
        (
            p.is_symmetric if told else p.known("symmetric"),
            p.known("loops"),
            p.longest if bounded else p.known("longest"),
        )
        for p in (graph.pattern for graph in graphs)
    ]
    return Pieces(np.array(sizes, np.int64), np.array(facts, np.float64), np.array(patterns, np.float64))
