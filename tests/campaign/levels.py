"""The factors of the campaign, their levels, and which pairs of levels go together.

A case takes one level of each factor. A pair of levels is *legal* unless one of the rules below says that it has no
meaning, costs too much, or must be refused; refusals are drawn on purpose by a share of the cases of their own.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Iterator
from itertools import accumulate, combinations
from typing import Any

from panconv.met.reference.transition import METHODS

Levels = dict[str, str]
OVER_Z = tuple(str(method) for method, (_, _, overall) in METHODS.items() if overall)
WITHOUT_Z = tuple(str(method) for method, (_, _, overall) in METHODS.items() if not overall)

# Each level's weight in the draw. What costs much is drawn less, yet often enough for every pair in a full run.
FACTORS: dict[str, dict[str, float]] = {
    "L": {"0": 0.075, "1": 0.16, "2": 0.21, "3": 0.22, "7": 0.21, "120": 0.055, "1000": 0.04},
    "family": {"walks": 0.5, "shortest": 0.14, "self_avoiding": 0.14, "effective": 0.16},
    "method": {str(m): 1.0 for m in METHODS},
    "weights": {"fixed": 0.14, "fixed, negative": 0.12, "free": 0.2, "boltzmann": 0.4, "power-law": 0.16},
    "energies": {"ordinary": 0.15, "offset": 0.45, "T = 1e-6": 0.15, "T = 1e6": 0.15, "gap": 0.3},
    "graph": {
        "random": 0.25,
        "isolated nodes": 0.2,
        "self-loops": 0.18,
        "disconnected": 0.17,
        "empty": 0.08,
        "one node": 0.08,
    },
    "direction": {"symmetric": 0.4, "directed": 0.32, "one-way": 0.28},
    "edge weights": {
        "none": 0.16,
        "ones": 0.12,
        "positive": 0.18,
        "±1": 0.14,
        "signed": 0.14,
        "zeros": 0.13,
        "wide": 0.13,
    },
    "edge dtype": {"none": 1.0, "float32": 1.0, "float64": 1.0},
    "quantity": {
        "M": 0.17,
        "M.T": 0.13,
        "to_sparse": 0.11,
        "terms": 0.11,
        "dx": 0.11,
        "dw": 0.13,
        "dedge": 0.13,
        "double": 0.11,
    },
    "container": {
        "edge_index": 0.14,
        "edge_index, repeated": 0.14,
        "torch COO": 0.09,
        "torch COO, repeated": 0.11,
        "torch CSR": 0.09,
        "torch CSC": 0.09,
        "SciPy COO": 0.09,
        "SciPy COO, repeated": 0.14,
        "SciPy CSR": 0.09,
        "SciPy CSR, repeated": 0.14,
    },
    "dtype": {"float64": 0.3, "float32": 0.3, "float16": 0.2, "bfloat16": 0.2},
    "given as": {"float64": 1.0, "float32": 1.0, "numbers": 1.0},
    "memory": {"None": 1.0, "low": 1.0},
    "trials": {"None": 0.65, "S": 0.35},
    "features": {"1": 0.31, "1e20": 0.23, "1e-20": 0.23, "mixed": 0.23},
}
# A case of L = 1000 or 120 takes as long as dozens of others: there the dear levels are drawn less, the rare ones more.
_AT_LENGTH = {
    "family": {"walks": 1.0, "effective": 0.1},
    "method": {"6": 0.75},
    "energies": {"ordinary": 0.05, "offset": 0.6, "T = 1e-6": 0.15, "T = 1e6": 0.15, "gap": 0.35},
    "graph": {"empty": 0.12, "one node": 0.12},
    "quantity": {
        **{"M": 0.2, "M.T": 0.16, "to_sparse": 0.17, "terms": 0.17},
        **{"dx": 0.15, "dw": 0.17, "dedge": 0.14, "double": 0.09},
    },
    "container": {name: 0.17 if name.endswith("repeated") else 0.1 for name in FACTORS["container"]},
    "weights": {"boltzmann": 0.46, "free": 0.24},
}
AT_LENGTH = {L: {f: {**FACTORS[f], **some} for f, some in _AT_LENGTH.items()} for L in ("120", "1000")}
REFUSED_SHARE = 0.065  # of all cases: a pair that must be refused, drawn on purpose
REPEATED = tuple(name for name in FACTORS["container"] if name.endswith("repeated"))
MATRICES = tuple(name for name in FACTORS["container"] if not name.startswith("edge_index"))
DIFFERENTIABLE = ("edge_index", "edge_index, repeated", "torch COO", "torch COO, repeated")
SIGNED = ("±1", "signed")

Rule = tuple[str, tuple[str, ...], str, tuple[str, ...], str]
SENSELESS: list[Rule] = [
    ("weights", ("fixed", "fixed, negative"), "quantity", ("dw",), "fixed weights have no gradient"),
    ("edge weights", ("none",), "quantity", ("dedge",), "there is no edge weight"),
    ("edge weights", ("none",), "edge dtype", ("float32", "float64"), "there is no edge weight"),
    ("edge weights", tuple(FACTORS["edge weights"])[1:], "edge dtype", ("none",), "an edge weight has a dtype"),
    ("edge weights", ("none",), "container", REPEATED[1:], "repeated entries add, so there are weights"),
    ("edge dtype", ("none",), "quantity", ("dedge",), "there is no edge weight"),
    ("edge dtype", ("none",), "container", REPEATED[1:], "repeated entries add, so there are weights"),
    (
        *("quantity", ("dedge",), "container"),
        tuple(name for name in FACTORS["container"] if name not in DIFFERENTIABLE),
        "no gradient passes through this container",
    ),
    ("family", ("effective",), "quantity", ("terms",), "there is no term per number of steps"),
    ("graph", ("empty",), "edge weights", ("ones", "±1", "signed", "zeros", "wide"), "there are no edges"),
    ("graph", ("empty",), "container", REPEATED, "there are no edges"),
    ("graph", ("empty",), "quantity", ("dedge",), "there are no edges"),
    ("graph", ("empty", "one node"), "direction", ("directed", "one-way"), "no two nodes are joined"),
    ("energies", ("offset", "gap"), "weights", ("fixed", "fixed, negative", "free", "power-law"), "no energies"),
    ("energies", ("T = 1e-6", "T = 1e6"), "weights", ("fixed", "fixed, negative", "free"), "no temperature"),
    ("energies", ("gap",), "L", ("0",), "one length has no gap"),
    ("energies", ("offset",), "method", WITHOUT_Z, "there is no Z to divide it out"),
    ("energies", ("offset", "gap"), "family", ("effective",), "effective lengths have no energies"),
    ("family", ("effective",), "weights", ("free",), "refused for two reasons at once"),
]
COSTLY: list[Rule] = [
    ("method", ("6",), "L", ("1000",), "L²/2 products"),
    ("family", ("effective",), "L", ("1000",), "walks on another graph, with weights that are never cached"),
    ("quantity", ("double",), "L", ("1000",), "seconds each"),
    ("family", ("shortest", "self_avoiding"), "L", ("120", "1000"), "formed paths of graphs this small end before"),
]
REFUSED: list[Rule] = [
    ("family", ("effective",), "method", tuple(map(str, METHODS))[2:], "methods 1 and 2 alone"),
    ("family", ("effective",), "weights", ("fixed", "fixed, negative", "boltzmann"), "a power law alone"),
    ("family", ("effective",), "edge weights", ("±1", "signed", "zeros"), "a length is positive"),
    ("family", ("effective",), "trials", ("S",), "one temperature at a time"),
    ("weights", ("free",), "method", OVER_Z, "free weights may drive Z through 0"),
    ("quantity", ("to_sparse",), "trials", ("S",), "one matrix"),
]

Pair = tuple[str, str, str, str]  # factor, level, factor, level, in the order of FACTORS


def _pairs_of(rules: list[Rule]) -> dict[Pair, str]:
    order = list(FACTORS)
    found: dict[Pair, str] = {}
    for f, ones, g, others, why in rules:
        for a in ones:
            for b in others:
                found[(f, a, g, b) if order.index(f) < order.index(g) else (g, b, f, a)] = why
    return found


ILLEGAL = _pairs_of(SENSELESS + COSTLY)
MUST_REFUSE = _pairs_of(REFUSED)
LEGAL: list[Pair] = [
    pair
    for f, g in combinations(FACTORS, 2)
    for a in FACTORS[f]
    for b in FACTORS[g]
    if (pair := (f, a, g, b)) not in ILLEGAL and pair not in MUST_REFUSE
]
# Which levels of a factor a level of another excludes, and which factors exclude any, as the draw asks for it.
_NONE: set[str] = set()
_EXCLUDED: dict[tuple[str, str, str], set[str]] = {}
for _f, _a, _g, _b in [*ILLEGAL, *MUST_REFUSE]:
    _EXCLUDED.setdefault((_f, _a, _g), set()).add(_b)
    _EXCLUDED.setdefault((_g, _b, _f), set()).add(_a)
_EXCLUDING = {factor: sorted({f for f, _, g in _EXCLUDED if g == factor}) for factor in FACTORS}
_REFUSALS = list(MUST_REFUSE)


def draw(uniform: Callable[[], float]) -> tuple[Levels, Pair | None]:
    """The levels of a case, and the pair that must be refused where it has one."""
    fixed: Levels = {}
    refused: Pair | None = None
    if uniform() < REFUSED_SHARE:
        refused = _REFUSALS[int(uniform() * len(_REFUSALS))]
        fixed = {refused[0]: refused[1], refused[2]: refused[3]}
    while True:
        levels = _complete(fixed, uniform)
        if levels is not None:
            return levels, refused


def _complete(fixed: Levels, uniform: Callable[[], float]) -> Levels | None:
    """The fixed levels and a draw of the others, each among those that all before allow; None where none is left."""
    levels: Levels = dict(fixed)
    for factor in FACTORS:
        if factor in levels:
            continue
        barred = set(_barred_by_three(factor, levels))
        for other in _EXCLUDING[factor]:
            if other in levels:
                barred |= _EXCLUDED.get((other, levels[other], factor), _NONE)
        names, ends = _choices(factor, levels.get("L", ""), frozenset(barred))
        if not names:
            return None
        levels[factor] = names[min(bisect.bisect(ends, uniform() * ends[-1]), len(names) - 1)]
    return {factor: levels[factor] for factor in FACTORS}


@functools.cache
def _choices(factor: str, L: str, barred: frozenset[str]) -> tuple[list[str], list[float]]:
    """The levels that are left, and the ends of their shares."""
    weights = AT_LENGTH.get(L, {}).get(factor, FACTORS[factor])
    names = [name for name in FACTORS[factor] if name not in barred]
    return names, list(accumulate(weights[name] for name in names))


def _barred_by_three(factor: str, levels: Levels) -> Iterator[str]:
    """Levels that no pair forbids, but three together: too dear, or without meaning."""
    if factor == "given as" and levels["quantity"] in ("dw", "double") and levels["dtype"] == "float64":
        yield "float32"  # a gradient is rounded to its parameter's dtype, and the bound is that of the features
    if factor not in ("quantity", "container"):
        return
    fixed = levels.get("weights", "").startswith("fixed")
    if factor == "container":
        if fixed and levels.get("quantity") == "double":  # the edges are all that is left to differentiate in
            yield from (name for name in FACTORS[factor] if name not in DIFFERENTIABLE)
        return
    if fixed and (levels.get("edge weights") == "none" or levels.get("graph") == "empty"):
        yield "double"  # M is linear in x: there is nothing else to differentiate in
    if levels.get("method") == "6" and levels.get("L") == "120":
        yield from (name for name in FACTORS[factor] if name != "M")


def counted(levels: Levels, refused: Pair | None) -> Iterator[Any]:
    """The pairs that a case counts for: its legal ones, or the one for which it must be refused."""
    if refused is not None:
        yield refused
        return
    items = list(levels.items())
    for i, (f, a) in enumerate(items):
        for g, b in items[i + 1 :]:
            yield f, a, g, b
