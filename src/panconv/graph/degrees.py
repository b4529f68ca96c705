"""Degrees as a scaling divides by them: 1/0 is 0 where no edge arrives, and what cancels is refused."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import may_look

SMALLEST, LARGEST = 1e-300, 1e300  # weights, and products of them, that float64 holds to full precision


class UnscalableError(ValueError):
    """A sum that a scaling divides by is negative, or 0 by cancellation: another method may take the graph."""


def inverse_degrees(degree: Tensor, bulk: Tensor | None, power: float, name: str) -> Tensor:
    """degree^power of the rows of a matrix, (N,).

    Args:
        degree: the row sums, (N,) float64.
        bulk: the row sums without signs, where weights are negative: only they tell whether an edge arrives.
        power: −1 or −½.
        name: of the matrix, in messages.
    """
    zero = (degree if bulk is None else bulk) == 0
    if bulk is not None and may_look(bulk):
        _check(degree.detach(), bulk, name)
    return inverse(degree, -power, zero)


def inverse(v: Tensor, power: float, zero: Tensor | None = None) -> Tensor:
    """v^−power, where 1/0 is 0; `zero` says which are 0, where that is known better than by v."""
    zero = v == 0 if zero is None else zero
    v = v.masked_fill(zero, 1)
    exponent = v.detach().log2().round()  # a power of v itself is beyond float64 in the derivatives of a root
    root = (v * torch.exp2(-exponent)) ** -power * torch.exp2(-power * exponent)
    return root.masked_fill(zero, 0)


class Facts(NamedTuple):
    """What is known of a graph's values. Growth and decay only hasten a decision, and never change a result."""

    growth: float | None = math.inf  # at least the largest row sum of one step, signs aside; None: the longest row's
    # entries; NaN: to be found when it is asked for
    decay: float = 0.0  # at most the smallest entry that is not 0, signs aside
    signed: bool = False  # whether a weight is < 0
    positive: bool = True  # whether none is ≤ 0
    magnitude: Tensor | None = None  # (nnz,) what |values| were before A+I added to them, where they are signed
    undirected: bool | None = None  # whether the graph is, where that of the matrix does not tell


def checked_facts(value: Tensor, row: Tensor, N: int) -> Facts:
    """The facts of the values of a graph.

    Refuses those so large or small that float64 would not hold what divides by them.
    """
    size = value.abs().double()
    sums = size.new_zeros(N).index_add(0, row, size)
    least = size.where(size > 0, torch.inf).min()
    known = torch.stack([sums.max(), least, (value < 0).any().double(), (value > 0).all().double()]).tolist()
    if not known[0] <= LARGEST or known[1] < SMALLEST:
        which = f"is as small as {known[1]:.3g}" if known[0] <= LARGEST else f"adds up to {known[0]:.3g} at a node"
        raise ValueError(
            f"edge_weight {which}: multiply all weights by a common factor, so that each sum is at most {LARGEST:g} "
            f"and each weight that is not 0 at least {SMALLEST:g}"
        )
    return Facts(known[0], known[1], bool(known[2]), bool(known[3]))


def _check(degree: Tensor, bulk: Tensor, name: str) -> None:
    """Refuses row sums that are negative, or 0 although edges arrive."""
    rounding = 4 * torch.finfo(degree.dtype).eps * bulk
    bad = (degree <= rounding) & (bulk > 0)
    if bool(bad.any()):
        node = int(bad.nonzero()[0])
        what = f"is {degree[node]:.3g}" if degree[node] < -rounding[node] else "cancels to 0"
        raise UnscalableError(
            f"edge_weight makes a row of {name} whose sum {what}, at node {node}, and it divides by that"
        )
