"""Explainers of a class at a node, each a function (node, class) → a number per edge, (E,), the more the better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import torch
from judging import CONFIG, within
from torch import Tensor, nn
from torch_geometric.explain import CaptumExplainer, Explainer, GNNExplainer

Explain = Callable[[int, int], Tensor]
Paths = Iterable[tuple[tuple[int, ...], float]]  # from the node that hears to the one that is heard, and what it adds

TUNED = {"lr": 0.1, "edge_size": 0.5, "edge_ent": 0.0}  # the best of five on graphs that no table is of


class EdgesOfPaths:
    """What some single paths add over each edge of a graph: the sum over those that take it."""

    def __init__(self, edge_index: Tensor) -> None:
        self._place = {pair: place for place, pair in enumerate(zip(*edge_index.tolist(), strict=True))}

    def __call__(self, paths: Paths) -> Tensor:
        """(E,). A path is listed from the node that hears, against its edges; where it stays it takes none."""
        found = torch.zeros(len(self._place), dtype=torch.float64)
        for nodes, value in paths:
            for pair in {(heard, hears) for hears, heard in pairwise(nodes) if hears != heard}:
                found[self._place[pair]] += value
        return found


def of_pyg(algorithm: object, model: nn.Module, x: Tensor, edge_index: Tensor) -> Explain:
    """An explainer of PyG, of the class that the model predicts."""
    explainer = Explainer(model, algorithm, "model", CONFIG, edge_mask_type="object")
    return lambda node, _: explainer(x, edge_index, index=node).edge_mask


def at_random(edge_index: Tensor, N: int, hops: int) -> Explain:
    """Random numbers for the edges that the model can hear by."""

    def explain(node: int, _: int) -> Tensor:
        near = within(edge_index, node, N, hops)
        return torch.rand(len(near), generator=torch.Generator().manual_seed(node)) * near

    return explain


def peers(model: nn.Module, x: Tensor, edge_index: Tensor, hops: int, epochs: int) -> dict[str, Explain]:
    """PyG's explainers, and chance.

    Args:
        model: scores (N, C) of x and edge_index, as it evaluates.
        x, edge_index: the graph.
        hops: how far the model looks.
        epochs: of GNNExplainer; integrated gradients take half as many steps: of 100 that is Captum's 50.
    """
    algorithms = {
        "GNNExplainer": GNNExplainer(epochs=epochs),
        "GNNExplainer, tuned": GNNExplainer(epochs=epochs, **TUNED),
        "saliency": CaptumExplainer("Saliency"),
        "integrated gradients": CaptumExplainer("IntegratedGradients", n_steps=max(1, epochs // 2)),
    }
    found = {name: of_pyg(algorithm, model, x, edge_index) for name, algorithm in algorithms.items()}
    return {**found, "random": at_random(edge_index, len(x), hops)}
