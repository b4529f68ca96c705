"""PyG's graphs, each a `Data` of its own, put side by side for a `GraphSet`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import kind_of, shown
from panconv.data.graph_features import degree_features


def joined_list(graphs: Any, name: str) -> dict[str, Any]:
    """What a `GraphSet` is made of, from a list of `Data` or a dataset."""
    if isinstance(graphs, (Data, Tensor, str, bytes)) or not isinstance(graphs, Iterable):
        raise TypeError(f"graphs must be a list of PyG Data, or a dataset of them, got {kind_of(graphs)}")
    given = list(graphs)
    if not given:
        raise ValueError("graphs must hold at least one PyG Data, got none")
    for i, data in enumerate(given):
        if not isinstance(data, Data) or not isinstance(data.edge_index, Tensor):
            kind = "one without edge_index" if isinstance(data, Data) else kind_of(data)
            raise TypeError(f"graphs must be PyG Data with an edge_index, got {kind} at {i}")
        if data.edge_index.dim() != 2 or len(data.edge_index) != 2:
            raise ValueError(f"graphs[{i}].edge_index must be (2, E), got {tuple(data.edge_index.shape)}")
    sizes = torch.tensor([data.num_nodes for data in given])
    edges, x = _edges(given, sizes), _column(given, "x", sizes)
    features = (x, "") if x is not None else degree_features(edges, int(sizes.sum()))
    y, classes = _targets(given)
    left_out = any(data.get("edge_attr") is not None for data in given)
    return {
        **dict(zip(("x", "features"), features, strict=True)),
        "edge_index": edges,
        "ptr": torch.nn.functional.pad(sizes.cumsum(0), (1, 0)),
        "y": y,
        "edge_weight": _column(given, "edge_weight", torch.tensor([data.edge_index.size(1) for data in given])),
        "name": name,
        "classes": classes,
        "notes": ("edge_attr is left out: weights are read from edge_weight",) * left_out,
    }


def _edges(given: list[Data], sizes: Tensor) -> Tensor:
    """The edges, by numbers of nodes in the whole."""
    edges = torch.cat([data.edge_index for data in given], 1)
    counts = torch.tensor([data.edge_index.size(1) for data in given])
    ends = sizes.repeat_interleave(counts).to(edges.device)
    wrong = ((edges < 0) | (edges >= ends)).any(0).nonzero()
    if len(wrong):
        e = int(wrong[0])
        i = int(torch.searchsorted(counts.cumsum(0), e, right=True))
        raise ValueError(f"graphs[{i}] has {int(sizes[i])} nodes, but an edge from {edges[0, e]} to {edges[1, e]}")
    return edges + (sizes.cumsum(0) - sizes).repeat_interleave(counts).to(edges.device)


def _column(given: list[Data], name: str, lengths: Tensor) -> Tensor | None:
    """An attribute that all graphs have, with a row per node or edge, or None where none has it."""
    found = [data.get(name) for data in given]
    if all(each is None for each in found):
        return None
    for i, (each, length) in enumerate(zip(found, lengths.tolist(), strict=True)):
        first = next(other for other in found if other is not None)
        if not isinstance(each, Tensor) or len(each) != length or each.shape[1:] != first.shape[1:]:
            raise ValueError(
                f"graphs[{i}].{name} must be a tensor ({length}, …) with as many columns as the others', got "
                f"{shown(each)}"
            )
    return torch.cat([each.to_dense() for each in found if each is not None])


def _targets(given: list[Data]) -> tuple[Tensor, tuple[str, ...]]:
    """The target of each graph, and the names of the classes, if they are such."""
    found = []
    for i, data in enumerate(given):
        y = torch.as_tensor(data.y) if isinstance(data.y, (Tensor, int, float)) else None
        if y is None or y.numel() != 1:
            raise ValueError(
                f"graphs[{i}].y must be one class or one number, got {shown(data.y)}: choose one target, such as "
                "data.y = data.y[0, 0]"
            )
        found.append(y.reshape(1))
    if any(y.is_floating_point() for y in found):
        return torch.cat([y if y.is_floating_point() else y.float() for y in found]), ()
    names, place = torch.cat([y.long() for y in found]).unique(return_inverse=True)
    return place, tuple(map(str, names.tolist()))
