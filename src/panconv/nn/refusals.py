"""What layers of PyG may be called with and ours cannot: refused, with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from panconv.base.checks import INTEGERS, check_values, shown
from panconv.base.tracing import may_look
from panconv.graph import Adjacency
from panconv.graph.reading import ONE_WEIGHT, size_of

_REMEDY = {
    "edge_attr": f"give a weight per edge as edge_weight (E,); {ONE_WEIGHT}",
    "size": "the graph has as many nodes as x has rows, so give x a row for every node, isolated ones too",
}


def refuse_words(layer: object, words: Mapping[str, Any]) -> None:
    """Refuses arguments that a layer does not have: those of PyG's layers with the remedy."""
    for name, value in words.items():
        if name not in _REMEDY:
            raise TypeError(f"{type(layer).__name__} got an unexpected keyword argument {name!r}")
        raise TypeError(f"{name} is nothing that {type(layer).__name__} takes, got {shown(value)}: {_REMEDY[name]}")


def check_numbers(layer: object, adj: Adjacency) -> None:
    """Refuses the meta device to a layer that looks at the numbers of a graph."""
    remedy = f"{type(layer).__name__} looks at those of the graph, so call it on a device that does, such as 'cpu'"
    check_values(adj.crow, "the graph", remedy)


def check_rows(shape: tuple[int, ...], graph: Any) -> None:
    """Refuses an x of more than two dimensions whose first may not be that of the nodes, as in PyG's static graphs.

    Those are (B, N, F), B signals on one graph, where ours are (N, B, F). An `Adjacency` knows its N, and an edge_index
    only the nodes that it names.
    """
    nodes = _nodes(graph) if len(shape) > 2 else None
    if not nodes or nodes == shape[0]:
        return
    static = "of a static graph's x, (B, N, F), take x.transpose(0, 1)"
    if not isinstance(graph, (Tensor, np.ndarray)) or getattr(graph, "layout", torch.strided) != torch.strided:
        if nodes in shape[1:-1]:
            raise ValueError(f"x must have {nodes} rows, one per node, got shape {shape}: {static}")
    else:
        raise ValueError(
            f"x has shape {shape}, but edge_index names nodes 0 … {nodes - 1}, so its rows may not be the nodes: "
            f"{static}; if they are, give Adjacency.from_edge_index(edge_index, num_nodes={shape[0]})"
        )


def _nodes(graph: Any) -> int | None:
    """The nodes that a graph has, or those that an edge_index names; None where that is not to be told."""
    if isinstance(graph, Adjacency):
        return graph.num_nodes
    if sp.issparse(graph) or (isinstance(graph, Tensor) and graph.layout != torch.strided):
        return graph.shape[0]
    if isinstance(graph, EdgeIndex) and (size := size_of(graph)) is not None:
        return size
    if isinstance(graph, np.ndarray) and graph.dtype.kind in "iu" and graph.size:
        return int(graph.max()) + 1
    if isinstance(graph, Tensor) and graph.dtype in INTEGERS and graph.numel() and may_look(graph):
        return int(graph.long().max()) + 1
    return None
