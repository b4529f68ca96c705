"""The part of a graph that is drawn about a node: a tree of those that matter, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from panconv.graph import Adjacency

_MOST_EDGES = 200  # that are drawn beside the tree


class Neighbourhood(NamedTuple):
    """Nodes by their places in `rows`, the centre at place 0 and each after the one it hangs from."""

    rows: list[int]
    parents: list[int]  # the place of the node that is one step nearer; −1 for the centre
    hops: list[int]
    edges: list[tuple[int, int]]  # pairs of places, each pair once
    reached: int  # how many nodes there are within as many hops, drawn or not


def around(
    adj: Adjacency, centre: int, hops: int, walks: Iterable[Sequence[int]], wanted: Iterable[int], most: int
) -> Neighbourhood:
    """What is drawn of the nodes that `centre` hears.

    Args:
        adj: the graph.
        centre: a row.
        hops: how many steps away.
        walks: rows from the centre on, the walk that matters most first; nodes hang from one another as these go.
        wanted: other rows that matter, in their order.
        most: how many nodes at most. Neighbours of the centre fill up what is left.
    """
    crow, col = adj.crow.cpu().numpy(), adj.col.cpu().numpy()
    walks = [*walks]
    distance, before = _search(crow, col, centre, hops)
    for walk in reversed(walks):  # the first has the last word
        for u, v in pairwise(walk):
            if 0 <= distance[u] == distance[v] - 1:
                before[v] = u
    kept = {centre: None}
    for row in [*(row for walk in walks for row in walk), *wanted]:
        if distance[row] >= 0:
            chain = _chain(row, before)
            if len(kept.keys() | chain) <= most:
                kept.update(dict.fromkeys(chain))
    near = col[crow[centre] : crow[centre + 1]].tolist()
    kept.update(
        dict.fromkeys([row for row in near if row not in kept and distance[row] > 0][: max(0, most - len(kept))])
    )
    rows = sorted(kept, key=lambda row: int(distance[row]))  # a stable sort: those that matter most stay first
    place = {row: i for i, row in enumerate(rows)}
    parents = [-1 if row == centre else place[int(before[row])] for row in rows]
    away = [int(distance[row]) for row in rows]
    return Neighbourhood(rows, parents, away, _between(crow, col, place), int((distance >= 0).sum()))


def _search(crow: np.ndarray, col: np.ndarray, centre: int, hops: int) -> tuple[np.ndarray, np.ndarray]:
    """How many steps away each node is, (N,), −1 beyond `hops`, and the node before it on a shortest way there."""
    distance, before = np.full((2, len(crow) - 1), -1)
    distance[centre], edge = 0, np.array([centre])
    for step in range(1, hops + 1):
        counts = crow[edge + 1] - crow[edge]
        starts = np.repeat(crow[edge] - np.concatenate([[0], counts.cumsum()[:-1]]), counts)
        heard, by = col[starts + np.arange(counts.sum())], np.repeat(edge, counts)
        new = distance[heard] < 0
        edge, first = np.unique(heard[new], return_index=True)
        if not len(edge):
            break
        distance[edge], before[edge] = step, by[new][first]
    return distance, before


def _chain(row: int, before: np.ndarray) -> list[int]:
    """The nodes from the centre to a row."""
    chain = [row]
    while before[chain[-1]] >= 0:
        chain.append(int(before[chain[-1]]))
    return chain[::-1]


def _between(crow: np.ndarray, col: np.ndarray, place: dict[int, int]) -> list[tuple[int, int]]:
    """The edges between nodes that are drawn, each pair of places once."""
    pairs, drawn = set(), np.array([*place])
    for row, i in place.items():
        heard = col[crow[row] : crow[row + 1]]
        for other in heard[np.isin(heard, drawn)].tolist():
            j = place[other]
            if i != j:
                pairs.add((min(i, j), max(i, j)))
    return sorted(pairs)[:_MOST_EDGES]
