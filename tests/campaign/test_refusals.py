from dataclasses import replace

import numpy as np
import pytest

from campaign.examples import EPS, TRIAD, problem
from campaign.oracle import predicted


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        ("free", {"kind": "free"}),
        ("free", {"kind": "free", "method": 2}),
        ("trials", {"trials": 2, "quantity": "to_sparse"}),
        ("effective", {"family": "effective", "kind": "boltzmann"}),
        ("effective", {"family": "effective", "kind": "power-law", "method": 7}),
        ("effective", {"family": "effective", "kind": "power-law", "trials": 2}),
        ("effective", {"family": "effective", "kind": "power-law", "edge_weight": [1, 0]}),
        ("effective", {"family": "effective", "kind": "power-law", "edge_weight": [1, -1]}),
        ("degree", {"method": 8, "edge_weight": [1, -1]}),
        ("degree", {"method": 9, "edge_weight": [1, -2]}),
        ("degree", {"method": 5, "edge_weight": [1, -2]}),
        ("degree", {"method": 7, "edge_weight": [1, -3]}),
        ("D_n", {"method": 3, "edge_weight": [1, -1]}),
        ("D_n", {"method": 6, "edge_weight": [1, -2], "weights": [1, 0]}),
        ("D_n", {"method": 4, "edge_weight": [1, -2]}),
        ("Z", {"edge_weight": [1, -2], "weights": [1, 1]}),
        ("Z", {"method": 2, "edge_weight": [1, -4], "weights": [1, 1]}),
        ("Z", {"weights": [1, -1]}),
        ("span", {"method": 2, "edge_weight": [1e80, 1], "dtype": "float32"}),
        (
            "span",
            {"edges": [[1, 0], [0, 1]], "method": 6, "edge_weight": [1e80, 1], "dtype": "bfloat16", "weights": [1, 0]},
        ),
    ],
)
def test_what_is_refused(reason, changes):
    p = problem(**{"edges": TRIAD, "edge_weight": [1.0, 1.0], "N": 3, "L": 1, **changes})
    assert predicted(p) == ("refused", reason)


def test_what_is_not_refused():
    assert predicted(problem(TRIAD, [1, -1], N=3, L=1, method=1)).outcome == "value"  # D_1 = 0, but Z = w₀
    assert predicted(problem(TRIAD, [1e80, 1], N=3, L=1, method=2)).outcome == "value"  # float64 holds it
    assert predicted(problem(TRIAD, [1e80, 1], N=3, L=1, method=1, dtype="float32")).outcome == "value"
    apart = [[0, 1], [0, 1]]  # two components
    assert predicted(problem(apart, [1e80, 1], N=2, L=1, method=6, dtype="float32")).outcome == "value"
    assert predicted(problem(TRIAD, [1, 1], N=3, L=1, weights=[0, 1])).outcome == "value"  # nothing arrives at 1 and 2


@pytest.mark.parametrize(
    ("times", "outcome"), [(0, "refused"), (0.5, "either"), (2, "either"), (64, "value"), (-64, "refused")]
)
@pytest.mark.parametrize(
    ("method", "factor"),
    [(8, 4), (9, 4), (3, 4 * 2), (6, 4 * 2), (1, 4 * 2), (2, 4 * 2)],  # 4; 4(n + 1) at n = 1; 4(L + 1) at L = 1
)
def test_thresholds(method, factor, times, outcome):
    missed = factor * 2 * EPS * times  # by how much 1 and −1, which are 2 without their signs, miss 0
    p = problem(TRIAD, [1 + missed, -1], N=3, L=1, method=method, weights=[method not in (1, 2), 1])
    assert predicted(p).outcome == outcome


def test_the_span_is_either_way_near_its_threshold():
    limit = 2 * 0.9 * np.log(float(np.finfo(np.float32).max))
    for beyond, outcome in [(-4, "value"), (-0.5, "either"), (0.5, "either"), (4, "refused")]:
        far = np.exp(limit + 2 * beyond)
        p = problem(TRIAD, [far, 1.0], N=3, L=1, method=2, weights=[1, 1], dtype="float32")
        assert predicted(p).outcome == outcome


def test_levels():
    rng = np.random.default_rng(0)
    edges = np.array(np.nonzero(~np.eye(8, dtype=bool)))

    def levels(w, L, **more):
        return predicted(problem(edges, w, N=8, L=L, family="effective", kind="power-law", alpha=2.0, **more))

    assert levels(rng.choice([1, 0.5, 0.25], 56), 4).outcome == "value"
    assert levels(rng.uniform(0.5, 1, 56), 4) == ("refused", "levels")
    assert levels(rng.uniform(0.5, 1, 56), 4, width=0.25).outcome == "value"
    assert levels(rng.choice([1, 0.5], 56), 2, width=1e-19) == ("either", "levels")


def test_long_sums_of_signed_graphs_may_be_refused():
    p = problem([[0, 0, 1], [0, 1, 0]], [1e31, 1, -1], N=2, L=1, method=1)
    assert predicted(p) == ("either", "overflow")
    assert predicted(replace(p, edge_weight=np.array([1e29, 1, -1]))).outcome == "value"
