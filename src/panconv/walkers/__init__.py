"""Random walks on a graph: the generic one, and the one of maximal entropy."""

from panconv.walkers.walk import KINDS, RandomWalk

__all__ = ["KINDS", "RandomWalk"]
