"""`Adjacency`: a graph as validated, sorted CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from panconv.base.tracing import is_tracked, lasting
from panconv.graph.bases import BASES, found_growth, without_signs
from panconv.graph.csr import CSR, weak_components
from panconv.graph.cutting import piece_of
from panconv.graph.degrees import Facts, checked_facts
from panconv.graph.operands import Operands
from panconv.graph.pattern import Pattern
from panconv.graph.pieces import Pieces
from panconv.graph.reading import Claims, as_tensor, check_entries, checked_edges, checked_weights, entries, sum_weights
from panconv.graph.repeated import AS_USUAL, Reading, check_agreement, checked_reading, read_repeated
from panconv.graph.sorting import look_once, sort_edges

_NOTHING_KNOWN = Facts()


class Adjacency(Operands):
    """A directed or undirected, weighted or unweighted graph, ready for products.

    ``A[i, j]`` is the edge from sender j to receiver i. Repeated edges of an unweighted graph are one edge; weights of
    repeated edges add. Everything is validated here, once, so that no layer has to look again. Immutable; what follows
    from it (its bases, its transpose, its path counts) is computed on first use and kept.

    Make one with `Adjacency.from_edge_index`, `Adjacency.from_sparse`, or `Adjacency.of`, which takes either.

    >>> adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> adj
    Adjacency(num_nodes=3, num_edges=4, symmetric)
    """

    pieces: Pieces | None = None  # of a graph that was joined from others
    loops: str = "add"  # what A+I does where a node has a self-loop, as in `from_edge_index`
    repeats: str | None = None  # what became of repeated unweighted edges; None where there were none
    _overruled: Tensor | None = None  # (E,) the edges given at the start that do not count, for `reweight`

    def __init__(
        self,
        pattern: Pattern,
        value: Tensor | None,  # (nnz,); None stands for ones
        *,
        mirrored: bool = True,  # whether an entry and its mirror, where the pattern has both, are the same
        sides: tuple[Tensor | None, Tensor | None] = (None, None),  # (N,): diag(left) · values · diag(right)
        entry_of_edge: Tensor | None = None,  # (E,) where each edge given at the start went, for `reweight`
        facts: Facts = _NOTHING_KNOWN,
    ) -> None:
        self.pattern, self.value, (self.left, self.right) = pattern, value, sides
        self.crow, self.col, self._mirrored = pattern.crow, pattern.col, mirrored
        self.num_nodes = self.crow.numel() - 1
        self._growth, self.decay, self.is_signed, self.is_positive, self._magnitude, self._undirected = facts
        self._entry_of_edge = entry_of_edge
        self._cache: dict[Any, Any] = {}
        # Whether a derivative may be asked for in the values, by reverse mode, forward mode or a transform.
        self.is_tracked = value is not None and not torch.compiler.is_compiling() and is_tracked(value)

    # ------------------------------------------------------------------ making one

    @staticmethod
    def of(
        source: Any,
        edge_weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> Adjacency:
        """From anything that is a graph: an `Adjacency`, which keeps its loops, an ``edge_index``, a sparse matrix."""
        adj = Adjacency._of(source, edge_weight, num_nodes, checked_reading(loops, repeats))
        return adj if adj is source else adj.settle()

    @staticmethod
    def _of(source: Any, edge_weight: Tensor | None, num_nodes: int | None, reading: Reading = AS_USUAL) -> Adjacency:
        """As `of`; what has not been asked for yet is not found."""
        if isinstance(source, (Tensor, np.ndarray)) and getattr(source, "layout", torch.strided) == torch.strided:
            return Adjacency._read(source, edge_weight, num_nodes, Claims.of(source), reading)
        if edge_weight is not None:
            raise ValueError(
                f"edge_weight goes with an edge_index, but the graph is a {type(source).__name__}, "
                "which holds its own weights"
            )
        adj = source if isinstance(source, Adjacency) else Adjacency._read_sparse(source, reading)
        check_agreement(adj, reading)
        if num_nodes is not None and adj.num_nodes != num_nodes:
            raise ValueError(f"the graph has {adj.num_nodes} nodes, but x has {num_nodes} rows: it needs one per node")
        return adj

    @staticmethod
    def from_edge_index(
        edge_index: Tensor | np.ndarray,
        edge_weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        loops: str = "add",
        repeats: str = "one",
        validate: bool = True,
        is_undirected: bool | None = None,
        is_sorted: bool | str | None = None,
    ) -> Adjacency:
        """From PyG's ``edge_index`` (2, E) of (source, target), with weights (E,) or none.

        ``num_nodes`` left out is the largest node named plus one. Gradients reach ``edge_weight``.

        Args:
            loops: "add" lets A+I add 1 to every self-loop; "remaining", as PyG's layers have it, only where a node has
                none (of several, the last counts).
            repeats: "one" makes one edge of those that are named several times without a weight; "sum", as PyG's layers
                have it, lets it weigh as often as it is named.
            validate: False leaves weights unchecked, which must be finite. This and the rest is for those who know
                their graph, and is believed, as what PyG's `EdgeIndex` says of itself: a wrong claim gives wrong
                results. Node numbers are always checked.
            is_undirected: whether the mirror of each edge is there; None to find out when it matters.
            is_sorted: True where each edge is there once, by source and then target, as PyG's `coalesce` leaves them;
                ``"col"`` where by target and then source. None and False find out.
        """
        claims, reading = Claims.of(edge_index, validate, is_undirected, is_sorted), checked_reading(loops, repeats)
        return Adjacency._read(edge_index, edge_weight, num_nodes, claims, reading).settle()

    @staticmethod
    def _read(
        edges: Any, edge_weight: Tensor | None, num_nodes: int | None, claims: Claims, reading: Reading = AS_USUAL
    ) -> Adjacency:
        """As `from_edge_index`; what has not been asked for yet is not found."""
        edges, num_nodes = as_tensor(edges, num_nodes)
        with lasting():  # what is prepared at inference must serve training later
            found, weighted = look_once(edges, num_nodes), edge_weight is not None or reading.repeats == "sum"
            if found is None:
                edges, N = checked_edges(edges, num_nodes)
                found = sort_edges(edges, N, weighted, claims.undirected, claims.order)
            adj = Adjacency(found.pattern, None, facts=Facts(growth=None, decay=1.0))
            weight = read_repeated(adj, edges, edge_weight, reading)
            if weight is None:
                return adj
            entry = torch.arange(len(weight), device=edges.device) if found.entry is None else found.entry
            adj._entry_of_edge = entry
            return adj.reweight(weight, claims.validate)

    @staticmethod
    def from_sparse(matrix: Any, *, loops: str = "add") -> Adjacency:
        """From a torch sparse, SciPy sparse or torch_sparse matrix (N, N), read as A[receiver, sender]."""
        return Adjacency._read_sparse(matrix, checked_reading(loops, None)).settle()

    @staticmethod
    def _read_sparse(matrix: Any, reading: Reading) -> Adjacency:
        """As `from_sparse`; of a matrix all entries add, those of loops too."""
        adj = Adjacency._read(*entries(matrix), Claims())
        adj.loops = reading.filled()["loops"]
        return adj

    def reweight(self, edge_weight: Tensor, validate: bool = True) -> Adjacency:
        """The same edges with other weights, in the order of the ``edge_index`` it was made from.

        With ``validate=False`` they are not checked, and must be finite.
        """
        if self._entry_of_edge is None:
            raise ValueError("this graph was made without edge weights: make it again with edge_weight=…")
        weight = checked_weights(edge_weight, self._entry_of_edge.numel(), validate).to(self.col.device)
        weight = weight if self._overruled is None else weight.masked_fill(self._overruled, 0)
        with lasting():
            return self.with_values(sum_weights(weight, self._entry_of_edge, self.num_edges))

    def with_values(self, value: Tensor | None) -> Adjacency:
        """These entries with other values, (nnz,) in the order of `row` and `col`; None stands for ones."""
        check_entries(value, self.num_edges)
        facts, mirrored = Facts(growth=None if value is None else 0.0, decay=1.0), True
        if value is not None:  # what is kept is ours; and what comes back along several ways is added, then rounded
            value = value.double() if is_tracked(value) else value.clone()
        if value is not None and self.num_edges:
            # A weight that is trained moves off the diagonal mirror: its gradient needs the true transpose.
            mirrored = not is_tracked(value) and self.pattern.is_symmetric
            value, mirrored = self.pattern.mirrored(value) if mirrored else (value, False)
            facts = checked_facts(value.detach(), self.row, self.num_nodes)
        made = Adjacency(self.pattern, value, mirrored=mirrored, entry_of_edge=self._entry_of_edge, facts=facts)
        made.loops, made.repeats, made._overruled = self.loops, self.repeats, self._overruled
        return made

    def settle(self) -> Adjacency:
        """This graph, with all found that has to be looked at from the host, which torch.compile cannot do."""
        self.pattern.settle()
        for kept in [self, *self._cache.values()]:
            _ = kept.growth if isinstance(kept, Adjacency) else None
        return self

    # ------------------------------------------------------------------ looking at it

    @property
    def is_undirected(self) -> bool:
        """Whether the graph is, as that of D⁻¹A of a symmetric A, which is not symmetric."""
        return self._undirected if self._undirected is not None else self.is_symmetric

    @property
    def num_self_loops(self) -> int:
        return self.pattern.num_self_loops

    @property
    def growth(self) -> float:
        """At least the largest row sum of one step, signs aside."""
        if self._growth is None:
            return float(self.pattern.longest)
        if self._growth != self._growth:  # NaN, in words that torch.compile understands
            self._growth = found_growth(self)
        return self._growth

    @property
    def growth_at_most(self) -> float:
        """A bound on `growth` that is quicker to tell: without weights no row of Â sums to more than √N."""
        unknown = self._growth is not None and self._growth != self._growth
        return self.num_nodes**0.5 if unknown and self.value is None else self.growth

    @property
    def components(self) -> Tensor:
        """The weakly connected component of each node, (N,), numbered from 0. An edge of weight 0 joins nothing."""
        value = torch.ones_like(self.col) if self.value is None else self.value
        return self.cached("components", lambda: weak_components(CSR(self.crow, self.col, value)))

    def detach(self) -> Adjacency:
        """The same graph, with values that no gradient follows."""
        if self.value is None:
            return self
        return self.copied(value=self.value.detach(), is_tracked=False)

    def absolute(self) -> Adjacency:
        """The graph with every weight positive, which tells where sums cancel.

        In A+I a loop counts as 1 more than its own size: one of −1, which I cancels, as 2.
        """
        return self.cached("absolute", lambda: without_signs(self)) if self.is_signed else self.detach()

    def __getitem__(self, index: int) -> Adjacency:
        """One of the graphs that this one was joined from, as by `panconv.graph.block_diagonal` or in a PyG `Batch`."""
        return piece_of(self, index)

    def __repr__(self) -> str:
        words = [f"num_nodes={self.num_nodes}", f"num_edges={self.num_edges}"]
        words += ["weighted"] * (self.value is not None) + ["symmetric" if self.is_symmetric else "directed"]
        return f"Adjacency({', '.join(words)})"

    # ------------------------------------------------------------------ what follows from it

    def base(self, name: str) -> Adjacency:
        """The matrix whose paths are counted.

        A itself; A+I; Â = D̃^−½ (A+I) D̃^−½ with D̃ the row sums of A+I; and the generic random walk's D⁻¹A and
        D^−½AD^−½, with D the row sums of A.
        """
        if name not in BASES:
            raise ValueError(f"base must be one of {', '.join(BASES)}, got {name!r}")
        return self if name == "A" else self.cached(name, lambda: BASES[name](self))
