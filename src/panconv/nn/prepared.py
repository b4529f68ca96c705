"""The graph a layer was given last, prepared once."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.edges import from_array
from panconv.graph import Adjacency


class PreparedGraph:
    """Turns what a layer is called with into an `Adjacency`, and keeps it while the very same objects come again.

    What was changed in place is noticed, by a tensor's version and, since memory shared with NumPy changes without
    one, by comparing it with a copy on the CPU. Holding an `Adjacency` avoids all of this.
    """

    def __init__(self) -> None:
        self._adj: Adjacency | None = None
        self._edges: _Seen | None = None
        self._weights: _Seen | None = None
        self._weighted = False

    def __call__(self, graph: Any, edge_weight: Tensor | None, num_nodes: int) -> Adjacency:
        if isinstance(graph, Adjacency) or torch.compiler.is_compiling():
            return Adjacency.of(graph, edge_weight, num_nodes)
        adj, trained = self._adj, isinstance(edge_weight, Tensor) and edge_weight.requires_grad
        known = adj is not None and adj.num_nodes == num_nodes and _same(self._edges, graph)
        weighted = edge_weight is not None
        if known and not trained and weighted == self._weighted and _same(self._weights, edge_weight):
            assert adj is not None
            return adj
        if known and adj is not None and adj.value is not None and edge_weight is not None:
            adj = adj.reweight(edge_weight)  # the same edges: they stay sorted
        else:
            adj = Adjacency.of(graph, edge_weight, num_nodes)
            self._edges = None if adj.is_tracked and edge_weight is None else _Seen.of(graph)
        # Trained weights are taken up anew each time: a second backward must not run into a freed graph.
        self._adj, self._weighted = adj.detach() if adj.is_tracked else adj, weighted
        self._weights = None if adj.is_tracked else _Seen.of(edge_weight)
        return adj

    def __getstate__(self) -> dict[str, Any]:  # copies and pickles start empty
        return PreparedGraph().__dict__


class _Seen:
    """An object as it was: by identity, and by the version or the content of its arrays."""

    def __init__(self, source: Any, parts: list[Tensor]) -> None:
        self.ref = weakref.ref(source)
        self.versions = [part._version for part in parts]
        self.copies = [part.detach().clone() if part.device.type == "cpu" else None for part in parts]

    @staticmethod
    def of(source: Any) -> _Seen | None:
        parts = None if source is None else _parts(source)
        return None if parts is None else _Seen(source, parts)


def _same(seen: _Seen | None, source: Any) -> bool:
    if seen is None or source is None:
        return seen is None and source is None
    parts = _parts(source) if seen.ref() is source else None
    return parts is not None and all(
        version == part._version and (copy is None or torch.equal(copy, part))
        for version, copy, part in zip(seen.versions, seen.copies, parts, strict=True)
    )


def _parts(source: Any) -> list[Tensor] | None:
    """The arrays that an object is made of; None where a change in them could go unnoticed."""
    if isinstance(source, np.ndarray):
        return [from_array(source, "the graph")]
    if sp.issparse(source):
        return [
            from_array(array, "the graph") for array in vars(source).values() if isinstance(array, np.ndarray)
        ] or None
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
