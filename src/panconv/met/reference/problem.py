"""One case of the campaign: a graph, path weights, features and a question, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _no_features() -> Array:
    return np.zeros((0, 0), np.longdouble)


@dataclass(frozen=True, eq=False)
class Problem:
    """A question to M whose every number is exact, so that both the oracle and panconv are fed the same."""

    edges: Array
    """(2, E) int64: (source, target). An edge from j to i is the entry A[i, j]."""
    edge_weight: Array | None
    """(E,) float64 with the numbers as given; None for an unweighted graph."""
    edge_dtype: str | None
    """"float32" or "float64", in which repeated edges are rounded after they were added; None when unweighted."""
    num_nodes: int
    duplicates: str
    """"one": repeated edges are one edge (an edge_index without weights); "add": they add (every other container)."""
    family: str
    """"walks", "shortest", "self_avoiding" or "effective"."""
    width: float | None
    """The multiple to which effective walks round the length of each edge; None: not at all."""
    L: int
    method: int
    """1 to 7 as in the paper's appendix; on the random walks D^-1 A and D^-1/2 A D^-1/2 8 and 9, over Z 11 and 10."""
    kind: str
    """"fixed", "free", "boltzmann" or "power-law"."""
    weights: Array
    """Longdouble, as stored. k(n) or E(n): (L + 1,) or (L + 1, S). Power law: the log of T, () or (S,)."""
    temperature: float = 1.0
    """T of "boltzmann"."""
    alpha: float = 1.0
    """The exponent of "power-law"."""
    dtype: str = "float64"
    """Of the features: "float64", "float32", "float16" or "bfloat16"."""
    x: Array = field(default_factory=_no_features)
    """(N, F), or (N, S, F) with trials: the features, longdouble."""
    quantity: str = "M"
    """"M", "M.T", "to_sparse", "terms", "dx", "dw", "dedge" or "double"."""
    g: Array | None = None
    """Shaped like x: derivatives are those of s = <g, M x>."""
    directions: tuple[tuple[str, Array], ...] = ()
    """("w" | "edge" | "x", an array like that input): one for "dw" and "dedge", two for "double"."""
