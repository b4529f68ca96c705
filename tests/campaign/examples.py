"""Small problems with what a test leaves open filled in."""

from dataclasses import replace

import numpy as np

from panconv.met.reference.problem import Problem

LD = np.longdouble
EPS = 2.0**-52
# One-way edges, a self-loop, a repeated edge, an edge of weight 0, a negative one, and a node that nothing joins.
EDGES = np.array([[0, 1, 1, 2, 0, 2, 1, 3, 0], [1, 0, 2, 1, 0, 3, 0, 1, 3]])
WEIGHT = np.array([0.5, 1.25, 0.75, 2, 0.375, 1.5, 0.25, 0, -0.25])
TRIAD = [[1, 2], [0, 0]]  # nodes 1 and 2 send to node 0


def problem(edges=EDGES, edge_weight=WEIGHT, N=5, L=2, method=1, kind="fixed", weights=None, **more):
    """A problem with what the test leaves open drawn at random."""
    rng = np.random.default_rng(1)
    trials = more.pop("trials", None)
    shape = (L + 1,) if kind != "power-law" else ()
    weights = rng.uniform(0.25, 1, (*shape, *([trials] if trials else []))) if weights is None else weights
    more = {"family": "walks", "x": rng.standard_normal((N, *([trials] if trials else []), 2)), "width": None, **more}
    more["x"] = np.asarray(more["x"], LD)
    more.setdefault("g", np.asarray(rng.standard_normal(more["x"].shape), LD))
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    weighted = edge_weight is not None
    return Problem(
        edges=edges,
        edge_weight=np.asarray(edge_weight, float) if weighted else None,
        edge_dtype=more.pop("edge_dtype", "float64" if weighted else None),
        num_nodes=N,
        duplicates="add" if weighted else "one",
        L=L,
        method=method,
        kind=kind,
        weights=np.asarray(weights, LD),
        **more,
    )


def along(p, *names):
    """The problem of a derivative along random directions."""
    rng = np.random.default_rng(2)
    like = {"w": p.weights, "edge": p.edge_weight, "x": p.x}
    directions = tuple((name, rng.standard_normal(np.shape(like[name]))) for name in names)
    quantity = {"w": "dw", "edge": "dedge"}[names[0]] if len(names) == 1 else "double"
    return replace(p, quantity=quantity, directions=directions)
