"""node2vec: DeepWalk whose walker looks one step back, so as to stay near (q > 1) or to leave (q < 1).

On v, come from t, it goes to x by α(t, x)·P(v, x), α = 1/p back, 1 to a neighbour of t, 1/q elsewhere; skip-gram with
negative sampling. Grover & Leskovec, node2vec: scalable feature learning for networks, KDD 2016.
"""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.deepwalk import first_order, from_walks
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.walkers import SecondOrderWalk


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    walk, starts = first_order(data, how["walk"], device)
    return from_walks(SecondOrderWalk(walk, how["p"], how["q"]), starts, data, how, seeds, tell)
