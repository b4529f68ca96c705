"""Edges in the order of a matrix: by receiver, then sender, each once."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from panconv.base.tracing import may_look
from panconv.graph.blocks import known_blocks
from panconv.graph.csr import compress, narrow, on_host, pointers, stable_order
from panconv.graph.pattern import Pattern

_FEW = 2**10  # edges up to which a sort by comparison is quicker than two by counting


class Sorted(NamedTuple):
    """The pattern of a graph, and where each edge that was given went."""

    pattern: Pattern
    entry: Tensor | None  # (E,); None where each stayed in its place, or nobody asked


def sort_edges(
    edge_index: Tensor, N: int, weighted: bool, undirected: bool | None = None, order: str | None = None
) -> Sorted:
    """The pattern of edges (2, E), rows source and target, int64 and within 0 … N − 1.

    Args:
        weighted: whether it is asked where each edge went.
        undirected: whether the mirror of each edge is there, where that is known.
        order: "row" or "col" where it is known that each edge is there once, in the order of its source, or of its
            target, and then of the other end.
    """
    (source, target), looked = edge_index, on_host(edge_index)
    order = _order_of(source, target, N) if order is None and looked else order
    if order == "row" and undirected and not weighted:
        source, target, order = target, source, "col"  # the mirror of all edges is all edges
    if order == "col":
        return Sorted(_pattern(target.clone(), source.clone(), N, undirected), None)  # what is kept is ours
    if order == "row" and looked:
        return _by_source(source.numpy(), target.numpy(), N)
    if looked:
        return _unordered(source.numpy(), target.numpy(), N, undirected)
    if order == "row":
        return _mirror_of(_pattern(source.clone(), target.clone(), N, undirected))
    key, entry = torch.unique(target * N + source, return_inverse=True)
    return Sorted(_pattern(key // max(N, 1), key % max(N, 1), N, undirected), entry)


def _unordered(source: np.ndarray, target: np.ndarray, N: int, undirected: bool | None) -> Sorted:
    """Edges on the host in any order; those that are repeated become one entry."""
    key, index = target * N + source, np.int32 if max(N, len(source)) < 2**31 else np.int64
    if len(key) <= _FEW:
        moved = key.argsort(kind="stable")
    else:
        first = stable_order(torch.from_numpy(source), N).numpy()
        moved = first.take(stable_order(torch.from_numpy(target.take(first)), N).numpy())
    fresh = np.diff(key.take(moved), prepend=-1) > 0  # the first of its kind
    place = np.empty(len(key), np.int64)
    place[moved] = fresh.cumsum() - 1
    row, col = target.take(moved)[fresh], source.take(moved)[fresh].astype(index)
    crow = torch.from_numpy(pointers(row, N, index))
    pattern = Pattern(crow, torch.from_numpy(col), undirected, row=torch.from_numpy(row))
    return Sorted(pattern, torch.from_numpy(place))


def _mirror_of(by_source: Pattern, loops: int | None = None) -> Sorted:
    """From the pattern of edges that were read as the transpose's."""
    crow, col, moved = by_source.by_column()
    pattern, place = Pattern(crow, col, by_source.known("symmetric"), loops), moved.argsort()
    pattern.know_transposed(by_source, place)
    return Sorted(pattern, place)


def _by_source(source: np.ndarray, target: np.ndarray, N: int) -> Sorted:
    """Edges on the host by source, each there once: the transpose as they are, and A by one sort."""
    index = np.int32 if max(N, len(source)) < 2**31 else np.int64
    crow_t, col_t, loops = pointers(source, N, index), target.astype(index), int(np.count_nonzero(source == target))
    moved = stable_order(torch.from_numpy(target), N)
    crow, col = pointers(target, N, index), source.take(moved.numpy()).astype(index)
    if np.array_equal(crow, crow_t) and np.array_equal(col, col_t):
        mirror = Pattern(
            torch.from_numpy(crow), torch.from_numpy(col), True, loops, row=torch.from_numpy(source.copy())
        )
        mirror.know_transposed(mirror, moved)  # which is its own inverse: from an edge to its mirror and back
        return Sorted(mirror, moved)
    pattern = Pattern(torch.from_numpy(crow), torch.from_numpy(col), False, loops)
    place = torch.empty_like(moved).scatter_(0, moved, torch.arange(len(moved)))
    pattern.know_transposed(Pattern(torch.from_numpy(crow_t), torch.from_numpy(col_t)), place)
    return Sorted(pattern, place)


def look_once(edge_index: Any, N: Any) -> Sorted | None:
    """The pattern of fresh edges on a GPU, looked at in one launch; None where they have to go the longer way.

    That is where they are not in the order of their sources, or something is wrong with them.
    """
    gpu = triton_kernels() if isinstance(edge_index, Tensor) and edge_index.is_cuda and may_look() else None
    if gpu is None or type(N) is not int or edge_index.dtype != torch.long or edge_index.shape[:-1] != (2,):
        return None
    if not 0 <= N < 2**31 - 1 or edge_index.size(1) >= 2**31 - N or not edge_index.is_contiguous():
        return None
    found = gpu.look(edge_index.detach(), N)
    if found.outside or found.falls:
        return None
    by_source = Pattern(found.crow, found.col, not found.alone, found.loops, found.longest)
    if not found.alone:
        by_source.know_transposed(by_source, found.mirror)
        if N <= gpu.FEW_NODES:
            known_blocks[found.col], by_source.blocks = found.blocks, (found.blocks, None)  # known, and they travel
        return Sorted(by_source, found.mirror)
    return _mirror_of(by_source, found.loops)


@functools.cache
def triton_kernels() -> Any:
    """`panconv.graph.gpu`, or None where there is no Triton, or one too old."""
    try:
        from panconv.graph import gpu
    except (ImportError, TypeError):
        return None
    return gpu


def _order_of(source: Tensor, target: Tensor, N: int) -> str | None:
    """In which order edges on the host are, if each is there once: PyG's `coalesce` leaves them by source."""
    s, t = source.numpy(), target.numpy()
    if _rises(s * N + t):
        return "row"
    return "col" if _rises(t * N + s) else None


def _rises(key: Tensor | np.ndarray) -> bool:
    return bool((key[1:] > key[:-1]).all())


def _pattern(row: Tensor, col: Tensor, N: int, symmetric: bool | None) -> Pattern:
    """From rows and columns in order."""
    bound = max(N, row.numel())
    return Pattern(narrow(compress(row, N), bound), narrow(col, bound), symmetric, row=row)
