"""Edges as a table lists them, one by one, made into an `edge_index`: each once, without self-loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from panconv.data.remarks import Remarks, counted

Where = Callable[[int], str]  # a row in words


def edges_from(
    sources: np.ndarray,  # (E,) node numbers
    targets: np.ndarray,  # (E,)
    weights: np.ndarray | None,
    directed: bool,
    remarks: Remarks,
    where: Where,
) -> tuple[Tensor, Tensor | None]:
    """An `edge_index`, both directions of every edge unless they are directed, and the weights.

    Rows of the same edge are one, and their weights add. Where a graph is undirected and every edge stands in the table
    in both directions with the same weight, that is one edge written twice, not two.
    """
    row = np.arange(len(sources))
    loops = sources == targets
    if loops.any():
        what = f"{where(int(loops.argmax()))}: {counted(int(loops.sum()), 'edge')} from a node to itself"
        remarks.mend(what, "left out, since every node hears itself by its path of length 0")
        sources, targets, row = sources[~loops], targets[~loops], row[~loops]
        weights = None if weights is None else weights[~loops]
    pairs, totals, again = _merged(sources, targets, weights)
    if len(again):
        what = f"{where(int(row[again].min()))}: {counted(len(again), 'edge')} that stood there before"
        remarks.mend(what, "counted once" if weights is None else "their weights are added")
    if weights is None:
        totals = np.ones(len(pairs))  # an edge that is repeated is one edge
    if not directed and len(pairs):
        pairs, totals = _both_ways(pairs, totals, remarks)
    return torch.from_numpy(np.ascontiguousarray(pairs.T)), None if weights is None else _stored(totals)


def _stored(totals: np.ndarray) -> Tensor:
    """Weights as float32, if that can hold them."""
    found = torch.from_numpy(totals).float()
    lost = ~found.isfinite() | ((found == 0) & torch.from_numpy(totals != 0))
    if bool(lost.any()):
        wrong = totals[int(lost.int().argmax())]
        raise ValueError(
            f"the weights of an edge add up to {wrong:g}, which float32 cannot hold: divide all weights by one number"
        )
    return found


def _merged(
    sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Different pairs (E, 2), sorted by target, the sum of their weights, and the rows that repeat another."""
    if not len(sources):
        return np.empty((0, 2), np.int64), np.empty(0), np.empty(0, np.int64)
    key = targets.astype(np.int64) * (int(sources.max()) + 1) + sources
    order = key.argsort()
    key = key[order]
    first = np.concatenate([[True], key[1:] != key[:-1]])
    group = np.cumsum(first) - 1
    ones = np.ones(len(order)) if weights is None else weights[order]
    former = np.minimum.reduceat(order, np.flatnonzero(first))  # the row in which each pair stands first
    pairs = np.stack([sources[former], targets[former]], 1).astype(np.int64)
    return pairs, np.bincount(group, ones), order[order != former[group]]


def _both_ways(pairs: np.ndarray, totals: np.ndarray, remarks: Remarks) -> tuple[np.ndarray, np.ndarray]:
    """Every edge in both directions."""
    low, high = pairs.min(1), pairs.max(1)
    merged, sums, twins = _merged(low, high, totals)
    if len(twins):
        if _is_symmetric(low, high, totals):
            sums = sums / _merged(low, high, None)[1]
        else:
            what = f"{counted(len(twins), 'edge')} in both directions with unequal weights"
            remarks.mend(what, "the two are added, unless the graph is read with directed=True")
    both = np.concatenate([merged, merged[:, ::-1]])
    out, weights, _ = _merged(both[:, 0], both[:, 1], np.concatenate([sums, sums]))
    return out, weights


def _is_symmetric(low: np.ndarray, high: np.ndarray, totals: np.ndarray) -> bool:
    """Whether each edge that stands there in both directions has one weight."""
    order = (low.astype(np.int64) * (int(high.max()) + 1) + high).argsort()
    low, high, totals = low[order], high[order], totals[order]
    same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    return bool((totals[1:][same] == totals[:-1][same]).all())
