"""The 24 baselines of the paper's Table 2: `METHODS` has a row for each, and a file of that name how it is trained."""

from panconv.paper.zoo.registry import METHODS, Method, trainer

__all__ = ["METHODS", "Method", "trainer"]
