"""The maximal entropy transition matrix: one formula, a table of methods, a function for each scaling."""

from panconv.met.methods import METHODS
from panconv.met.operator import MET

__all__ = ["MET", "METHODS"]
