"""`Adjacency`: a graph as validated, sorted CSR."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from panconv.base.checks import checked_device, checked_dtype
from panconv.base.tracing import is_tracked, is_transforming
from panconv.graph.bases import BASES, without_signs
from panconv.graph.csr import CSR, compress, narrow, order_by_column, rows_of, weak_components
from panconv.graph.degrees import Facts, checked_facts
from panconv.graph.reading import (
    check_entries,
    checked_edges,
    checked_num_nodes,
    checked_weights,
    entries,
    size_of,
    sum_weights,
)
from panconv.graph.repeated import check_agreement, checked_reading, read_repeated

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

    loops: str = "add"  # what A+I does where a node has a self-loop, as in `from_edge_index`
    repeats: str | None = None  # what became of repeated unweighted edges; None where there were none
    _overruled: Tensor | None = None  # (E,) the edges given at the start that do not count, for `reweight`

    def __init__(
        self,
        crow: Tensor,  # (N + 1,)
        col: Tensor,  # (nnz,), sorted within each row
        value: Tensor | None,  # (nnz,); None stands for ones
        *,
        transposed: tuple[Tensor, Tensor, Tensor] | None,  # crow, col, permutation of values; None if A = Aᵀ
        sides: tuple[Tensor | None, Tensor | None] = (None, None),  # (N,): diag(left) · values · diag(right)
        entry_of_edge: Tensor | None = None,  # (E,) where each edge given at the start went, for `reweight`
        facts: Facts = _NOTHING_KNOWN,
    ) -> None:
        self.crow, self.col, self.value, (self.left, self.right) = crow, col, value, sides
        self.num_nodes = crow.numel() - 1
        self.is_symmetric = transposed is None
        self.growth, self.decay, self.is_signed, self.is_positive, self.num_self_loops, self._magnitude, _ = facts
        self.is_undirected = self.is_symmetric or facts.undirected  # as D⁻¹A of a symmetric A is, and not symmetric
        self._transposed, self._entry_of_edge = transposed, entry_of_edge
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
        reading = checked_reading(loops, repeats)
        if isinstance(source, (Tensor, np.ndarray)) and getattr(source, "layout", torch.strided) == torch.strided:
            return Adjacency.from_edge_index(source, edge_weight, num_nodes, **reading.filled())
        if edge_weight is not None:
            raise ValueError(
                f"edge_weight goes with an edge_index, but the graph is a {type(source).__name__}, "
                "which holds its own weights"
            )
        adj = source if isinstance(source, Adjacency) else Adjacency.from_sparse(source, loops=loops or "add")
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
    ) -> Adjacency:
        """From PyG's ``edge_index`` (2, E) of (source, target), with weights (E,) or none.

        ``num_nodes`` left out is the largest node named plus one. Gradients reach ``edge_weight``. As PyG's layers have
        it, ``loops="remaining"`` lets A+I add a self-loop only where a node has none (of several, the last counts), and
        ``repeats="sum"`` lets an edge without a weight weigh as often as it is named.
        """
        reading = checked_reading(loops, repeats)
        if isinstance(edge_index, EdgeIndex):
            num_nodes = size_of(edge_index) if num_nodes is None else num_nodes
            edge_index = edge_index.as_tensor()
        edge_index = checked_edges(edge_index)
        num_nodes = checked_num_nodes(edge_index, num_nodes)
        with torch.inference_mode(False):  # what is prepared at inference must serve training later
            # Sorted by receiver, then sender; equal keys are one entry.
            key = edge_index[1] * num_nodes + edge_index[0]
            key, entry = torch.unique(key, return_inverse=True)
            row, col = key // max(num_nodes, 1), key % max(num_nodes, 1)
            bound = max(num_nodes, key.numel())
            crow, col = narrow(compress(row, num_nodes), bound), narrow(col, bound)
            transposed, looped = order_by_column(crow, col, num_nodes), int((row == col).sum())
            pattern = Adjacency(crow, col, None, transposed=transposed, facts=Facts(num_self_loops=looped))
            weight = read_repeated(pattern, edge_index, edge_weight, reading)
            pattern._entry_of_edge = None if weight is None else narrow(entry, bound)
            return pattern.with_values(None) if weight is None else pattern.reweight(weight)

    @staticmethod
    def from_sparse(matrix: Any, *, loops: str = "add") -> Adjacency:
        """From a torch sparse, SciPy sparse or torch_sparse matrix (N, N), read as A[receiver, sender]."""
        adj = Adjacency.from_edge_index(*entries(matrix))  # of a matrix all entries add, those of loops too
        adj.loops = checked_reading(loops, None).filled()["loops"]
        return adj

    def reweight(self, edge_weight: Tensor) -> Adjacency:
        """The same edges with other weights, in the order of the ``edge_index`` it was made from."""
        if self._entry_of_edge is None:
            raise ValueError("this graph was made without edge weights: make it again with edge_weight=…")
        weight = checked_weights(edge_weight, self._entry_of_edge.numel()).to(self.col.device)
        weight = weight if self._overruled is None else weight.masked_fill(self._overruled, 0)
        with torch.inference_mode(False):
            return self.with_values(sum_weights(weight, self._entry_of_edge, self.num_edges))

    def with_values(self, value: Tensor | None) -> Adjacency:
        """These entries with other values, (nnz,) in the order of `row` and `col`; None stands for ones."""
        check_entries(value, self.num_edges)
        transposed = self.by_column()
        crow_t, col_t, perm = transposed
        symmetric = torch.equal(self.crow, crow_t) and torch.equal(self.col, col_t)
        facts = Facts(growth=0.0, decay=1.0)
        if value is not None and is_tracked(value):
            value = value.double()  # what comes back along several ways is added before it is rounded
        if value is None:
            facts = facts._replace(growth=float(self.crow.diff().max()) if self.num_nodes else 0.0)
        elif self.num_edges:
            # A weight that is trained moves off the diagonal mirror: its gradient needs the true transpose.
            symmetric = symmetric and not is_tracked(value)
            if symmetric and not torch.equal(value, value[perm]):
                # A normalisation that was computed edge by edge differs both ways by rounding, and means nothing by it.
                symmetric = torch.allclose(value, value[perm], rtol=8 * torch.finfo(value.dtype).eps, atol=0.0)
                value = value / 2 + value[perm] / 2 if symmetric else value
            facts = checked_facts(value.detach(), self.row, self.num_nodes)
        made = Adjacency(
            *(self.crow, self.col, value),
            transposed=None if symmetric else transposed,
            entry_of_edge=self._entry_of_edge,
            facts=facts._replace(num_self_loops=self.num_self_loops),
        )
        made.loops, made.repeats, made._overruled = self.loops, self.repeats, self._overruled
        return made

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
        return self.cached("row", lambda: rows_of(self.crow, self.num_edges))

    @property
    def components(self) -> Tensor:
        """The weakly connected component of each node, (N,), numbered from 0. An edge of weight 0 joins nothing."""
        value = torch.ones_like(self.col) if self.value is None else self.value
        return self.cached("components", lambda: weak_components(CSR(self.crow, self.col, value)))

    def operands(self, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """The matrix and its transpose in a dtype, as `spmm` takes them."""

        def make() -> tuple[CSR, CSR]:
            value = torch.ones(self.num_edges, dtype=dtype, device=self.device) if self.value is None else self.value
            if self.left is not None:
                value = value * self.left[self.row]
            if self.right is not None:
                value = value * self.right[self.col]
            value = value.to(dtype)
            a = CSR(self.crow, self.col, value)
            if self._transposed is None:
                return a, a
            crow_t, col_t, perm = self._transposed
            return a, CSR(crow_t, col_t, value[perm])

        return self.cached(dtype, make)

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix (N, N), for small graphs and for tests."""
        a, _ = self.operands(checked_dtype(dtype))
        dense = a.value.new_zeros(self.num_nodes, self.num_nodes)
        return dense.index_put((self.row, self.col.long()), a.value)

    def to(self, device: torch.device | str) -> Adjacency:
        """The same graph on another device."""
        device = checked_device(device, meta=True)
        if device == self.device:
            return self
        other = copy.copy(self)
        other.__dict__.update({k: v.to(device) for k, v in self.__dict__.items() if isinstance(v, Tensor)})
        if self._transposed is not None:
            crow, col, perm = self._transposed
            other._transposed = (crow.to(device), col.to(device), perm.to(device))
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
        return self.cached("absolute", lambda: without_signs(self)) if self.is_signed else self.detach()

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
        self.__dict__.update(state)
        self.num_self_loops = state.get("num_self_loops", state.get("_num_self_loops", 0))  # as 0.1 pickled it
        self.is_undirected = state.get("is_undirected", state["is_symmetric"])

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
        return self.operands(torch.float64)[0].row_sums()

    def by_column(self) -> tuple[Tensor, Tensor, Tensor]:
        """The transposed pattern, of a symmetric graph too: crow, col, and the permutation of the values."""
        if self._transposed is not None:
            return self._transposed
        return self.cached("by column", lambda: order_by_column(self.crow, self.col, self.num_nodes))
