"""The graph a layer was given last, prepared once."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from panconv.graph import Adjacency


class PreparedGraph:
    """Turns what a layer is called with into an `Adjacency`, and keeps it while the very same tensors come again.

    A tensor that was changed in place is noticed, by its version and, since memory shared with NumPy changes without
    one, by comparing it with a copy on the CPU. Holding an `Adjacency` avoids all of this.
    """

    def __init__(self) -> None:
        self._adj: Adjacency | None = None
        self._edges: _Seen | None = None
        self._weights: _Seen | None = None

    def __call__(self, graph: Any, edge_weight: Tensor | None, num_nodes: int) -> Adjacency:
        if isinstance(graph, Adjacency) or not isinstance(graph, Tensor) or torch.compiler.is_compiling():
            return Adjacency.of(graph, edge_weight, num_nodes)
        adj = self._adj
        if adj is None or adj.num_nodes != num_nodes or not _same(self._edges, graph):
            adj = Adjacency.of(graph, edge_weight, num_nodes)
        elif edge_weight is not None and adj.value is not None:
            if _same(self._weights, edge_weight) and not adj.requires_grad:
                return adj
            # Trained weights are taken up anew each time: a second backward must not run into a freed graph.
            adj = adj.reweight(edge_weight)
        elif _same(self._weights, edge_weight):
            return adj
        else:
            adj = Adjacency.of(graph, edge_weight, num_nodes)
        self._adj, self._edges, self._weights = adj, _Seen.of(graph), _Seen.of(edge_weight)
        return adj

    def __getstate__(self) -> dict[str, Any]:  # copies and pickles start empty
        return PreparedGraph().__dict__


class _Seen:
    """A tensor as it was: by identity, version and, on the CPU, content."""

    def __init__(self, tensor: Tensor, version: int) -> None:
        self.ref = weakref.ref(tensor)
        self.version = version
        self.copy = tensor.detach().clone() if tensor.device.type == "cpu" and not tensor.is_sparse else None

    @staticmethod
    def of(tensor: Tensor | None) -> _Seen | None:
        # An inference tensor has no version: it is prepared anew each time.
        return None if tensor is None or tensor.is_inference() else _Seen(tensor, tensor._version)


def _same(seen: _Seen | None, tensor: Tensor | None) -> bool:
    if seen is None or tensor is None:
        return seen is None and tensor is None
    if seen.ref() is not tensor or tensor.is_inference() or seen.version != tensor._version:
        return False
    return seen.copy is None or torch.equal(seen.copy, tensor)
