"""Families of paths: G(n), where G(n)ᵢⱼ sums the weights of the paths of length n from sender j to receiver i.

What a family offers to the operator is in `family.py`; each family is a file of its own.
"""

import functools
import inspect
from collections.abc import Callable

from panconv.base.near import meant
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
# What each takes beside them; looked up here, since the compiler does not trace a look at a signature.
_OPTIONS = {kind: set(inspect.signature(made).parameters) - {"adj", "L"} for kind, made in PATHS.items()}


def paths_from(paths: object) -> Callable[[Adjacency, int], PathFamily]:
    """What makes the paths that a user names.

    Args:
        paths: a family by its name; with options, as plain JSON, ``{"kind": "effective", "width": 0.1}``; or a function
            of an `Adjacency` and L.
    """
    if callable(paths):
        return paths
    options = dict(paths) if isinstance(paths, dict) else {"kind": paths}
    kind = options.pop("kind", None)
    if not isinstance(kind, str) or kind not in PATHS:
        among = f"{', '.join(PATHS)}, or a function of a graph and L"
        raise ValueError(f"paths must be one of {among}, got {paths!r}{meant(kind, PATHS)}")
    known = _OPTIONS[kind]
    if odd := sorted(options.keys() - known):
        raise ValueError(
            f"paths of kind {kind!r} have no option {odd[0]!r}, only: {', '.join(sorted(known)) or 'none'}"
        )
    return functools.partial(PATHS[kind], **options) if options else PATHS[kind]


def family_of(paths: object) -> type[PathFamily]:
    """What is known of the paths that a user names before there is a graph; of a function's, nothing in particular."""
    made = paths_from(paths)
    known = made.func if isinstance(made, functools.partial) else made
    return known if isinstance(known, type) and issubclass(known, PathFamily) else PathFamily
