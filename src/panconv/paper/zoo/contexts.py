"""Planetoid's contexts, as its algorithm 1 samples them, for S trials and many at once.

A context is another node within a window on a random walk, or a labelled node of the same class; the negatives of the
former are any nodes, those of the latter nodes of other classes.
Yang, Cohen & Salakhutdinov, Revisiting semi-supervised learning with graph embeddings, ICML 2016.
"""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base.random import keys, uniform

_WALKS, _PAIRS = 20, 21  # streams of random numbers


class Contexts:
    """Draws contexts.

    Args:
        paths: random walks of each trial, (S, R, T).
        known: the labelled nodes, (n,).
        y: their classes, (n,).
        num_nodes: N.
        positives: the share of label pairs that have the same class.
        seed: of each trial, (S,).
    """

    def __init__(self, paths: Tensor, known: Tensor, y: Tensor, num_nodes: int, positives: float, seed: Tensor) -> None:
        self.paths, self.num_nodes, self.positives, self.seed = paths, num_nodes, positives, seed
        y, order = torch.sort(y, stable=True)
        self.known, self.y = known[order], y
        self.count = torch.bincount(y)
        self.begin = self.count.cumsum(0) - self.count

    def on_walks(self, batch: int, step: int) -> tuple[Tensor, Tensor]:
        """Walks (S, batch, T), whose nodes are each other's contexts, and as many nodes drawn at random."""
        S, R, T = self.paths.shape
        chance = uniform(keys(self.seed, _WALKS, step), (batch, T + 1))
        which = _below(R, chance[..., 0])
        walks = self.paths[torch.arange(S, device=which.device).unsqueeze(1), which]
        return walks, _below(self.num_nodes, chance[..., 1:])

    def by_class(self, pairs: int, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Two labelled nodes and a sign, each (S, pairs): of one class with sign 1, of two with sign −1.

        Where all are of one class there are none of two: a pair that would be has sign 0, and no say.
        """
        n = len(self.known)
        chance = uniform(keys(self.seed, _PAIRS, step), (3, pairs)).transpose(0, 1)  # (3, S, pairs)
        positive = chance[0] < self.positives
        first = _below(n, chance[1])
        begin, count = self.begin[self.y[first]], self.count[self.y[first]]
        same = begin + _below(count, chance[2])
        other = _below(n - count, chance[2])
        other = other + torch.where(other >= begin, count, 0)  # past the class of the first
        second = torch.where(positive, same, other.clamp(max=n - 1))
        sign = torch.where(positive, 1.0, torch.where(count < n, -1.0, 0.0))
        return self.known[first], self.known[second], sign


def _below(bound: int | Tensor, chance: Tensor) -> Tensor:
    """Whole numbers from 0 to below a bound, from numbers in [0, 1)."""
    return (chance.double() * bound).long()
