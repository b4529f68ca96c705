import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaign import brute
from campaign.examples import EDGES, EPS, LD, TRIAD, WEIGHT, along, problem
from campaign.oracle import predicted, tolerance
from panconv.met import reference
from panconv.met.reference import answer
from panconv.met.reference.transition import METHODS


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
@pytest.mark.parametrize("method", METHODS)
def test_every_quantity_is_that_of_following_every_path(method, at):
    family = ["walks", "shortest", "self_avoiding"][at]
    kind = ["boltzmann", "power-law", "fixed" if METHODS[method][2] else "free"][method % 3]
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
    added = replace(once, duplicates="add", method=1, weights=np.array([1, 1], LD))
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
    p = problem([[0, 1], [1, 0]], [1, 1 + 4 * EPS], N=2, L=1, weights=[1, 1], quantity="to_sparse")
    near = answer(p).value
    far = answer(replace(p, edge_weight=np.array([1, 1 + 16 * EPS]))).value
    w = 1 + 2 * LD(EPS)
    assert near[0, 1] == near[1, 0] == w / (1 + w)
    assert far[0, 1] != far[1, 0]
    # The edge from 0 to 1 moves node 1's row and no other.
    x, first = np.array([[1], [0]], LD), (("edge", np.array([1.0, 0])),)
    asked = replace(p, quantity="dedge", directions=first, x=x, g=x)
    assert answer(asked).value == 0
    assert answer(replace(asked, g=x[::-1])).value == pytest.approx(0.25, rel=1e-14)


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


@pytest.mark.parametrize("kind", ["fixed", "free", "boltzmann", "power-law"])
@pytest.mark.parametrize("names", [(), ("w",), ("edge", "w")])
def test_a_trial_is_its_column_alone(kind, names):
    p = problem(kind=kind, method=6 if kind == "free" else 2, trials=3)
    p = along(p, *names) if names else p
    found, parts = answer(p), []
    for s in range(3):
        directions = tuple((n, d if n == "edge" else d[..., s]) for n, d in p.directions)
        alone = replace(p, x=p.x[:, s], g=p.g[:, s], weights=p.weights[..., s], directions=directions)
        parts.append(answer(alone))
    value = sum(part.value for part in parts) if names else np.stack([part.value for part in parts], 1)
    assert_close(found, [brute.number(v) for v in np.atleast_1d(value).flat])
    if not names:
        np.testing.assert_allclose(found.magnitude, np.stack([part.magnitude for part in parts], 1), rtol=1e-17)


def test_the_magnitude_of_an_exponential_grows_with_its_exponent():
    p = problem([], [], N=1, L=0, method=5, kind="boltzmann", weights=[3.0], temperature=0.5, x=[[1]])
    assert answer(p).magnitude == pytest.approx(7 * np.exp(LD(-6)), rel=1e-15)
    assert answer(p).kappa == pytest.approx(7)
    assert answer(replace(p, method=1)).kappa == 1  # where the offset cancels


def test_graphs_without_nodes_or_edges():
    for quantity, shape in [("M", (0, 2)), ("terms", (3, 0, 2)), ("to_sparse", (0, 0)), ("dw", ())]:
        p = problem([], [], N=0, quantity=quantity)
        assert predicted(p).outcome == "value"
        assert answer(p).value.shape == tolerance(p, answer(p)).shape == shape
    for method in METHODS:
        for family in ("walks", "shortest", "self_avoiding"):
            p = problem([], [], N=1, method=method, family=family, quantity="to_sparse", weights=[0.5, 0.25, 0.25])
            expected = 1 if METHODS[method][2] or (family == "walks" and method in (4, 5)) else 0.5
            assert predicted(p).outcome == "value"
            assert answer(p).value == pytest.approx(expected, rel=1e-18)


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
    paths = [*Path(reference.__file__).parent.glob("*.py"), Path(__file__).with_name("oracle.py")]
    assert len(paths) > 6
    for path in paths:
        tree = ast.parse(path.read_text())
        imported = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
        imported += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        others = {module.split(".")[0] for module in imported if not module.startswith("panconv.met.reference")}
        assert others <= {"__future__", "collections", "dataclasses", "functools", "itertools", "numpy", "typing"}
