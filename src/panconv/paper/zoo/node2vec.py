"""node2vec: DeepWalk whose walker looks one step back, so as to stay near (q > 1) or to leave (q < 1).

On v, come from t, it goes to x by α(t, x)·P(v, x), α = 1/p back, 1 to a neighbour of t, 1/q elsewhere; skip-gram with
negative sampling. Grover & Leskovec, node2vec: scalable feature learning for networks, KDD 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.deepwalk import first_order, from_walks, leaving
from panconv.paper.zoo.stack import Tell
from panconv.walkers import SecondOrderWalk


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    first = first_order(data, how["walk"], device)
    walk = SecondOrderWalk(first, how["p"], how["q"])
    return from_walks(walk, leaving(first), data, how, seeds, device, tell)
