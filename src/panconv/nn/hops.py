"""`num_hops`: how far a node looks through a whole model."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torch import nn
from torch_geometric.nn import ChebConv, MessagePassing

from panconv.base.checks import kind_of
from panconv.graph.repeated import AS_USUAL, Reading
from panconv.met.reach import Reach
from panconv.nn.explainable import Hop
from panconv.nn.on_paths import GraphLayer
from panconv.nn.stacked import Stacked

_ROUNDS = ("K", "num_layers", "num_iters", "filter_size")  # how PyG's layers call the rounds they take in one forward


def num_hops(module: nn.Module, stored: bool = False) -> float:
    """The hops within which all lies that a node's output depends on: its k-hop subgraph gives the same output.

    The steps of all layers add up, and once comes what lies beyond them, the most that one layer needs for its
    scalings. That is exact where the layers are alike, and never too little, whatever their order. A layer of PyG
    counts the rounds of messages it takes, and one hop for the degrees of its senders, which most of them divide by.

    A layer that `forward` calls several times counts once here, as a module is seen once. Infinity stands for a layer
    that depends on the whole graph, such as `SpectralConv`; what normalises or pools over all nodes is not counted.

    Args:
        module: a layer, or a model with layers in it.
        stored: whether degrees and, for walks, D_n and Z are known from the whole graph, as `SeedLoader` has them.

    >>> model = PAN(16, 8, 3, num_layers=2, L=2, method=2)
    >>> num_hops(model), num_hops(model, stored=True)
    (6, 4)
    """
    reaches = list(reaches_of(module, stored))
    hops = sum(reach.steps for reach in reaches) + max((reach.beyond for reach in reaches), default=0)
    return int(hops) if math.isfinite(hops) else hops


def reaches_of(module: nn.Module, stored: bool = False) -> Iterator[Reach]:
    """How far each layer in a module looks."""
    for layer in layers_of(module):
        yield layer.reach(stored) if isinstance(layer, GraphLayer) else _reach_in_pyg(layer)


def layers_of(module: nn.Module) -> Iterator[GraphLayer | MessagePassing]:
    """The layers in a module that look at a graph, ours and PyG's."""
    if not isinstance(module, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {kind_of(module)}")
    for each in module.modules():
        if isinstance(each, (GraphLayer, MessagePassing)) and not isinstance(each, Hop):
            yield each
        elif isinstance(each, Stacked):
            yield from layers_of(each.one)


def reading_of(module: nn.Module) -> Reading:
    """How the layers in a module read self-loops and repeated edges: as the first of them does."""
    return next((layer.reading for layer in layers_of(module) if isinstance(layer, GraphLayer)), AS_USUAL)


def _reach_in_pyg(layer: MessagePassing) -> Reach:
    """By the names under which PyG's layers keep their rounds; `filter_size` is the L of its own PANConv."""
    rounds = [n for name in _ROUNDS if isinstance(n := getattr(layer, name, None), int)]
    rounds += [p for p in getattr(layer, "powers", ()) if isinstance(p, int)]
    if isinstance(layer, ChebConv):
        rounds.append(len(layer.lins) - 1)
    return Reach(max(rounds, default=1), max(1, getattr(layer, "filter_size", 1)))
