"""A deep model at a node, taken apart exactly: the mean of its seeds, each at its own gates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from panconv.base.checks import checked_count, kind_of
from panconv.data.seed_loader import SeedLoader
from panconv.estimator.deep import DeepHead, Units
from panconv.estimator.explaining.deep_paths import best_paths
from panconv.estimator.explaining.explanation import Explanation
from panconv.estimator.explaining.gated import Gated
from panconv.estimator.explaining.parts import Parts
from panconv.estimator.explaining.unrolled import Unrolled, seeds_of
from panconv.estimator.nodes import Matrix, Nodes, matrix
from panconv.graph import Adjacency
from panconv.training.models import PAN


class DeepAt:
    """A deep model at a node of a graph, of which no more is looked at than the node sees.

    A part of a feature is that of the number that the model is given: a share of its row, or how far a column is from
    its mean, by its size. So a standardised column adds nothing where it is at its mean, and what the means add is in
    the bias.

    Args:
        model: the model.
        features: gives what the model takes of some nodes, by their numbers.
        adj: the graph.
        row: the number of the node.
        units: of the scores.
    """

    def __init__(
        self, model: PAN, features: Callable[[np.ndarray], Matrix], adj: Adjacency, row: int, units: Units
    ) -> None:
        seeds = seeds_of(model)
        batch = next(iter(SeedLoader(adj, model, seeds=[row])))  # in which the node is the first
        self._near, self._units = batch.n_id.numpy(), units
        x = features(self._near)
        self._seeds = [Gated(Unrolled.of(seed, batch.adj), x, 0) for seed in seeds]
        scores = torch.stack([seed.scores for seed in self._seeds]).mean(0)
        self.scores = units(scores).numpy()

    @staticmethod
    def of_head(head: DeepHead, nodes: Nodes, row: int) -> DeepAt:
        def features(at: np.ndarray) -> Matrix:
            return matrix(head.scaling(nodes.x[at]))

        return DeepAt(head.model, features, nodes.adj, row, head.units)

    def parts(self, c: int, top: int) -> Parts:
        each = [seed.parts(c) for seed in self._seeds]
        size = float(self._units.size[c])
        lengths, ends, features = (
            size / len(each) * torch.stack(found).sum(0).numpy()
            for found in ([one.lengths for one in each], [one.ends for one in each], [one.features for one in each])
        )
        return Parts(
            bias=float(self._units.mean[c]) + size * sum(one.bias for one in each) / len(each),
            lengths=lengths,
            nodes=self._near,
            ends=ends,
            features=features,
            paths=[
                (tuple(self._near[list(path)].tolist()), size * value)
                for path, value in best_paths(self._seeds, c, top)
            ],
        )


def explain_model(model: PAN, x: Any, graph: Any, node: int, c: int, top: int = 5) -> Explanation:
    """Why a trained `PAN` gives a node the score that it does, which is the mean of the scores of its trials.

    Args:
        model: the model, as it evaluates.
        x: (N, F), as it is called with.
        graph: likewise; an `Adjacency` where edges have weights.
        node: its number.
        c: that of the class.
        top: how many single paths are looked for.

    >>> model = PAN(16, 8, 3, num_layers=1, L=2)
    >>> one = explain_model(model, torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), node=0, c=2)
    >>> abs(one.bias + sum(one.lengths) - one.score) < 1e-9
    True
    """
    if not isinstance(model, PAN):
        raise TypeError(f"model must be a PAN, got {kind_of(model)}: others are not known to be linear at their gates")
    x = matrix(x, "x")
    if x.shape[1] != model.in_channels:
        raise ValueError(f"x must have in_channels = {model.in_channels} columns, got shape {x.shape}")
    adj = Adjacency._of(graph, None, x.shape[0], model.reading).to("cpu")
    nodes = Nodes(adj, x, None, [f"x{j}" for j in range(x.shape[1])])
    row = int(nodes.rows([node])[0])
    c = checked_count(c, "c", least=0, most=model.out_channels - 1)
    top = checked_count(top, "top", least=0)
    none = torch.zeros(model.out_channels, dtype=torch.float64)
    at = DeepAt(model, lambda near: x[near], adj, row, Units(none, none + 1))
    return at.parts(c, top).explanation(nodes, row, c, float(at.scores[c]), math.nan)
