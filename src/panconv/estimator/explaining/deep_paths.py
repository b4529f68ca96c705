"""The single paths that add most to the score of a deep model, of one layer or of two.

One layer adds for each of its paths, as the linear head does. With two, a path i → … → m → … → j goes n steps in the
second layer, up to a middle node m, and n' in the first. At fixed gates it adds

    Π · Π' · Σ_h q_h(n, m) · r_h(n', m, j),

the products of the edges' entries on either side, what the second layer takes of m at its gates, and what the first
hears there of j, both by hidden feature h and seed. For given n and m it is a product of one number for each side, so
the best are the best ways to m, each with the best from there on, which one search per middle node finds. By Cauchy and
Schwarz no path through m adds more than |q| times the largest Π'·|r|, so middle nodes come in the order of that bound,
and most of them never.

The same nodes may be met in several ways: by another m, they are another path.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from panconv.estimator.explaining.best_paths import Path, Search
from panconv.estimator.explaining.gated import Gated
from panconv.estimator.explaining.linear import at_ends, search_of
from panconv.met import MET
from panconv.met.single import PathFactors

MOST_LAYERS = 2  # of more, no bound is known that would keep a search small
Sizes = tuple[np.ndarray, np.ndarray]  # logarithms of what is added, and its signs


def best_paths(seeds: Sequence[Gated], c: int, top: int) -> list[Path]:
    """The best paths for the mean of the scores of class c; none of models of more layers.

    Args:
        seeds: the trials of a model.
        c, top: the class, and how many.
    """
    depth, row = len(seeds[0].net.layers), seeds[0].row
    search = None if depth > MOST_LAYERS or top == 0 else search_of(seeds[0].net.layers[-1].M, row)
    if search is None:
        return []
    firsts = [_First(seed, len(seeds)) for seed in seeds]
    if depth == 1:
        both = zip(firsts, seeds, strict=True)
        return search.best(*_added([first.ends(row, seed.asked(0, c)) for first, seed in both]), top)
    return _Two(seeds, firsts, search, c).best(top)


class _First:
    """What the first layer of a seed hears along single paths.

    Args:
        seed: the seed.
        share: of how many it is one.
    """

    def __init__(self, seed: Gated, share: int) -> None:
        self.M: MET = seed.net.layers[0].M
        lengths = len(self.M.weights())
        self.factors = PathFactors.of(self.M)
        sent = seed.sent.numpy() / share
        self.sent = np.broadcast_to(sent, (len(sent), lengths, sent.shape[2]))  # (N, L+1, H)
        own = seed.own()
        self.own = None if own is None else own.numpy() / share  # (N, H)

    def ends(self, row: int, q: np.ndarray) -> Sizes:
        """What a path from a node adds beside its edges, by length and end, where q (H,) is taken of that node."""
        found = at_ends(self.factors, row, (self.sent @ q).T)
        return found if self.own is None else _with(found, (0, row), float(self.own[row] @ q))

    def norms(self) -> tuple[np.ndarray, np.ndarray]:
        """|r| beside what stands before it: (L+1, N) of each end, squared; and of a path of no steps, (N,), with it."""
        square = np.square(self.sent).sum(2).T * np.square(self.factors.behind.numpy())
        before = np.exp(self.factors.log_before[0].numpy()) * self.factors.sign[0].numpy()
        alone = before * self.factors.behind[0].numpy() + self.factors.alone.numpy()
        stays = alone[:, None] * self.sent[:, 0]
        return square, np.square(stays if self.own is None else stays + self.own).sum(1)


class _Second(NamedTuple):
    """What the second layer of a seed takes of each node."""

    into: np.ndarray  # (L+1, N), by length and node: what a path there is multiplied by beside its edges
    maps: np.ndarray  # (L+1 or 1, H), what is taken of a node by a path of that length, but for its gates
    beside: np.ndarray  # (H,), of the node itself, not through M
    gates: np.ndarray  # (N, H)

    @staticmethod
    def of(seed: Gated, c: int) -> _Second:
        layer, asked = seed.net.layers[1], seed.asked(1, c)
        M = layer.M
        size, sign = at_ends(PathFactors.of(M), seed.row, np.ones((len(M.weights()), M.shape[0])))
        beside = np.zeros(layer.maps.size(1)) if layer.beside is None else layer.beside.numpy() @ asked
        if (read := seed.reads(0, c)) is not None:
            beside = beside + read.numpy()
        gates = (seed.gates[0] * seed.net.layers[0].scale).numpy()
        return _Second(sign * np.exp(size), layer.maps.numpy() @ asked, beside, gates)

    def q(self, n: int, m: int, row: int) -> np.ndarray:
        """What is taken of a middle node by paths of n steps to it."""
        taken = self.into[n, m] * self.maps[min(n, len(self.maps) - 1)]
        return self.gates[m] * (taken + self.beside if n == 0 and m == row else taken)

    def norms(self, row: int) -> np.ndarray:
        """|q|², (L+1, N)."""
        found = np.square(self.into) * (np.square(self.maps) @ np.square(self.gates).T)
        found[0, row] = np.square(self.q(0, row, row)).sum()
        return found


class _Two:
    """Paths through two layers."""

    def __init__(self, seeds: Sequence[Gated], firsts: list[_First], search: Search, c: int) -> None:
        self.row, self.firsts, self.search = seeds[0].row, firsts, search
        self.seconds = [_Second.of(seed, c) for seed in seeds]
        self.stays = sum(seed.kept(1, c) for seed in seeds) / len(seeds)  # on the path of no steps at all

    def best(self, top: int) -> list[Path]:
        found: list[Path] = []
        for bound, n, m in self._middles():
            if len(found) == top and bound <= _log(found[-1][1]):
                break
            found = heapq.nlargest(top, [*found, *self._through(n, m, top)], key=lambda path: abs(path[1]))
        return found

    def _middles(self) -> Iterator[tuple[float, int, int]]:
        """Steps and middle nodes, those first by which most could be added, with the logarithm of that."""
        with np.errstate(divide="ignore"):
            q = 0.5 * np.log(sum(second.norms(self.row) for second in self.seconds))
        bound = np.stack(self.search.reached) + q + self._ahead()
        if self.stays:
            bound[0, self.row] = np.inf
        steps, node = np.nonzero(bound > -np.inf)
        order = np.argsort(-bound[steps, node], kind="stable")
        for n, m in zip(steps[order].tolist(), node[order].tolist(), strict=True):
            yield float(bound[n, m]), n, m

    def _ahead(self) -> np.ndarray:
        """By the logarithm, (N,), the most that the first layer's paths from each node come to, by their norm."""
        squares, stays = zip(*(first.norms() for first in self.firsts), strict=True)
        before = np.max([first.factors.log_before.numpy() for first in self.firsts], axis=0)
        with np.errstate(divide="ignore"):
            most, ends = 0.5 * np.log(sum(stays)), 0.5 * np.log(sum(squares))
        edges = self.firsts[0].M.paths.adj.operand(torch.float64, False)
        receiver, sender, entry = edges.row().numpy(), edges.col.long().numpy(), edges.value.abs().log().numpy()
        for n in range(1, len(ends)):
            reached = ends[n]
            for _ in range(n):
                reached, before_it = np.full_like(reached, -np.inf), reached
                np.maximum.at(reached, receiver, entry + before_it[sender])
            most = np.maximum(most, before[n] + reached)
        return most

    def _through(self, n: int, m: int, top: int) -> Iterator[Path]:
        """The best of n steps to m and any from there on, each with each."""
        both = zip(self.firsts, self.seconds, strict=True)
        size, sign = _added([first.ends(m, second.q(n, m, self.row)) for first, second in both])
        if n == 0 and m == self.row and self.stays:
            size, sign = _with((size, sign), (0, m), self.stays)
        there = np.full((len(self.search.reached), len(size[0])), -np.inf)
        there[n, m] = 0.0
        ways = self.search.best(there, np.ones_like(there), top)
        ahead = Search(self.firsts[0].M.paths.adj, m, len(size) - 1, self.search.kind).best(size, sign, top)
        return ((way + rest[1:], value * added) for way, value in ways for rest, added in ahead)


def _log(value: float) -> float:
    return math.log(abs(value)) if value else -math.inf


def _with(sizes: Sizes, at: tuple[int, int], value: float) -> Sizes:
    """With something more in one place."""
    size, sign = (each.copy() for each in sizes)
    value += float(sign[at] * np.exp(size[at]))
    size[at], sign[at] = _log(value), np.sign(value)
    return size, sign


def _added(parts: list[Sizes]) -> Sizes:
    """The sum of some, by the logarithm of its size, and its sign."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.stack([size for size, _ in parts])
    largest = sizes.max(0)
    finite = np.where(largest > -np.inf, largest, 0.0)
    total = (np.exp(sizes - finite) * np.stack([sign for _, sign in parts])).sum(0)
    with np.errstate(divide="ignore"):
        return np.log(np.abs(total)) + finite, np.sign(total)
