"""A graph of which an explainer covers edges: what passes along them is masked, and what divides it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import kind_of
from panconv.graph.adjacency import Adjacency
from panconv.graph.degrees import Facts
from panconv.graph.reading import checked_edges, checked_weights


class MaskedGraph(Adjacency):
    """A graph with a mask on its edges, which `cover` makes. As an `Adjacency` it is the graph itself, unmasked."""

    mask: Tensor  # (nnz,) float64, in the order of `row` and `col`

    def covered(self, base: str) -> Adjacency:
        """A base whose paths go along A ∘ mask, between the degrees of the graph itself.

        Degrees of the masked graph would undo a mask: one and the same number on all edges cancels in D⁻¹A. What A+I
        adds to A is no edge, and stays as it is.
        """
        ones = self.mask.new_ones(self.num_edges) if self.value is None else self.value.double()
        facts = Facts(self.growth, self.decay, self.is_signed)
        inner = Adjacency(self.pattern, ones * self.mask, mirrored=False, facts=facts)
        inner.loops, true = self.loops, self.base(base)
        inner = inner.base("A+I") if base in ("A+I", "Â") else inner
        return Adjacency(inner.pattern, inner.value, mirrored=False, sides=(true.left, true.right))


def cover(adj: Adjacency, mask: Tensor, edge_index: Any, edge_weight: Any = None) -> MaskedGraph:
    """A graph with a mask on its edges but for self-loops, from which gradients reach the mask.

    Edges that are repeated each have a number of their own: the entry of A that they make has their mean, weighted by
    the edges' weights where there are any, so that A ∘ mask has the sum of the masked weights.

    Args:
        adj: the graph that was made from the edges.
        mask: a number per edge, (E,).
        edge_index: the edges (2, E), in the order of the mask.
        edge_weight: their weights, (E,).
    """
    if not isinstance(edge_index, (Tensor, np.ndarray)) or getattr(edge_index, "layout", None) not in (
        None,
        torch.strided,
    ):
        raise TypeError(
            f"an explainer masks the columns of an edge_index (2, E), but the layer was given {kind_of(edge_index)}: "
            "pass the edge_index itself on to the layers while explaining"
        )
    edges, _ = checked_edges(edge_index)
    if mask.shape != edges.shape[1:]:
        raise ValueError(
            f"the edge mask must be ({edges.size(1)},), a number per edge, got {tuple(mask.shape)}: explain the model "
            "on the edge_index that its layers are called with"
        )
    edges = edges.to(adj.device)
    mask = mask.masked_fill(edges[0] == edges[1], 1)  # as PyG's layers leave them
    entry, here = _entries(adj, edges)
    weight = torch.ones_like(here, dtype=torch.float64)
    if edge_weight is not None:
        weight = checked_weights(edge_weight, edges.size(1)).to(adj.device).double()
    if adj._overruled is not None:
        weight = weight.masked_fill(adj._overruled, 0)
    masked = object.__new__(MaskedGraph)
    masked.__dict__.update(adj.__dict__)
    masked.mask = _mean(mask.double()[here], weight[here], entry[here], adj.num_edges)
    return masked


def _entries(adj: Adjacency, edges: Tensor) -> tuple[Tensor, Tensor]:
    """Which entry of A each edge went into, (E,), and whether it did."""
    key, stored = edges[1] * adj.num_nodes + edges[0], adj.row * adj.num_nodes + adj.col
    entry = torch.searchsorted(stored, key).clamp(max=max(adj.num_edges - 1, 0))
    return entry, stored[entry] == key if adj.num_edges else torch.zeros_like(key, dtype=torch.bool)


def _mean(mask: Tensor, weight: Tensor, entry: Tensor, count: int) -> Tensor:
    """The mean of the masks that fall on each of `count` entries, 1 where none does, by weight unless that is 0."""
    nothing = mask.new_zeros(count)
    total = nothing.index_add(0, entry, weight)
    plain = (total == 0)[entry]
    weight = weight.masked_fill(plain, 1)
    total = nothing.index_add(0, entry, weight)
    mean = nothing.index_add(0, entry, weight * mask) / total.masked_fill(total == 0, 1)
    return mean.masked_fill(total == 0, 1)
