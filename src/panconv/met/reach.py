"""How far a node looks: the hops within which everything lies that its row of M depends on."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from panconv.met.methods import METHODS

_ROOTED = ("Â", "D^−½AD^−½")  # bases that divide by the root of the sender's degree as well


class Reach(NamedTuple):
    """How far a layer looks, in hops against the edges: features come from `steps`, their scalings from `beyond` more.

    In a stack the steps of the layers add up, while `beyond` counts once: the layer before looks further anyway.
    """

    steps: float  # a whole number, or infinity for what depends on the whole graph
    beyond: int = 0

    @property
    def hops(self) -> float:
        return self.steps + self.beyond


WHOLE = Reach(math.inf)


@functools.lru_cache(maxsize=256)  # asked whenever a model goes through its modules
def reach_of(method: int, L: int, *, degrees: bool = False, counts: bool = False) -> Reach:
    """How far M looks, whatever the paths: L steps, and from there to what the senders' own scalings are made of.

    A scaling of rows alone is made of the paths that arrive, and adds nothing. The root of a sender's degree, in Â and
    D^−½AD^−½, is made of the edges that arrive at it, one hop further; its Z in method 2 and its D_n in method 6 of all
    the paths to it, which are as long again.

    Args:
        method: 1 … 11.
        L: the longest path length.
        degrees: whether the degrees are known from the whole graph.
        counts: whether D_n, and so Z, are.

    >>> [int(reach_of(method, L=3).hops) for method in METHODS]
    [3, 6, 3, 3, 4, 6, 4, 3, 4, 4, 3]
    """
    rule, beyond = METHODS[method], 0
    if rule.base in _ROOTED and not degrees:
        beyond += 1
    if "sym" in (rule.per_length, rule.overall) and not counts:
        beyond += L
    return Reach(L, beyond if L else 0)
