"""DeepWalk: random walks are read as sentences; skip-gram gives each node a vector, logistic regression its class.

max Σ log Pr(context | node) over windows on random walks, Pr by hierarchical softmax. With ``walk="maximal-entropy"``
the walks are those of maximal entropy. Perozzi, Al-Rfou & Skiena, DeepWalk, KDD 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.logistic import classified
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.skipgram import Walker, embedded
from panconv.paper.zoo.stack import Tell
from panconv.walkers.walk import RandomWalk, walk_named

# What logistic regression is given of the vectors (S, N, d).
SCALES: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda z: z,
    "unit": lambda z: F.normalize(z, dim=-1),
    "standard": lambda z: (z - z.mean(1, keepdim=True)) / z.std(1, keepdim=True),
}


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    walk = first_order(data, how["walk"], device)
    return from_walks(walk, leaving(walk), data, how, seeds, device, tell)


def first_order(data: Data, name: str, device: str) -> RandomWalk:
    """The walk of that name on the graph of the data, by its weights where it has any."""
    return walk_named(graph(data, device), name)


def leaving(walk: RandomWalk) -> Tensor:
    """The nodes that a walk can leave: one that stays where it is has nothing to tell."""
    return torch.unique(walk.transition.row)


def from_walks(
    walk: Walker,
    starts: Tensor,
    data: Data,
    how: Mapping[str, Any],
    seeds: Sequence[int],
    device: str,
    tell: Tell | None = None,
) -> Tensor:
    """Vectors from walks, and classes from vectors, (S, N)."""
    z = SCALES[how["scale"]](embedded(walk, starts, how, seeds, tell))
    y, train, val = (each.to(device) for each in (data.y, data.train_mask, data.val_mask))
    return classified(z, y, train, val).cpu()
