"""DeepWalk: random walks are read as sentences; skip-gram gives each node a vector, logistic regression its class.

max Σ log Pr(context | node) over windows on random walks, Pr by hierarchical softmax. With ``walk="maximal-entropy"``
the walks are those of maximal entropy. Perozzi, Al-Rfou & Skiena, DeepWalk, KDD 2014.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.logistic import classified
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.skipgram import Walker, embedded
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.walkers.walk import RandomWalk, walk_named

# What logistic regression is given of the vectors (S, N, d).
SCALES: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda z: z,
    "unit": lambda z: F.normalize(z, dim=-1),
    "standard": lambda z: (z - z.mean(1, keepdim=True)) / z.std(1, keepdim=True),
}


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    return from_walks(*first_order(data, how["walk"], device), data, how, seeds, tell)


def first_order(data: Data, name: str, device: str) -> tuple[RandomWalk, Tensor]:
    """The walk of that name on the graph of the data, by its weights where it has any, and the nodes that it can leave:
    a walk that stays where it is has nothing to tell."""
    walk = walk_named(graph(data, device), name)
    return walk, torch.unique(walk.transition.row)


def from_walks(walk: Walker, starts: Tensor, data: Data, how: How, seeds: Seeds, tell: Tell) -> Tensor:
    """Vectors from walks, and classes from vectors, (S, N)."""
    z = SCALES[how["scale"]](embedded(walk, starts, how, seeds, tell))
    return classified(z, data.y, data.train_mask, data.val_mask)
