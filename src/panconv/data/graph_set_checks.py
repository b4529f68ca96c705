"""What a `GraphSet` is given, checked: one line names the argument, what is wrong, and the remedy."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import FLOATS, INTEGERS, check_real, check_values, shown
from panconv.graph.reading import checked_edges


def checked_nodes(x: Any) -> Tensor:
    """The features (ΣN, F) as float32, finite."""
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.size(1):
        raise ValueError(f"x must be a tensor (ΣN, F), a row per node and at least one column, got {shown(x)}")
    if not len(x):
        raise ValueError(f"x must have a row per node, got {shown(x)}: at least one graph must have a node")
    check_real(x, "x")
    check_values(x, "x")
    values = x.detach().to_dense().float()
    if not bool(torch.isfinite(values).all()):
        row = int((~torch.isfinite(values)).any(1).nonzero()[0])
        raise ValueError(f"x holds NaN or infinite features, or beyond float32, at node {row}: mend or remove them")
    return values


def checked_graphs(ptr: Any, edge_index: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """The first nodes (G + 1,), the edges (2, ΣE) graph by graph, and their order, or None where that was so."""
    N = len(x)
    if not isinstance(ptr, Tensor) or ptr.dtype not in INTEGERS or ptr.dim() != 1 or len(ptr) < 2:
        raise ValueError(f"ptr must be a tensor (G + 1,) of integers, the first node of each graph, got {shown(ptr)}")
    ptr = ptr.long().to(x.device)
    if int(ptr[0]) != 0 or int(ptr[-1]) != N or bool((ptr.diff() < 0).any()):
        raise ValueError(
            f"ptr must rise from 0 to {N}, as many as x has rows, got {int(ptr[0])} … {int(ptr[-1])}"
            f"{', which falls' * bool((ptr.diff() < 0).any())}: it is 0 and the cumulative sum of the graphs' nodes"
        )
    edges, _ = checked_edges(edge_index, N)
    edges = edges.to(x.device).contiguous()
    graph = torch.bucketize(edges, ptr[1:], right=True)
    across = (graph[0] != graph[1]).nonzero()
    if len(across):
        e = int(across[0])
        (s, t), (a, b) = edges[:, e].tolist(), graph[:, e].tolist()
        raise ValueError(
            f"edge_index leads from graph {a} to graph {b}, by edge {e} from node {s} to {t}: an edge joins nodes of "
            "one graph, numbered as the rows of x"
        )
    if bool((graph[0].diff() >= 0).all()):
        return ptr, edges, None
    order = graph[0].argsort(stable=True)
    return ptr, edges[:, order], order


def checked_target(y: Any, G: int) -> Tensor:
    """Classes (G,) of int64, or numbers (G,) of floating point, finite."""
    if not isinstance(y, Tensor) or y.shape not in ((G,), (G, 1)):
        remedy = ": of several targets choose one, such as y[:, 0]" * (isinstance(y, Tensor) and y.dim() == 2)
        raise ValueError(f"y must be a tensor ({G},), a class or a number per graph, got {shown(y)}{remedy}")
    check_values(y, "y")
    y = y.detach().reshape(-1)
    if y.dtype not in FLOATS:
        check_real(y, "y")
        return y.long()
    y = y if y.dtype == torch.float64 else y.float()
    if not bool(torch.isfinite(y).all()):
        graph = int((~torch.isfinite(y)).nonzero()[0])
        raise ValueError(f"y holds NaN or infinite numbers, at graph {graph}: leave out what has no target")
    return y


def checked_classes(classes: Any, y: Tensor) -> tuple[str, ...]:
    """The names of the classes, those of y among them, and at least two; none of numbers."""
    names = tuple(map(str, classes))
    if y.is_floating_point():
        if names:
            raise ValueError(f"classes are named, {shown(names)}, but y is of {y.dtype}: make it integers, y.long()")
        return ()
    low, high = int(y.min()), int(y.max())
    if low < 0 or (names and high >= len(names)):
        wrong, bound = (low if low < 0 else high), f"0 … {len(names) - 1}" if names else "0 and up"
        raise ValueError(f"y names class {wrong}, but classes are {bound}: number them so, and leave out what has none")
    if len(names) == 1 or (not names and low == high):
        raise ValueError(
            f"y holds one class alone, {names[low] if names else low}, of {len(y)} graphs, so that there is nothing to "
            "tell apart: take graphs of others, or name those in classes"
        )
    if high >= len(y) and not names:
        raise ValueError(f"y names class {high}, but has {len(y)} graphs: number the classes from 0, without gaps")
    return names or tuple(map(str, range(high + 1)))
