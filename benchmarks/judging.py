"""What explanations by edges are judged by: the edges that are true, and what the model says with and without the best.

An explanation is a number per edge of an edge_index (source, target), the more the better. Of all explanations as many
edges are taken, so that none is better for being longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain import DummyExplainer, Explainer, Explanation
from torch_geometric.explain.metric import characterization_score, fidelity

CONFIG = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}


def steps_to(edge_index: Tensor, node: int, N: int, most: int) -> np.ndarray:
    """How many edges lead from each node to the one that hears, (N,); most + 1 where there are more, or no way."""
    source, target = edge_index.numpy()
    steps = np.full(N, most + 1)
    steps[node] = 0
    for n in range(most):
        behind = source[steps[target] == n]
        steps[behind] = np.minimum(steps[behind], n + 1)
    return steps


def within(edge_index: Tensor, node: int, N: int, most: int) -> Tensor:
    """Which edges a walk of so many steps to the node may take, (E,)."""
    return torch.from_numpy(steps_to(edge_index, node, N, most - 1))[edge_index[1]] < most


def true_edges(edge_index: Tensor, node: int, infected: Tensor, most: int) -> Tensor:
    """The edges of all shortest paths to a node from the infected nodes nearest to it, (E,); none beyond `most` steps.

    Args:
        edge_index: (2, E).
        node: i.
        infected: (N,), of bool.
        most: steps.
    """
    steps = steps_to(edge_index, node, len(infected), most)
    ill = infected.numpy()
    nearest = steps[ill].min(initial=most + 1)
    source, target = edge_index.numpy()
    on_way = ill & (steps == nearest) & (nearest <= most)
    found = np.zeros(len(source), dtype=bool)
    for n in range(min(nearest, most), 0, -1):
        here = on_way[source] & (steps[source] == n) & (steps[target] == n - 1)
        found |= here
        on_way[target[here]] = True
    return torch.from_numpy(found)


def best_edges(scores: Tensor, k: int, seed: int = 0) -> Tensor:
    """The k edges of the largest numbers, (E,) of bool; among equals they are drawn."""
    order = torch.randperm(len(scores), generator=torch.Generator().manual_seed(seed))
    best = order[scores[order].argsort(descending=True, stable=True)[:k]]
    return torch.zeros(len(scores), dtype=torch.bool).index_fill(0, best, True)


def recall(scores: Tensor, truth: Tensor) -> float:
    """The share of the true edges among as many of the best."""
    count = int(truth.sum())
    return float((best_edges(scores, count) & truth).sum()) / count


class Fidelity(NamedTuple):
    """By PyG's definitions, of one node or a mean over some."""

    without: float  # fidelity+: the share of nodes whose class is another without these edges, the more the better
    alone: float  # fidelity−: the share whose class is another with these edges alone, the less the better

    @property
    def character(self) -> float:
        """The weighted harmonic mean of fidelity+ and 1 − fidelity−; 0 if one of them is 0."""
        return float(characterization_score(torch.tensor(self.without), torch.tensor(self.alone)))

    @staticmethod
    def mean(some: list[Fidelity]) -> Fidelity:
        return Fidelity(*np.mean(some, axis=0).tolist())


class Judge:
    """Asks a model what it says of a node with and without some edges.

    Args:
        model: scores (N, C) of x and edge_index.
        x, edge_index: the graph.
    """

    def __init__(self, model: nn.Module, x: Tensor, edge_index: Tensor) -> None:
        self._asking = Explainer(model, DummyExplainer(), "model", CONFIG, edge_mask_type="object")
        self._x, self._edges = x, edge_index
        self.scores = self._asking.get_prediction(x, edge_index)

    def fidelity(self, node: int, edges: Tensor) -> Fidelity:
        """Of the edges of an explanation, (E,) of bool."""
        told = Explanation(
            x=self._x,
            edge_index=self._edges,
            edge_mask=edges.to(self._x.dtype),
            index=torch.tensor([node]),
            target=self.scores.argmax(1),
        )
        told._model_args = []
        return Fidelity(*fidelity(self._asking, told))
