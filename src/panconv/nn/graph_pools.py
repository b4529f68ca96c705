"""Pools between the layers of a model of graphs: which there are, where they stand, and how they are called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGPooling, TopKPooling

from panconv.base.checks import as_integer, shown
from panconv.base.near import meant
from panconv.graph import Adjacency


def _pan(channels: int, **options: Any) -> nn.Module:
    return import_module("panconv.nn.pan_pool").PANPool(channels, **options)


class SAGPool(SAGPooling):  # type: ignore[misc]  # PyG has no types
    """SAGPooling without its sign: PyG multiplies the scores by that of a number that is drawn at random (its issue
    9862), so that half of all seeds keep the nodes of the lowest scores. Here it is 1, and stays so."""

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if getattr(self.select, "weight", None) is not None:
            nn.init.ones_(self.select.weight.requires_grad_(False))


# Each is called as PyG's are and gives what they give: x, edges, what these have, batch, which nodes, their scores.
POOLS: dict[str, Callable[..., nn.Module]] = {"pan": _pan, "sag": SAGPool, "topk": TopKPooling}


def pools_from(given: Any, channels: int, num_layers: int, trials: int | None) -> nn.ModuleDict:
    """The pools of a model, by the number of the layer behind which each stands.

    Args:
        given: None; or a dict of the ``"kind"``, ``"pan"`` where it is left out, the ``"layers"``, numbers from 1, all
            where they are left out, and the options of the pool.
        channels, num_layers, trials: of the model.
    """
    found = nn.ModuleDict()
    if given is None:
        return found
    if not isinstance(given, dict):
        raise TypeError(f"pool must be a dict of the options of a pool, such as {{'ratio': 0.5}}, got {shown(given)}")
    if trials is not None:
        raise ValueError("pool goes with one trial, since each keeps other nodes: leave out trials, or pool")
    options = dict(given)
    kind, layers = options.pop("kind", "pan"), options.pop("layers", list(range(1, num_layers + 1)))
    if not isinstance(kind, str) or kind not in POOLS:
        raise ValueError(f"pool kind must be one of {', '.join(POOLS)}, got {shown(kind)}{meant(kind, POOLS)}")
    numbers = [as_integer(each) for each in layers] if isinstance(layers, (list, tuple)) else [None]
    if any(number is None or not 1 <= number <= num_layers for number in numbers):
        raise ValueError(f"pool layers must be numbers of layers, 1 … {num_layers}, got {shown(layers)}")
    try:
        found.update({str(number): POOLS[kind](channels, **options) for number in numbers})
    except TypeError as error:
        raise ValueError(f"pool = {shown(given)} cannot be made, {error}: change its options") from None
    return found


def pooled(pool: nn.Module, x: Any, graph: tuple[Any, ...], batch: Tensor) -> tuple[Tensor, tuple[Any, ...], Tensor]:
    """What is left of the features, the graph and the batch vector."""
    edges, weight = graph if len(graph) > 1 else (graph[0], None)
    if isinstance(pool, (SAGPooling, TopKPooling)):
        edges, weight = as_edges(edges, weight)
    x, edges, weight, batch, *_ = pool(x, edges, weight, batch)
    return x, (edges, weight), batch


def as_edges(graph: Any, weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """A graph as PyG's layers take it: an edge_index, and the weights of its edges, if they have any."""
    if not isinstance(graph, Adjacency):
        return graph, weight
    value = graph.value
    if graph.left is not None or graph.right is not None:
        value = graph.operand(torch.get_default_dtype(), False).value
    return torch.stack([graph.col, graph.row]).long(), value
