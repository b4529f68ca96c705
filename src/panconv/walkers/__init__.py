"""Random walks on a graph: the generic one, the one of maximal entropy, and those that look one step back."""

from panconv.walkers.second_order import SecondOrderWalk
from panconv.walkers.walk import KINDS, RandomWalk

__all__ = ["KINDS", "RandomWalk", "SecondOrderWalk"]
