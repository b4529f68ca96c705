"""The 24 baselines of the paper's Table 2 and twelve more: `METHODS` has a row per baseline, its file trains it."""

from panconv.paper.zoo.method import Method
from panconv.paper.zoo.registry import METHODS, trainer

__all__ = ["METHODS", "Method", "trainer"]
