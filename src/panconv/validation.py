"""What a user hands in as a graph, read and checked: one line names the argument, the value and the remedy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric import EdgeIndex


def entries(matrix: Any) -> tuple[Tensor, Tensor | None, int]:
    """The edge_index (2, E), the weights (E,) or None, and N, of a sparse matrix A[receiver, sender]."""
    if isinstance(matrix, Tensor):
        coo = matrix.to_sparse_coo().coalesce()
        (row, col), value = coo.indices(), coo.values()
    elif sp.issparse(matrix):
        coo = matrix.tocoo()
        row, col, value = (torch.from_numpy(np.array(part)) for part in (coo.row, coo.col, coo.data))
    elif type(matrix).__name__ == "SparseTensor":  # torch_sparse, which need not be installed
        row, col, value = matrix.coo()
    else:
        raise TypeError(
            f"the graph must be an Adjacency, an edge_index (2, E) or a sparse matrix (N, N), "
            f"got {type(matrix).__name__}"
        )
    shape = tuple(matrix.sparse_sizes() if hasattr(matrix, "sparse_sizes") else matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the sparse matrix of a graph must be square, (N, N), got shape {shape}")
    if value is None or value.dtype == torch.bool or (not value.requires_grad and bool((value == 1).all())):
        value = None
    return torch.stack([col, row]).long(), value, shape[0]


def checked_edges(edge_index: Any) -> Tensor:
    if isinstance(edge_index, np.ndarray):
        edge_index = torch.from_numpy(edge_index)
    if not isinstance(edge_index, Tensor):
        raise TypeError(f"edge_index must be a tensor (2, E), got {type(edge_index).__name__}")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"edge_index must have shape (2, E), rows source and target, got {tuple(edge_index.shape)}")
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise TypeError(f"edge_index must hold integers, got {edge_index.dtype}: convert it with .long()")
    if edge_index.numel() and (low := int(edge_index.min())) < 0:
        raise ValueError(f"edge_index names node {low}: nodes are numbered from 0")
    return edge_index.long()


def checked_num_nodes(edge_index: Tensor, num_nodes: int | None) -> int:
    named = int(edge_index.max()) + 1 if edge_index.numel() else 0
    if num_nodes is None:
        return named
    count = as_integer(num_nodes)
    if count is None or count < 0:
        raise ValueError(f"num_nodes must be an integer of at least 0, got {num_nodes!r}")
    if named > count:
        raise ValueError(
            f"edge_index names node {named - 1}, but there are only {count} nodes: x must have a row for each "
            "(without x: raise num_nodes)"
        )
    return count


def checked_weights(edge_weight: Any, num_edges: int) -> Tensor:
    if not isinstance(edge_weight, Tensor):
        raise TypeError(f"edge_weight must be a tensor ({num_edges},), got {type(edge_weight).__name__}")
    if edge_weight.shape != (num_edges,):
        raise ValueError(
            f"edge_weight must have shape ({num_edges},), a weight an edge, got {tuple(edge_weight.shape)}"
        )
    if edge_weight.is_complex():
        raise TypeError(f"edge_weight must be real, got {edge_weight.dtype}")
    finite = torch.isfinite(edge_weight.detach())
    if not bool(finite.all()):
        where = int((~finite).nonzero()[0])
        raise ValueError(
            f"edge_weight must be finite, got {edge_weight[where].item()} at edge {where}: remove or mend that edge"
        )
    wide = edge_weight.dtype in (torch.float32, torch.float64)
    return edge_weight if wide else edge_weight.to(torch.get_default_dtype())


def size_of(edge_index: EdgeIndex) -> int | None:
    sizes = [size for size in edge_index.sparse_size() if size is not None]
    return max(sizes) if sizes else None


def checked_length(L: int) -> int:
    """L itself, if it is an integer of at least 0."""
    length = as_integer(L)
    if length is None:
        raise TypeError(f"L must be an integer, the longest path length, got {L!r}")
    if length < 0:
        raise ValueError(f"L must be at least 0, the longest path length, got {L}")
    return length


def checked_count(value: int, name: str) -> int:
    """The value itself, if it is an integer of at least 1."""
    count = as_integer(value)
    if count is None or count < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return count


def as_integer(value: Any) -> int | None:
    """A Python int from an integer of any library; None for what is not one."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
