"""How sure an answer is: sets of classes that hold the right one as often as asked, and how far the next label is."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from panconv.base.checks import as_number, shown
from panconv.graph import Adjacency


def doubts(p: Tensor, targets: Tensor) -> Tensor:
    """1 − the probability of the right class, ascending, of rows (n, C) told out of fold; those of NaN are left out."""
    told = p.isfinite().all(1)
    return (1 - (p * targets).sum(1))[told].sort().values


def allowed(doubts: Tensor, alpha: float) -> float:
    """The doubt up to which a class belongs to a set: the ⌈(n + 1)(1 − α)⌉th of n (split conformal prediction).

    The nodes that are asked for and those that were told out of fold are taken to be exchangeable, and a head that
    learned from all labels to be no worse than those that learned from some.
    """
    level = as_number(alpha)
    if level is None or not 0 < level < 1:
        raise ValueError(f"alpha must be a number between 0 and 1, the share of sets that may miss, got {shown(alpha)}")
    place = math.ceil((len(doubts) + 1) * (1 - level))
    return float(doubts[place - 1]) if place <= len(doubts) else math.inf


def hops(adj: Adjacency, rows: np.ndarray) -> np.ndarray:
    """How many edges away the nearest of some nodes is, along their direction, (N,); infinite where none reaches."""
    N = adj.num_nodes
    crow, col = adj.crow.cpu().numpy(), adj.col.cpu().numpy()
    heard = sp.csr_matrix((np.ones(len(col)), col, crow), shape=(N, N))  # [receiver, sender]
    return dijkstra(heard.T.tocsr(), indices=rows, unweighted=True, min_only=True)


def disagreement(scores: Tensor) -> Tensor:
    """The share of seeds (N, S, C) that say another class than their mean does, (N,)."""
    voted = scores.argmax(-1)
    return (voted != scores.mean(1).argmax(-1, keepdim=True)).double().mean(1)


def sets(p: Tensor, limit: float) -> Tensor:
    """Which classes (N, C) of the probabilities are in a node's set; the likeliest is in every one."""
    within = 1 - p <= limit
    return within.index_put((torch.arange(len(p)), p.argmax(1)), torch.ones(len(p), dtype=torch.bool))
