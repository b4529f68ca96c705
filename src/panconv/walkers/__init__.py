"""Random walks on a graph: the generic one, the one of maximal entropy, and those that look one step back."""

from panconv.walkers.second_order import SecondOrderWalk as SecondOrderWalk
from panconv.walkers.walk import KINDS as KINDS
from panconv.walkers.walk import RandomWalk as RandomWalk
