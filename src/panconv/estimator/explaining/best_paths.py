"""The single paths that add most to a score, by a best-first search with an exact bound.

What a path i = v₀, v₁ … vₙ = j adds is a product of its edges' entries and of a number for its length and its end. With
F_m(v) the largest product of m edges on a way from i to v, found once by dynamic programming,

    F_m(v) = max_u F_{m−1}(u) · |A_uv|,

a path that is known from some v to its end adds at most F_m(v) times what it has. Some walk, or shortest path, adds
just that, so the search, from the ends back to i, goes no way in vain: the best path costs O(L·E), each further one
about L nodes and their edges, where E counts the edges within L steps of i. Of self-avoiding paths the bound is that of
walks.

All products are held by their logarithms: long paths leave floating point.
"""

from __future__ import annotations

import heapq
import math
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import torch

from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paths.formed import extend

Path = tuple[tuple[int, ...], float]  # from the node that hears to the one that is heard, and what it adds
EXACT = ("walks", "shortest")  # where each bound is reached


class Branch(NamedTuple):
    """Ways to go on from the same tail, the best first."""

    bound: np.ndarray  # (b,), logarithms of what a path may still add
    node: np.ndarray  # (b,)
    left: np.ndarray  # (b,), steps from i to that node
    weight: np.ndarray  # (b,), the logarithm of what the tail has, from that node on
    sign: np.ndarray  # (b,)
    tail: tuple[int, ...]  # behind that node

    def best(self, most: int | None) -> Branch:
        """In order, without those that add nothing; all of them or the best."""
        able = np.flatnonzero(self.bound > -np.inf)
        if most is not None and len(able) > most:
            able = able[np.argpartition(-self.bound[able], most - 1)[:most]]
        order = able[np.argsort(-self.bound[able], kind="stable")]
        bound, node, left, weight, sign = (each[order] for each in self[:-1])
        return Branch(bound, node, left, weight, sign, self.tail)


class Search:
    """The paths from a node, within L steps.

    Args:
        base: the matrix whose entries are multiplied along a path.
        start: i.
        L: the most steps.
        kind: "walks", "shortest" or "self_avoiding".
    """

    def __init__(self, base: Adjacency, start: int, L: int, kind: str) -> None:
        self.kind, self.start = kind, start
        self._rows, self._columns = (base.operand(torch.float64, transposed) for transposed in (False, True))
        first = np.full(base.num_nodes, -np.inf)
        first[start] = 0.0
        self._seen = first > -np.inf
        self.reached = [first]  # F₀ … F_L, (N,) each, by their logarithms
        for _ in range(L):
            self.reached.append(self._step(self.reached[-1]))

    @property
    def near(self) -> np.ndarray:
        """The nodes that paths lead to, in order."""
        return np.flatnonzero(np.max(self.reached, axis=0) > -np.inf)

    def best(self, size: np.ndarray, sign: np.ndarray, top: int) -> list[Path]:
        """The paths that add most, by size; fewer where there are no more.

        Args:
            size: (L+1, N), what a path of each length to each node adds beside its edges, by the logarithm.
            sign: (L+1, N), of that.
            top: how many.
        """
        most = top if self.kind in EXACT else None
        bound = np.stack(self.reached) + size
        steps, node = np.nonzero(bound > -np.inf)
        ends = Branch(bound[steps, node], node, steps, size[steps, node], sign[steps, node], ()).best(most)
        heap: list[Any] = []
        found: list[Path] = []
        order = count()

        def keep(branch: Branch, at: int) -> None:
            if at < len(branch.bound):
                heapq.heappush(heap, (-branch.bound[at], next(order), branch, at))

        keep(ends, 0)
        while heap and len(found) < top:
            _, _, branch, at = heapq.heappop(heap)
            keep(branch, at + 1)
            if branch.left[at] == 0:
                value = float(branch.sign[at]) * math.exp(branch.weight[at])
                found.append(((int(branch.node[at]), *branch.tail), value))
            else:
                keep(self._before(branch, at).best(most), 0)
        return sorted(found, key=lambda path: -abs(path[1]))

    def _step(self, before: np.ndarray) -> np.ndarray:
        """F_m from F_{m−1}."""
        at = np.flatnonzero(before > -np.inf)
        path, node, log, _ = _along(self._rows, at)
        found = np.full_like(before, -np.inf)
        np.maximum.at(found, node, before[at][path] + log)
        if self.kind == "shortest":
            found[self._seen] = -np.inf
            self._seen |= found > -np.inf
        elif self.kind == "self_avoiding":
            found[self.start] = -np.inf
        return found

    def _before(self, branch: Branch, at: int) -> Branch:
        """The ways by which a tail may begin one node earlier."""
        tail, left = (int(branch.node[at]), *branch.tail), branch.left[at] - 1
        _, node, log, sign = _along(self._columns, np.array(tail[:1]))
        weight, bound = log + branch.weight[at], self.reached[left][node]
        if self.kind == "self_avoiding":
            bound = np.where(np.isin(node, tail), -np.inf, bound)
        return Branch(bound + weight, node, np.full(len(node), left), weight, sign * branch.sign[at], tail)


def _along(matrix: CSR, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The entries in the rows of some nodes: which of the nodes, the column, the logarithm of its size, its sign."""
    path, entry = extend(matrix, torch.from_numpy(nodes))
    value = matrix.value[entry].numpy()
    with np.errstate(divide="ignore"):
        return path.numpy(), matrix.col[entry].long().numpy(), np.log(np.abs(value)), np.sign(value)
