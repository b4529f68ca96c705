"""Families of paths: G(n), where G(n)ᵢⱼ sums the weights of the paths of length n from sender j to receiver i.

What a family offers to the operator is in `family.py`; each family is a file of its own.
"""

from collections.abc import Callable

from panconv.graph import Adjacency
from panconv.paths.effective import EffectiveWalks as EffectiveWalks
from panconv.paths.family import Counts as Counts
from panconv.paths.family import PathFamily as PathFamily
from panconv.paths.self_avoiding import SelfAvoidingPaths as SelfAvoidingPaths
from panconv.paths.shortest import ShortestPaths as ShortestPaths
from panconv.paths.walks import Walks as Walks

# What a layer makes of a graph and L.
PATHS: dict[str, type] = {
    "walks": Walks,
    "shortest": ShortestPaths,
    "self_avoiding": SelfAvoidingPaths,
    "effective": EffectiveWalks,
}


def paths_from(paths: object) -> Callable[[Adjacency, int], PathFamily]:
    """What makes the paths that a user names: a family by its name, or a function of an `Adjacency` and L."""
    if callable(paths):
        return paths
    if not isinstance(paths, str) or paths not in PATHS:
        raise ValueError(f"paths must be one of {', '.join(PATHS)}, or a function of a graph and L, got {paths!r}")
    return PATHS[paths]
