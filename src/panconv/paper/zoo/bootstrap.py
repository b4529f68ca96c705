"""Bootstrap: a linear diffusion made non-linear by training itself. Labels spread, F ← α·S·F + (1−α)·Y with
S = D^−½AD^−½; the nodes whose best class leads the second by most become seeds, Y, too; again, with more each round.

Buchnik & Cohen, Bootstrapped graph diffusions: exposing the power of nonlinearity, SIGMETRICS 2018. It uses no
features; the round to stop at is chosen by the validation nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.classical import classes, labels, operator
from panconv.paper.zoo.lp import propagated
from panconv.paper.zoo.stack import How, Seeds, Tell, silent


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    S, (_, hot) = operator(data, how["base"], symmetrise=True), labels(data)
    val, y = data.val_mask.cpu().numpy(), data.y.cpu().numpy()
    best, most = hot, -1
    for done, scores in enumerate(bootstrapped(S, hot, how)):
        right = int((classes(scores, 1)[0].numpy() == y)[val].sum())  # of what would be predicted
        if right > most:  # of equal rounds the first
            best, most = scores, right
        tell(done / max(how["rounds"], 1))
    return classes(best, len(seeds))


def bootstrapped(S: sp.csr_matrix, hot: np.ndarray, how: How) -> Iterator[np.ndarray]:
    """The scores (N, C) of the plain diffusion, then those of each round.

    The seeds that were given stay. All others are chosen anew each round, so that an early mistake can be taken back:
    as many as `growth` times N times the number of the round.
    """
    seeds, free = hot, hot.sum(1) == 0
    for done in range(how["rounds"] + 1):
        held = np.flatnonzero(seeds.any(1)) if how["hold"] else np.array([], dtype=int)
        scores = propagated(S, seeds, held, how["steps"], how["alpha"])
        if how["balance"]:  # a class does not win by the number of its seeds
            scores = scores / np.maximum(seeds.sum(0), 1)
        yield scores
        led = scores / np.maximum(scores.sum(1, keepdims=True), 1e-300) if how["lead"] == "share" else scores
        nodes, found = surest(led, free, (done + 1) * how["growth"] * len(hot), how["quota"] == "found")
        if len(nodes) == int((scores.any(1) & free).sum()):  # all are seeds
            break
        seeds = hot.copy()
        seeds[nodes, found] = how["trust"]


def surest(scores: np.ndarray, free: np.ndarray, count: float, as_found: bool) -> tuple[np.ndarray, np.ndarray]:
    """In each class the nodes that lead by the largest margin, and that class.

    Args:
        scores: (N, C), not negative.
        free: which nodes may be chosen, (N,).
        count: how many over all classes: of each as large a part as it has of the nodes, or (not `as_found`) the same.
        as_found: see `count`.
    """
    C, best, reached = scores.shape[1], scores.argmax(1), scores.any(1)
    second, first = np.partition(scores, C - 2, axis=1)[:, -2:].T
    margin = first - second
    share = np.bincount(best[reached], minlength=C) / max(reached.sum(), 1) if as_found else np.full(C, 1 / C)
    nodes = np.flatnonzero(free & (margin > 0))
    nodes = nodes[np.lexsort((-margin[nodes], best[nodes]))]  # by class, the surest first
    sizes = np.bincount(best[nodes], minlength=C)
    rank = np.arange(len(nodes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    nodes = nodes[rank < (count * share).astype(int)[best[nodes]]]
    return nodes, best[nodes]
