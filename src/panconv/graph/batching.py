"""Many graphs as one: prepared graphs joined block by block, by concatenation alone, and taken apart again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_integer, kind_of, shown
from panconv.graph.blocks import Blocks
from panconv.graph.csr import CSR, narrow
from panconv.graph.degrees import Facts
from panconv.graph.travelling import Travelling

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

S = TypeVar("S")


class Pieces(NamedTuple):
    """What a joined graph remembers of those it was joined from, a row for each."""

    sizes: np.ndarray  # (P, 3): nodes, entries, edges of the edge_index where it is remembered
    facts: np.ndarray  # (P, 8) float64: `Facts` without the magnitude, whether symmetric, whether weighted


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
        if graph.device != graphs[0].device:
            raise ValueError(
                f"graphs must be on one device, got {graphs[0].device} and, at {i}, {graph.device}: move them with .to"
            )
    if not graphs:
        raise ValueError("graphs must hold at least one Adjacency, got none: leave out empty batches")
    with torch.inference_mode(False):
        return _Joining(np.array([graph.num_nodes for graph in graphs]), graphs[0].device).join(graphs)


class _Joining:
    """The concatenations, each taken once: bases share tensors, and so they do when joined."""

    def __init__(self, nodes: np.ndarray, device: torch.device) -> None:
        self.nodes, self.device = nodes, device
        self.first = np.concatenate([[0], nodes.cumsum()])  # node of each, and how many there are
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
        entries, symmetric = pieces.sizes[:, 1], pieces.facts[:, 6]
        transposed = None
        if not symmetric.all():
            crow_t, col_t, perm = zip(*(graph.by_column() for graph in graphs), strict=True)
            transposed = (*self.pattern(crow_t, col_t, entries), self.shifted(perm, entries, entries))
        made = type(graphs[0])(
            *self.pattern([graph.crow for graph in graphs], [graph.col for graph in graphs], entries),
            self.filled([graph.value for graph in graphs], entries),
            transposed=transposed,
            sides=(
                self.filled([graph.left for graph in graphs], self.nodes),
                self.filled([graph.right for graph in graphs], self.nodes),
            ),
            entry_of_edge=self.edges(graphs, entries),
            facts=self.facts(graphs, pieces),
        )
        made.pieces = pieces
        made.is_undirected = bool(pieces.facts[:, 5].all())
        made.blocks = (self.blocks(made.crow), None if transposed is None else self.blocks(transposed[0]))
        made.note_blocks()
        for key in graphs[0].prepared_parts() if not made.is_tracked else ():
            parts = [graph._cache[key] for graph in graphs if key in graph._cache]
            if len(parts) == len(graphs) and (joined := self.joined(made, key, parts)) is not None:
                made._cache[key] = joined
        return made

    def joined(self, made: Adjacency, key: Any, parts: list[Any]) -> Any:
        if isinstance(parts[0], Travelling):
            return self.join(parts)
        if not isinstance(key, torch.dtype):
            return parts[0].join(parts[1:])
        first = CSR(made.crow, made.col, torch.cat([a.value for a, _ in parts]))
        if made._transposed is None:
            return first, first
        return first, CSR(*made._transposed[:2], torch.cat([a_t.value for _, a_t in parts]))

    def pattern(self, crow: Sequence[Tensor], col: Sequence[Tensor], entries: np.ndarray) -> tuple[Tensor, Tensor]:
        """Row pointers and columns; every crow but the first loses its 0, where the one before it ends."""

        def make() -> tuple[Tensor, Tensor]:
            inner = np.ones(self.first[-1] + len(crow), dtype=bool)
            inner[(self.first[:-1] + np.arange(len(crow)))[1:]] = False
            rows = self.shifted(crow, entries, self.nodes + 1)[torch.from_numpy(inner).to(self.device)]
            bound = int(max(self.first[-1], entries.sum()))
            return narrow(rows, bound), narrow(self.shifted(col, self.nodes, entries), bound)

        return self.once("pattern", [*crow, *col], make)

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
        joined = self.shifted(parts, entries, np.array([part.numel() for part in parts]))
        return narrow(joined, int(entries.sum()))

    def facts(self, graphs: Sequence[Adjacency], pieces: Pieces) -> Facts:
        growth, decay, signed, positive, loops = pieces.facts[:, :5].T
        magnitude = None
        if signed.any() and any(graph._magnitude is not None for graph in graphs):
            sizes = [graph._magnitude if graph._magnitude is not None else graph.value for graph in graphs]
            given = [None if size is None else size.detach().abs() for size in sizes]
            magnitude = self.filled(given, pieces.sizes[:, 1])
        return Facts(
            float(growth.max()),
            float(decay.min()),
            bool(signed.any()),
            bool(positive.all()),
            int(loops.sum()),
            magnitude,
        )

    def blocks(self, crow: Tensor) -> Blocks | None:
        """The parts as the kernels take them: a graph without nodes is none."""
        if not self.first[-1] or self.device.type != "cpu":  # a look would make a GPU wait
            return None
        start = torch.from_numpy(np.unique(self.first)).to(crow.dtype)
        return Blocks(start, int(self.nodes.max()), int(crow.diff().max()))


def _pieces(graphs: Sequence[Adjacency]) -> Pieces:
    sizes = [
        (graph.num_nodes, graph.num_edges, 0 if graph._entry_of_edge is None else graph._entry_of_edge.numel())
        for graph in graphs
    ]
    facts = [
        (
            *(graph.growth, graph.decay, graph.is_signed, graph.is_positive, graph.num_self_loops),
            *(graph.is_undirected, graph.is_symmetric, graph.value is not None),
        )
        for graph in graphs
    ]
    return Pieces(np.array(sizes, dtype=np.int64), np.array(facts, dtype=np.float64))


def piece_of(joined: Adjacency, index: int) -> Adjacency:
    """The graph of a number among those that were joined, with what is prepared of it."""
    if joined.pieces is None:
        raise TypeError("this graph was not joined from others: only what block_diagonal or a Batch made has an [i]")
    P, i = len(joined.pieces.sizes), as_integer(index)
    if i is None or not -P <= i < P:
        raise IndexError(f"the index of a graph must be an integer from {-P} to {P - 1}, got {shown(index)}")
    return _Cutting(i % P).cut(joined)


class _Cutting:
    """The slices that belong to one of the graphs, each taken once."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.made: dict[int, Any] = {}

    def cut(self, joined: Adjacency) -> Adjacency:
        if id(joined) in self.made:
            return self.made[id(joined)]
        assert joined.pieces is not None
        i, (sizes, facts) = self.index, joined.pieces
        (n0, e0, g0), (n1, e1, g1) = sizes[:i].sum(0).tolist(), sizes[: i + 1].sum(0).tolist()
        growth, decay, signed, positive, loops, is_undirected, symmetric, weighted = facts[i].tolist()
        transposed = None
        if not symmetric:
            crow_t, col_t, perm = joined.by_column()
            transposed = (
                self.part(crow_t, n0, n1 + 1, e0),
                self.part(col_t, e0, e1, n0),
                self.part(perm, e0, e1, e0),
            )
        value, magnitude, edges = joined.value, joined._magnitude, joined._entry_of_edge
        made = type(joined)(
            self.part(joined.crow, n0, n1 + 1, e0),
            self.part(joined.col, e0, e1, n0),
            None if value is None or not weighted else self.part(value, e0, e1),
            transposed=transposed,
            sides=tuple(None if side is None else self.part(side, n0, n1) for side in (joined.left, joined.right)),  # type: ignore[arg-type]
            entry_of_edge=None if edges is None else self.part(edges, g0, g1, e0),
            facts=Facts(
                *(growth, decay, bool(signed), bool(positive), int(loops)),
                None if magnitude is None or not signed else self.part(magnitude, e0, e1),
                bool(is_undirected),
            ),
        )
        for key, kept in joined.prepared_parts().items():
            if not isinstance(kept, Travelling):
                made._cache[key] = (
                    self.operands(made, kept, e0, e1) if isinstance(key, torch.dtype) else kept.part(n0, n1)
                )
            elif kept.pieces is not None:  # type: ignore[attr-defined]  # computed before they were joined
                made._cache[key] = self.cut(kept)  # type: ignore[arg-type]
        self.made[id(joined)] = made
        return made

    def operands(self, made: Adjacency, kept: tuple[CSR, CSR], begin: int, end: int) -> tuple[CSR, CSR]:
        a = CSR(made.crow, made.col, self.part(kept[0].value, begin, end))
        if made._transposed is None:
            return a, a
        return a, CSR(*made._transposed[:2], self.part(kept[1].value, begin, end))

    def part(self, tensor: Tensor, begin: int, end: int, less: int = 0) -> Tensor:
        """A slice, in numbers of its own."""
        if id(tensor) not in self.made:
            self.made[id(tensor)] = tensor[begin:end] - less if less else tensor[begin:end]
        return self.made[id(tensor)]
