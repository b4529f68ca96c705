import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaign import brute
from campaign.oracle import answer, predicted, tolerance
from campaign.problem import Problem

LD = np.longdouble
EPS = 2.0**-52
# One-way edges, a self-loop, a repeated edge, an edge of weight 0, a negative one, and a node that nothing joins.
EDGES = np.array([[0, 1, 1, 2, 0, 2, 1, 3, 0], [1, 0, 2, 1, 0, 3, 0, 1, 3]])
WEIGHT = np.array([0.5, 1.25, 0.75, 2, 0.375, 1.5, 0.25, 0, -0.25])
KINDS = {"fixed": (3,), "free": (3,), "boltzmann": (3,), "power-law": ()}


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


def assert_close(found, expected):
    """Within a few roundings of 80 bits."""
    triples = zip(found.value.flat, expected, found.magnitude.flat, strict=True)
    wrong = [abs(brute.number(v) - e) > 1e-17 * brute.number(m) + 1e-25 for v, e, m in triples]
    assert found.value.size == len(wrong) > 0
    assert not any(wrong)
    assert (found.magnitude >= abs(found.value)).all()
    assert found.kappa >= 1


SECOND = [("w", "w"), ("edge", "edge"), ("w", "edge"), ("edge", "x"), ("x", "w")]


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("method", range(1, 10))
def test_every_quantity_is_that_of_following_every_path(method, at):
    family = ["walks", "shortest", "self_avoiding"][at]
    kind = ["boltzmann", "power-law", "fixed" if method in (1, 2, 7) else "free"][method % 3]
    L = 2 if family == "walks" or method in (3, 4, 6) else 3
    p = problem(method=method, family=family, kind=kind, L=L, temperature=0.75, alpha=1.5)
    assert predicted(p).outcome == "value"
    terms = np.array(brute.matrices(p))
    M, x, g = terms.sum(0), brute.numbers(p.x), brute.numbers(p.g)
    assert_close(answer(p), (M @ x).flat)
    assert_close(answer(replace(p, quantity="M.T")), (M.T @ x).flat)
    assert_close(answer(replace(p, quantity="dx")), (M.T @ g).flat)
    assert_close(answer(replace(p, quantity="to_sparse")), M.flat)
    assert_close(answer(replace(p, quantity="terms")), (terms @ x).flat)
    for names in [("w",), ("edge",), SECOND[2 * at], SECOND[(2 * at + 1) % 5]]:  # each in one family at least
        asked = along(p, *names)
        if family != "walks":  # a path along an edge of weight 0 is none, however it is moved
            there = [(name, d * (WEIGHT != 0) if name == "edge" else d) for name, d in asked.directions]
            asked = replace(asked, directions=tuple(there))
        assert_close(answer(asked), [brute.derivative(asked)])


def test_paths_along_an_edge_of_weight_0_do_not_vary_with_it():
    moved = np.eye(len(WEIGHT))[7]
    for family in ("shortest", "self_avoiding"):
        p = replace(problem(family=family, method=2), quantity="dedge", directions=(("edge", moved),))
        assert answer(p).value == 0
    assert answer(replace(p, family="walks")).value != 0


@pytest.mark.parametrize("method", [1, 2])
@pytest.mark.parametrize(("alpha", "width"), [(1.0, None), (2.0, None), (1.5, 0.75)])
def test_effective_lengths_are_those_of_following_every_walk(method, alpha, width):
    p = problem(EDGES[:, :7], WEIGHT[:7], method=method, family="effective", kind="power-law", alpha=alpha, width=width)
    assert predicted(p).outcome == "value"
    M, x = np.array(brute.matrix(p)), brute.numbers(p.x)
    assert_close(answer(p), (M @ x).flat)
    assert_close(answer(replace(p, quantity="M.T")), (M.T @ x).flat)
    for names in [("w",), ("w", "w"), ("w", "x"), ("edge",), ("edge", "edge"), ("edge", "w")]:
        asked = along(p, *names)
        if "edge" in names and alpha != 1:
            assert predicted(asked) == ("refused", "effective")
        else:
            assert_close(answer(asked), [brute.derivative(asked)])


def test_examples_by_hand():
    path = problem([[0, 1, 1, 2], [1, 0, 2, 1]], None, N=3, weights=[1, 1, 1], quantity="to_sparse")
    expected = np.array([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(answer(path).value.astype(float), expected, rtol=1e-16)
    assert answer(path).kappa == 1
    signed = problem(
        [[1, 0, 2, 0], [0, 1, 0, 2]], [1, 1, -1, -1], N=3, L=1, method=2, weights=[4, 1], quantity="to_sparse"
    )
    np.testing.assert_allclose(answer(signed).value[0].astype(float), [1, 0.05**0.5, -(12**-0.5)], rtol=1e-15)
    assert 1 < answer(signed).kappa < 2


def test_an_edge_points_from_its_source_to_its_target():
    p = problem([[0], [1]], None, N=2, L=1, weights=[1, 1], quantity="to_sparse")
    assert answer(p).value.tolist() == [[1, 0], [0.5, 0.5]]
    assert answer(replace(p, method=6)).value.tolist() == [[1, 0], [0, 1]]  # no walk of length 1 arrives at node 0


def test_repeated_edges_are_one_or_add_up_in_float64_and_are_rounded_once():
    twice = [[0, 0], [1, 1]]
    once = problem(twice, None, N=2, L=1, method=5, weights=[0, 1], x=[[1], [0]])
    assert answer(once).value[1] == LD(1) / np.sqrt(LD(2))
    added = replace(once, duplicates="add", method=6, family="shortest", kind="fixed")
    added = replace(added, method=1, weights=np.array([1, 1], LD))
    assert answer(added).value[1] == LD(2) / 3
    tiny = problem(
        twice, [1, 2.0**-24 + 2.0**-40], N=2, L=1, method=1, weights=[1, 1], x=[[1], [0]], edge_dtype="float32"
    )
    w = 1 + LD(2) ** -23
    assert answer(tiny).value[1] == w / (1 + w)
    beyond = replace(tiny, edge_weight=np.array([3e38, 3e38]))
    assert predicted(beyond) == ("refused", "overflow")
    assert predicted(replace(beyond, edge_dtype="float64")).outcome == "value"


def test_weights_that_differ_by_rounding_are_averaged_unless_a_gradient_is_asked_for():
    a, b = 1.0, 1 + 4 * EPS
    p = problem([[0, 1], [1, 0]], [a, b], N=2, L=1, weights=[0, 1], method=5, x=[[1], [0]], quantity="to_sparse")
    found = answer(replace(p, method=3)).value, answer(p).value
    assert found[1][0, 1] == found[1][1, 0]
    asked = replace(p, quantity="dedge", directions=(("edge", np.array([1.0, 0])),), x=np.array([[1], [0]], LD))
    assert answer(replace(asked, method=1, g=np.array([[1], [0]], LD), weights=np.array([1, 1], LD))).value == 0
    far = replace(p, edge_weight=np.array([a, 1 + 16 * EPS]), method=1, weights=np.array([1, 1], LD))
    assert answer(far).value[0, 1] != answer(far).value[1, 0]


def test_lengths_of_1000_and_weights_that_float64_does_not_hold():
    loop, way, slow = 2.0**100, 2.0**-60, 2.0**-90
    edges, weight = [[0, 1, 0], [0, 1, 1]], [slow, loop, way]
    L, both = 1000, brute.mpf(0)
    rows = []  # D_n(1), and what of it comes from node 0
    for n in range(L + 1):
        rows.append((brute.mpf(loop) ** n + both, both))
        both = loop * both + way * brute.mpf(slow) ** n
    to_1 = sum(b for _, b in rows) / sum(d for d, _ in rows)
    expected = {1: [1, to_1], 3: [0.75 * (L + 1), 0.75 * sum(b / d for d, b in rows)]}
    p = problem(edges, weight, N=2, L=L, weights=np.full(L + 1, 0.75), x=[[1], [0]])
    for method in (1, 3):
        assert_close(answer(replace(p, method=method)), expected[method])
    for method in (2, 6):
        assert predicted(replace(p, method=method)) == ("refused", "span")


def test_a_common_offset_and_extreme_temperatures():
    for T in (1e-6, 1.0, 1e6):
        energies = np.array([0.5, -0.25, 1]) * T
        moved = problem(kind="boltzmann", weights=energies + LD(2) ** 40 * T, temperature=T, method=7)
        # The same numbers, rounded as the offset rounds them.
        plain = replace(moved, weights=moved.weights - LD(2) ** 40 * T)
        assert_close(answer(moved), [brute.number(v) for v in answer(plain).value.flat])
    cold = problem(kind="boltzmann", weights=[1e6, 0, 1e6], temperature=1e-6, method=1, quantity="to_sparse")
    assert answer(cold).value[4].tolist() == [0, 0, 0, 0, 1]  # nothing but itself at the node that nothing joins
    assert np.isfinite(answer(along(cold, "w")).value)
    law = problem(kind="power-law", weights=-500.0, quantity="to_sparse")
    assert (answer(law).value == np.eye(5)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [(), ("w",), ("edge", "w")])
def test_a_trial_is_its_column_alone(kind, names):
    p = problem(kind=kind, method=6, trials=3)
    p = along(p, *names) if names else p
    found, parts = answer(p), []
    for s in range(3):
        directions = tuple((n, d if n == "edge" else d[..., s]) for n, d in p.directions)
        alone = replace(p, x=p.x[:, s], g=p.g[:, s], weights=p.weights[..., s], directions=directions)
        parts.append(answer(alone))
    value = sum(part.value for part in parts) if names else np.stack([part.value for part in parts], 1)
    assert_close(found, [brute.number(v) for v in np.atleast_1d(value).flat])


def test_graphs_without_nodes_or_edges():
    for quantity, shape in [("M", (0, 2)), ("terms", (3, 0, 2)), ("to_sparse", (0, 0)), ("dw", ())]:
        p = problem([], [], N=0, quantity=quantity)
        assert predicted(p).outcome == "value"
        assert answer(p).value.shape == tolerance(p, answer(p)).shape == shape
    for method in range(1, 10):
        for family in ("walks", "shortest", "self_avoiding"):
            p = problem([], [], N=1, method=method, family=family, quantity="to_sparse", weights=[0.5, 0.25, 0.25])
            expected = 1 if method in (1, 2, 7) or (family == "walks" and method in (4, 5)) else 0.5
            assert predicted(p).outcome == "value"
            assert answer(p).value == pytest.approx(expected, rel=1e-18)


TRIAD = [[1, 2], [0, 0]]  # nodes 1 and 2 send to node 0


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


@pytest.mark.parametrize("times", [(0, "refused"), (0.5, "either"), (2, "either"), (64, "value"), (-64, "refused")])
@pytest.mark.parametrize(
    ("method", "factor"),
    [(8, 4), (9, 4), (3, 4 * 2), (6, 4 * 2), (1, 4 * 2), (2, 4 * 2)],  # 4; 4(n + 1) at n = 1; 4(L + 1) at L = 1
)
def test_thresholds(method, factor, times):
    times, outcome = times
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


def test_kappa_sees_what_cancels():
    mild, hard = (answer(problem(TRIAD, [1.0, -1 + c], N=3, L=1, method=3)).kappa for c in (0.5, 1e-6))
    assert mild < 5
    assert hard > 1e5
    p = problem(TRIAD, [1.0, -1 + 1e-3], N=3, L=1, method=3, kind="free")
    assert answer(along(p, "w")).kappa > 1e6  # twice


def test_tolerance():
    p = problem(x=np.full((5, 1), 3.0))
    found = answer(p)
    np.testing.assert_allclose(tolerance(p, found).astype(float), (32 * EPS * found.magnitude).astype(float))
    half = replace(p, dtype="float16")
    rounding = tolerance(half, found) - tolerance(replace(p, dtype="float32"), found)
    np.testing.assert_allclose(rounding.astype(float), (abs(found.value) / 2048).astype(float), rtol=1e-3, atol=1e-6)
    huge = replace(p, x=np.full((5, 1), LD(1e38)), dtype="float32")
    assert np.isinf(tolerance(huge, answer(huge))[[0, 1, 2, 4]]).all()
    assert np.isinf(
        tolerance(replace(half, x=np.full((5, 1), LD(1e5))), answer(replace(half, x=np.full((5, 1), LD(1e5)))))
    ).any()
    nothing = replace(p, x=np.zeros((5, 1), LD))
    assert (tolerance(nothing, answer(nothing)) > 0).all()


def test_it_imports_numpy_alone():
    for name in ("problem", "hyperdual", "bases", "families", "transition", "oracle"):
        tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text())
        imported = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
        imported += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert {module.split(".")[0] for module in imported} <= {
            "__future__", "campaign", "collections", "dataclasses", "functools", "itertools", "numpy", "typing",
        }  # fmt: skip
