"""A graph as a user hands it in, read and checked: its edges, weights and number of nodes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from panconv.base.checks import (
    INTEGERS,
    as_float,
    as_integer,
    check_real,
    check_sparse,
    check_values,
    checked_flag,
    free_bytes,
    kind_of,
    shown,
)

ONE_WEIGHT = "features of edges become a trained weight by softplus(linear(edge_attr)).squeeze(-1), with Linear(D, 1)"
_MOST_NODES = math.isqrt(2**63 - 1)  # receiver · N + sender is to fit into int64
_MANY_NODES, _BYTES_PER_NODE = 10**7, 32  # from where memory is looked at; row pointers both ways, and making them


def entries(matrix: Any) -> tuple[Tensor, Tensor | None, int]:
    """The edge_index (2, E), the weights (E,) or None, and N, of a sparse matrix A[receiver, sender].

    An entry may be there more than once: the weights of such are to be added, be they all 1. A matrix of bools, and one
    of ones without repeated entries, is an unweighted graph.
    """
    known = isinstance(matrix, Tensor) or sp.issparse(matrix)
    if not known and type(matrix).__name__ != "SparseTensor":  # torch_sparse, which need not be installed
        raise TypeError(
            "the graph must be an Adjacency, an edge_index (2, E) as a tensor or array, or a sparse matrix (N, N), got "
            f"{kind_of(matrix)}: make a tensor of it, or take its edge_index"
        )
    shape = tuple(matrix.sparse_sizes() if hasattr(matrix, "sparse_sizes") else matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the sparse matrix of a graph must be square, (N, N), got shape {shape}")
    row, col, value = _parts(matrix)
    check_size(shape[0], row.device, "the sparse matrix", f"has {shape[0]} rows")
    if value is not None:
        check_real(value, "the sparse matrix")
    edges = torch.stack([col, row]).long()
    if value is not None and value.dtype == torch.bool:
        edges, value = edges[:, value], None
    if value is not None and not value.requires_grad and bool((value == 1).all()):
        key = edges[1] * shape[0] + edges[0]
        value = value if torch.unique(key).numel() < key.numel() else None
    return edges, value, shape[0]


def _parts(matrix: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    """Receivers, senders and values; repeated entries stay apart, unless a gradient is asked for."""
    if sp.issparse(matrix):
        coo = matrix.tocoo()
        row, col, value = (from_array(part, "the sparse matrix") for part in (coo.row, coo.col, coo.data))
        return row, col, value
    if not isinstance(matrix, Tensor):
        return matrix.coo()
    check_values(matrix, "the sparse matrix")
    check_sparse(matrix, "the sparse matrix")
    coo = matrix.to_sparse_coo()
    if not coo.requires_grad:
        row, col = coo._indices()
        return row, col, coo._values()
    # Only the values of a coalesced matrix pass a gradient on. They are added in float64 and rounded once.
    one = coo if coo.is_coalesced() else coo.double().coalesce()
    row, col = one.indices()
    return row, col, one.values().to(matrix.dtype)


class Claims(NamedTuple):
    """What is known of a graph beforehand, and believed."""

    validate: bool = True  # whether weights are to be checked
    undirected: bool | None = None
    order: str | None = None  # "row" or "col", as `sort_edges` takes it

    @staticmethod
    def of(
        edge_index: Any,
        validate: bool = True,
        is_undirected: bool | None = None,
        is_sorted: bool | str | None = None,
    ) -> Claims:
        """What the user says, and PyG's `EdgeIndex` of itself."""
        checked_flag(validate, "validate")
        if is_undirected is not None:
            checked_flag(is_undirected, "is_undirected")
        if is_sorted not in (None, False, True, "row", "col"):
            raise ValueError(f"is_sorted must be True, False, 'row', 'col' or None, got {shown(is_sorted)}")
        order = "row" if is_sorted is True else is_sorted or None
        if isinstance(edge_index, EdgeIndex) and is_undirected is None and edge_index.is_undirected:
            is_undirected = True
        return Claims(validate, is_undirected, order)


def as_tensor(edge_index: Any, num_nodes: int | None) -> tuple[Any, int | None]:
    """PyG's `EdgeIndex` as the tensor it is, and the number of nodes that it knows; all else as it is."""
    if not isinstance(edge_index, EdgeIndex):
        return edge_index, num_nodes
    return edge_index.as_tensor(), size_of(edge_index) if num_nodes is None else num_nodes


def checked_edges(edge_index: Any, num_nodes: int | None = None) -> tuple[Tensor, int]:
    """The edge_index itself, on int64, if it is one, and the number of nodes."""
    edge_index, num_nodes = as_tensor(edge_index, num_nodes)
    if isinstance(edge_index, np.ndarray):
        edge_index = from_array(edge_index, "edge_index")
    if not isinstance(edge_index, Tensor):
        raise TypeError(
            f"edge_index must be a tensor or array (2, E), got {kind_of(edge_index)}: convert it with torch.tensor(…)"
        )
    if edge_index.layout != torch.strided:
        raise TypeError(f"edge_index must be dense, got {edge_index.layout}: use Adjacency.from_sparse for a matrix")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(
            f"edge_index must have shape (2, E), rows source and target, got {tuple(edge_index.shape)}: of a dense "
            "matrix (N, N) take .to_sparse(), of pairs (E, 2) the transpose"
        )
    if edge_index.dtype not in INTEGERS:
        raise TypeError(f"edge_index must hold integers, got {edge_index.dtype}: convert it with .long()")
    check_values(edge_index, "edge_index", "make an Adjacency of one with values, and move that with .to('meta')")
    numbers = edge_index.long()
    low, high = torch.stack(numbers.aminmax()).tolist() if numbers.numel() else (0, -1)
    if low < 0:
        named = low if edge_index.dtype != torch.uint64 else low + 2**64
        raise ValueError(f"edge_index names node {named}: nodes are numbered from 0, and fewer than 2^63")
    return numbers, checked_num_nodes(high + 1, num_nodes, numbers.device)


def checked_num_nodes(named: int, num_nodes: int | None, device: torch.device) -> int:
    """The number of nodes, if those that edges name, 0 … named − 1, are among them."""
    if num_nodes is None:
        check_size(named, device, "edge_index", f"names node {named - 1}")
        return named
    count = as_integer(num_nodes)
    if count is None or count < 0:
        raise ValueError(f"num_nodes must be an integer of at least 0, got {shown(num_nodes)}")
    if named > count:
        raise ValueError(
            f"edge_index names node {named - 1}, but there are only {count} nodes: x must have a row for each "
            "(without x: raise num_nodes)"
        )
    check_size(count, device, "num_nodes", f"is {shown(count)}")
    return count


def check_size(N: int, device: torch.device, name: str, what: str) -> None:
    """Refuses a number of nodes that no memory holds, before any is taken."""
    if N <= _MANY_NODES:
        return
    needed, free = min(N, 2**80) * _BYTES_PER_NODE, free_bytes(device)
    if N > _MOST_NODES or needed > free:
        raise ValueError(
            f"{name} {what}: so many nodes take {needed / 2**30:.3g} GiB, of which {free / 2**30:.3g} GiB are free; "
            "number the nodes from 0 on without gaps, as torch.unique(edge_index, return_inverse=True) does"
        )


def checked_weights(edge_weight: Any, num_edges: int, validate: bool = True) -> Tensor:
    """The weights of E edges, from a tensor, an array or a list, in float32 or float64; finite, if checked."""
    if isinstance(edge_weight, (np.ndarray, list, tuple)):
        edge_weight = from_array(edge_weight, "edge_weight")
    if not isinstance(edge_weight, Tensor):
        raise TypeError(
            f"edge_weight must be a tensor, an array or a list of {num_edges} numbers, one per edge, got "
            f"{shown(edge_weight)}"
        )
    if edge_weight.shape != (num_edges,):
        remedy = "" if edge_weight.dim() != 2 else f": {ONE_WEIGHT}"
        remedy = ": take edge_weight.squeeze(-1)" if edge_weight.shape == (num_edges, 1) else remedy
        raise ValueError(
            f"edge_weight must have shape ({num_edges},), a weight per edge, got {tuple(edge_weight.shape)}{remedy}"
        )
    if edge_weight.layout != torch.strided:
        raise TypeError(f"edge_weight must be dense, got {edge_weight.layout}: convert it with .to_dense()")
    check_real(edge_weight, "edge_weight")
    check_values(edge_weight, "edge_weight")
    finite = torch.isfinite(edge_weight.detach()) if validate else torch.ones(())
    if not _look(finite.all()):
        where = int((~finite).nonzero()[0])
        raise ValueError(
            f"edge_weight must be finite, got {edge_weight[where].item()} at edge {where}: remove or mend that edge"
        )
    return as_float(edge_weight)


def _look(answer: Tensor) -> bool:
    """What a tensor says, which inside torch.vmap is not one answer but many."""
    try:
        return bool(answer)
    except RuntimeError as error:
        if "vmap" not in str(error):
            raise
        raise ValueError(
            "edge_weight must be one weight per edge, got a batch of them from torch.vmap: loop over the weights, or "
            "join the graphs into one, block by block"
        ) from None


def check_entries(value: Any, num_entries: int) -> None:
    """Refuses what is not one number per entry of a matrix, or None for ones."""
    if value is None:
        return
    if not isinstance(value, Tensor) or value.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"value must be a tensor of float32 or float64, got {shown(value)}")
    if value.shape != (num_entries,):
        raise ValueError(f"value must have shape ({num_entries},), one per entry, got {tuple(value.shape)}")


def sum_weights(weight: Tensor, entry: Tensor, count: int) -> Tensor:
    """The sum of the weights (E,) that fall on each of `count` entries, taken in float64 and rounded once."""
    if weight.numel() == count:  # each entry has one
        return weight.new_zeros(count).index_add(0, entry, weight)
    total = weight.new_zeros(count, dtype=torch.float64).index_add(0, entry, weight.double())
    rounded = total.to(weight.dtype)
    if not bool(torch.isfinite(rounded.detach()).all()):
        worst, wider = float(total.detach().abs().max()), weight.dtype == torch.float32
        raise ValueError(
            f"edge_weight adds up to ±{worst:.3g} on an edge that is repeated, more than {weight.dtype} holds: use "
            f"{'float64, or ' if wider else ''}smaller weights"
        )
    return rounded


def size_of(edge_index: EdgeIndex) -> int | None:
    sizes = [size for size in edge_index.sparse_size() if size is not None]
    return max(sizes) if sizes else None


def from_array(array: Any, name: str) -> Tensor:
    """A tensor from numbers in an array of any byte order and strides, or in a list; always a copy."""
    try:
        given = np.asarray(array)
        return torch.from_numpy(np.array(given, dtype=given.dtype.newbyteorder("="), order="C"))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        kind = f"{array.dtype} numbers" if isinstance(array, np.ndarray) else shown(array)
        raise TypeError(
            f"{name} must hold numbers of a dtype that torch has, got {kind}: convert it, such as with "
            ".astype('float64') or torch.tensor(…)"
        ) from None
