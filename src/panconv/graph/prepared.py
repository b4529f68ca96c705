"""The graph a layer was given last, prepared once."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.tracing import is_transforming, outside_a_trace
from panconv.graph.adjacency import Adjacency

# What a SciPy matrix is made of, by its format; the others hold lists or a dictionary, whose changes go unnoticed.
_ARRAYS = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


class _Known(NamedTuple):
    """A prepared graph and what it was made from, which belong together: never changed, only replaced."""

    adj: Adjacency
    edges: _Seen | None  # None where they cannot be recognised
    weights: _Seen | None
    weighted: bool


class PreparedGraph:
    """Turns what a layer is called with into an `Adjacency`, and keeps it while the very same objects come again.

    What was changed in place is noticed, by a tensor's version and, since memory shared with NumPy changes without
    one, by comparing it with a copy on the CPU. Threads may share it: what is kept is read once and replaced as a
    whole. Holding an `Adjacency` avoids all of this.
    """

    def __init__(self) -> None:
        self._known: _Known | None = None

    def __call__(self, graph: Any, edge_weight: Tensor | None, num_nodes: int) -> Adjacency:
        if isinstance(graph, Adjacency):
            return Adjacency.of(graph, edge_weight, num_nodes)
        return outside_a_trace(self._prepare, graph, edge_weight, num_nodes)

    def _prepare(self, graph: Any, edge_weight: Tensor | None, num_nodes: int) -> Adjacency:
        known = self._known  # once: another thread may replace it at any moment
        if known is not None and (known.adj.num_nodes != num_nodes or not _same(known.edges, graph)):
            known = None
        trained, weighted = isinstance(edge_weight, Tensor) and edge_weight.requires_grad, edge_weight is not None
        if known and not trained and weighted == known.weighted and _same(known.weights, edge_weight):
            return known.adj
        # What is compared later is copied before it is read: a change in between then comes to light.
        weights = _Seen.of(edge_weight)
        if known and known.adj.value is not None and edge_weight is not None:
            adj, edges = known.adj.reweight(edge_weight), known.edges  # the same edges: they stay sorted
        else:
            edges = _Seen.of(graph)
            adj = Adjacency.of(graph, edge_weight, num_nodes)
        if adj.is_tracked:
            # Trained weights are taken up anew each time: a second backward must not run into a freed graph.
            edges, weights = edges if weighted else None, None
        self._known = _Known(adj.detach() if adj.is_tracked else adj, edges, weights, weighted)
        return adj

    def __getstate__(self) -> dict[str, Any]:  # copies and pickles start empty
        return PreparedGraph().__dict__


class _Seen:
    """An object as it was: by identity, and by the version or the content of its arrays."""

    def __init__(self, source: Any, parts: list[Tensor | np.ndarray]) -> None:
        self.ref = weakref.ref(source)
        self.versions = [getattr(part, "_version", 0) for part in parts]  # NumPy's have none
        self.copies = [_copy(part) for part in parts]

    @staticmethod
    def of(source: Any) -> _Seen | None:
        parts = None if source is None else _parts(source)
        return None if parts is None else _Seen(source, parts)


def _same(seen: _Seen | None, source: Any) -> bool:
    if seen is None or source is None:
        return seen is None and source is None
    parts = _parts(source) if seen.ref() is source else None
    return (
        parts is not None
        and len(parts) == len(seen.copies)
        and all(
            version == getattr(part, "_version", 0) and (copy is None or _equal(copy, part))
            for version, copy, part in zip(seen.versions, seen.copies, parts, strict=True)
        )
    )


def _copy(part: Tensor | np.ndarray) -> Tensor | np.ndarray | None:
    """A copy to compare with later; none of what is on a GPU, where nothing but torch writes."""
    if isinstance(part, np.ndarray):
        return part.copy()
    return part.detach().clone() if part.device.type == "cpu" else None


def _equal(copy: Tensor | np.ndarray, part: Tensor | np.ndarray) -> bool:
    if isinstance(part, np.ndarray) or isinstance(copy, np.ndarray):
        return np.array_equal(copy, part)
    if part.dtype == torch.bfloat16 or part.dtype != copy.dtype or is_transforming():
        return torch.equal(copy, part)
    # NumPy compares as fast, and on this thread alone: no threads have to be waited for.
    return np.array_equal(copy.numpy(), part.detach().numpy())


def _parts(source: Any) -> list[Tensor | np.ndarray] | None:
    """The arrays that an object is made of; None where a change in them could go unnoticed."""
    if isinstance(source, np.ndarray):
        return [source]
    if sp.issparse(source):
        return [getattr(source, name) for name in _ARRAYS[source.format]] if source.format in _ARRAYS else None
    if not isinstance(source, Tensor) or source.is_inference():  # an inference tensor has no version
        return None
    if source.layout == torch.strided:
        return [source]
    if source.device.type != "cpu":
        return None
    if source.layout == torch.sparse_coo:
        return [source._indices(), source._values()]
    if source.layout == torch.sparse_csr:
        return [source.crow_indices(), source.col_indices(), source.values()]
    if source.layout == torch.sparse_csc:
        return [source.ccol_indices(), source.row_indices(), source.values()]
    return None
