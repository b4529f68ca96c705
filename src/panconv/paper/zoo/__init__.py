"""The 24 baselines of the paper's Table 2: `METHODS` has a row per baseline, and the file of that name trains it."""

from panconv.paper.zoo.registry import METHODS, Method, trainer

__all__ = ["METHODS", "Method", "trainer"]
