"""`Adjacency`: a graph as validated, sorted CSR."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import checked_device, checked_dtype
from panconv.base.tracing import is_tracked, is_transforming
from panconv.graph.bases import BASES
from panconv.graph.csr import CSR, weak_components
from panconv.graph.degrees import Facts, checked_facts
from panconv.graph.former import from_former
from panconv.graph.pattern import Pattern, Transposed, mirror_values
from panconv.graph.reading import Claims, as_tensor, check_entries, checked_edges, checked_weights, entries, sum_weights
from panconv.graph.sorting import look_once, sort_edges

T = TypeVar("T")
_NOTHING_KNOWN = Facts()
_KEPT = 8  # of what follows from a graph and a setting, such as the counts up to an L: the last of each kind


class Adjacency:
    """A directed or undirected, weighted or unweighted graph, ready for products.

    ``A[i, j]`` is the edge from sender j to receiver i. Repeated edges of an unweighted graph are one edge; weights of
    repeated edges add. Everything is validated here, once, so that no layer has to look again. Immutable; what follows
    from it (its bases, its transpose, its path counts) is computed on first use and kept.

    Make one with `Adjacency.from_edge_index`, `Adjacency.from_sparse`, or `Adjacency.of`, which takes either.

    >>> adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> adj
    Adjacency(num_nodes=3, num_edges=4, symmetric)
    """

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
    def of(source: Any, edge_weight: Tensor | None = None, num_nodes: int | None = None) -> Adjacency:
        """From anything that is a graph: an `Adjacency`, an ``edge_index``, or a sparse matrix."""
        if isinstance(source, (Tensor, np.ndarray)) and getattr(source, "layout", torch.strided) == torch.strided:
            return Adjacency.from_edge_index(source, edge_weight, num_nodes)
        if edge_weight is not None:
            raise ValueError(
                f"edge_weight goes with an edge_index, but the graph is a {type(source).__name__}, "
                "which holds its own weights"
            )
        adj = source if isinstance(source, Adjacency) else Adjacency.from_sparse(source)
        if num_nodes is not None and adj.num_nodes != num_nodes:
            raise ValueError(f"the graph has {adj.num_nodes} nodes, but x has {num_nodes} rows: it needs one per node")
        return adj

    @staticmethod
    def from_edge_index(
        edge_index: Tensor | np.ndarray,
        edge_weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        validate: bool = True,
        is_undirected: bool | None = None,
        is_sorted: bool | str | None = None,
    ) -> Adjacency:
        """From PyG's ``edge_index`` (2, E) of (source, target), with weights (E,) or none.

        ``num_nodes`` left out is the largest node named plus one. Gradients reach ``edge_weight``.

        The rest is for those who know their graph, and is believed: a wrong claim gives wrong results. What PyG's
        `EdgeIndex` says of itself is believed too. Node numbers are always checked.

        Args:
            validate: False leaves weights unchecked, which must be finite.
            is_undirected: whether the mirror of each edge is there; None to find out when it matters.
            is_sorted: True where each edge is there once, by source and then target, as PyG's `coalesce` leaves them;
                ``"col"`` where by target and then source. None and False find out.
        """
        claims = Claims.of(edge_index, validate, is_undirected, is_sorted)
        return Adjacency._read(edge_index, edge_weight, num_nodes, claims).settle()

    @staticmethod
    def _read(edges: Any, edge_weight: Tensor | None, num_nodes: int | None, claims: Claims) -> Adjacency:
        """As `from_edge_index`; what has not been asked for yet is not found."""
        edges, num_nodes = as_tensor(edges, num_nodes)
        with torch.inference_mode(False):  # what is prepared at inference must serve training later
            found = look_once(edges, num_nodes)
            if found is None:
                edges, N = checked_edges(edges, num_nodes)
                found = sort_edges(edges, N, edge_weight is not None, claims.undirected, claims.order)
            pattern, entry = found
            if edge_weight is None:
                return Adjacency(pattern, None, facts=Facts(growth=None, decay=1.0))
            entry = torch.arange(edges.size(1), device=edges.device) if entry is None else entry
            return Adjacency(pattern, None, entry_of_edge=entry).reweight(edge_weight, claims.validate)

    @staticmethod
    def from_sparse(matrix: Any) -> Adjacency:
        """From a torch sparse, SciPy sparse or torch_sparse matrix (N, N), read as A[receiver, sender]."""
        return Adjacency.from_edge_index(*entries(matrix))

    def reweight(self, edge_weight: Tensor, validate: bool = True) -> Adjacency:
        """The same edges with other weights, in the order of the ``edge_index`` it was made from.

        With ``validate=False`` they are not checked, and must be finite.
        """
        if self._entry_of_edge is None:
            raise ValueError("this graph was made without edge weights: make it again with edge_weight=…")
        weight = checked_weights(edge_weight, self._entry_of_edge.numel(), validate).to(self.col.device)
        with torch.inference_mode(False):
            return self.with_values(sum_weights(weight, self._entry_of_edge, self.num_edges))

    def with_values(self, value: Tensor | None) -> Adjacency:
        """These entries with other values, (nnz,) in the order of `row` and `col`; None stands for ones."""
        check_entries(value, self.num_edges)
        if value is None:
            facts = Facts(growth=None, decay=1.0)
            return Adjacency(self.pattern, None, entry_of_edge=self._entry_of_edge, facts=facts)
        if is_tracked(value):
            value = value.double()  # what comes back along several ways is added before it is rounded
        facts, mirrored = Facts(growth=0.0, decay=1.0), True
        if self.num_edges:
            # A weight that is trained moves off the diagonal mirror: its gradient needs the true transpose.
            mirrored = not is_tracked(value) and self.pattern.is_symmetric
            value, mirrored = mirror_values(value, self.pattern) if mirrored else (value, False)
            facts = checked_facts(value.detach(), self.row, self.num_nodes)
        return Adjacency(self.pattern, value, mirrored=mirrored, entry_of_edge=self._entry_of_edge, facts=facts)

    def settle(self) -> Adjacency:
        """This graph, with all found that has to be looked at from the host, which torch.compile cannot do."""
        self.pattern.settle()
        return self

    # ------------------------------------------------------------------ looking at it

    @property
    def num_edges(self) -> int:
        """Stored entries: an undirected edge counts twice, a self-loop once."""
        return self.col.numel()

    @property
    def device(self) -> torch.device:
        return self.crow.device

    @property
    def row(self) -> Tensor:
        """The receiver of each stored entry, (nnz,)."""
        return self.pattern.row

    @property
    def is_symmetric(self) -> bool:
        """Whether A = Aᵀ; not where weights are trained, which moves an entry and not its mirror."""
        return self._mirrored and self.pattern.is_symmetric

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
        return float(self.pattern.longest) if self._growth is None else self._growth

    @property
    def components(self) -> Tensor:
        """The weakly connected component of each node, (N,), numbered from 0. An edge of weight 0 joins nothing."""
        value = torch.ones_like(self.col) if self.value is None else self.value
        return self.cached("components", lambda: weak_components(CSR(self.crow, self.col, value)))

    def operand(self, dtype: torch.dtype, transposed: bool) -> CSR:
        """The matrix, or its transpose, in a dtype."""
        if transposed and not self.is_symmetric:
            return self.cached(("transposed", dtype), lambda: self._transpose(self.operand(dtype, False)))
        return self.cached(dtype, lambda: CSR(self.crow, self.col, self._values(dtype)))

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """The matrix and its transpose in a dtype, as `spmm` takes them."""
        a = self.operand(dtype, False)
        return a, a if self.is_symmetric else self.cached(("transposed", dtype), lambda: self._transpose(a))

    def _transpose(self, a: CSR) -> CSR:
        crow, col, perm = self.by_column()
        return CSR(crow, col, a.value.index_select(0, perm))

    def _values(self, dtype: torch.dtype) -> Tensor:
        if self.value is None and self.left is None and self.right is None:
            return torch.ones(self.num_edges, dtype=dtype, device=self.device)
        value = self.value
        for side, index in ((self.left, self.row), (self.right, self.col)):
            if side is not None:
                there = side.index_select(0, index)
                value = there if value is None else value * there
        assert value is not None
        return value.to(dtype)

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix (N, N), for small graphs and for tests."""
        a, _ = self.operands(checked_dtype(dtype))
        dense = a.value.new_zeros(self.num_nodes, self.num_nodes)
        return dense.index_put((self.row, self.col.long()), a.value)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Adjacency:
        """The same graph on another device."""
        device = checked_device(device, meta=True)
        if device == self.device:
            return self
        other = copy.copy(self)
        other.__dict__.update(
            {k: v.to(device, non_blocking=non_blocking) for k, v in self.__dict__.items() if isinstance(v, Tensor)}
        )
        other.pattern = self.pattern.to(device, non_blocking)
        other.crow, other.col = other.pattern.crow, other.pattern.col
        return other

    def detach(self) -> Adjacency:
        """The same graph, with values that no gradient follows."""
        other = copy.copy(self)
        if self.value is not None:
            other.value, other.is_tracked = self.value.detach(), False
        return other

    def absolute(self) -> Adjacency:
        """The graph with every weight positive, which tells where sums cancel.

        In A+I a loop counts as 1 more than its own size: one of −1, which I cancels, as 2.
        """
        if not self.is_signed:
            return self.detach()

        def make() -> Adjacency:
            assert self.value is not None
            value = self.value.detach().abs() if self._magnitude is None else self._magnitude
            left, right = (None if f is None else f.detach() for f in (self.left, self.right))
            return Adjacency(self.pattern, value, mirrored=self._mirrored, sides=(left, right))

        return self.cached("absolute", make)

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """`make()`, kept under a key for the next time, unless it hangs on a gradient or is being traced."""
        if (found := self._cache.get(key, self)) is not self:  # one look: another thread may let it go
            return found
        if torch.compiler.is_compiling() or self.is_tracked:
            return make()
        with torch.inference_mode(False), torch.no_grad():
            result = make()
        if not is_transforming():
            self._cache[key] = result
            alike = [k for k in list(self._cache) if isinstance(k, tuple) and isinstance(key, tuple) and k[0] == key[0]]
            for old in alike[:-_KEPT]:
                self._cache.pop(old, None)
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "pattern" not in state:  # as 0.1 pickled it
            state = from_former(state)
        self.__dict__.update(state)

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

    def row_sums(self) -> Tensor:
        """What arrives at each node, (N,) float64: the degree, where nothing weighs."""
        if self.value is None and self.left is None and self.right is None:
            return (self.crow[1:] - self.crow[:-1]).double()
        return self.operand(torch.float64, False).row_sums()

    def by_column(self) -> Transposed:
        """The transposed pattern, of a symmetric graph too: crow, col, and the permutation of the values."""
        return self.pattern.by_column()
