"""Where things are drawn: trees of hops, rings, names that do not cross, and bars that add up."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from made_explanations import explained, town
from scipy.sparse.csgraph import shortest_path

from panconv import Adjacency
from panconv.estimator.pages.captions import captions
from panconv.estimator.pages.cast import Cast
from panconv.estimator.pages.figures import counted, percent, plain, signed
from panconv.estimator.pages.known import Known
from panconv.estimator.pages.neighbourhood import around
from panconv.estimator.pages.rings import rings
from panconv.estimator.pages.waterfall import waterfall


@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(0, 4), st.integers(1, 12))
def test_a_neighbourhood_is_a_tree_of_shortest_ways(seed, N, hops, most):
    random = np.random.default_rng(seed)
    A = (random.random((N, N)) < 2 / N).astype(float)  # A[i, j]: i hears j
    centre, wanted = 0, random.permutation(N)[:4].tolist()
    part = around(Adjacency.of(sp.csr_matrix(A)), centre, hops, [], wanted, most)
    away = shortest_path(A, unweighted=True)[centre]
    assert part.reached == (away <= hops).sum()
    assert part.rows[0] == centre
    assert len(set(part.rows)) == len(part.rows) <= most
    assert part.hops == away[part.rows].tolist()
    for place, parent in enumerate(part.parents):
        assert (parent < 0) == (place == 0)
        if place:
            assert parent < place
            assert part.hops[parent] == part.hops[place] - 1
            assert A[part.rows[parent], part.rows[place]]
    pairs = {(min(i, j), max(i, j)) for i, j in np.argwhere(A[np.ix_(part.rows, part.rows)]).tolist() if i != j}
    assert set(part.edges) == pairs
    if most == 12 and hops < 3:
        assert {row for row in wanted if away[row] <= hops} <= set(part.rows)


def test_nodes_hang_from_one_another_as_the_first_path_goes():
    diamond = sp.csr_matrix(([1.0] * 4, ([0, 0, 1, 2], [1, 2, 3, 3])), shape=(4, 4))
    for middle in (1, 2):
        part = around(Adjacency.of(diamond), 0, 2, [(0, middle, 3), (0, 3 - middle, 3)], [], 10)
        assert part.rows[part.parents[part.rows.index(3)]] == middle


@pytest.mark.parametrize("parents", [[-1], [-1, 0], [-1, *[0] * 39], [-1, *[0] * 5, *range(1, 6), *range(6, 11)]])
def test_nodes_of_a_ring_do_not_stand_on_one_another(parents):
    hops = [0]
    for parent in parents[1:]:
        hops.append(hops[parent] + 1)
    at = rings(parents, hops, apart=0.08)
    assert at.shape == (len(parents), 2)
    assert np.abs(at).max() <= 1 + 1e-9
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(at, 2)]
    assert min(gaps, default=1) > 0.07


def boxes(found, font):
    for each in filter(None, found):
        wide, left = 0.62 * font * len(each.text), {"start": 0.0, "middle": 0.5, "end": 1.0}[each.anchor]
        yield each.x - left * wide, each.y - font / 2, each.x + (1 - left) * wide, each.y + font / 2


@given(st.integers(0, 1000))
def test_names_never_cross(seed):
    random = np.random.default_rng(seed)
    at, names = random.uniform(0, 400, (40, 2)), [f"node-{i}" * random.integers(1, 5) for i in range(40)]
    found = captions(names, at, [6.0] * 40, (400.0, 400.0), 12.0)
    for a, b in itertools.combinations(boxes(found, 12.0), 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert all(box[0] >= 0 and box[2] <= 400 and box[1] >= 0 and box[3] <= 400 for box in boxes(found, 12.0))
    assert sum(each is not None for each in found) > 10


def test_lines_are_as_wide_as_what_paths_add_and_signed():
    A, X, w = town()
    one = explained(A, X, w, (1, 0.5, 0.3), 4, [f"n{i}" for i in range(60)])
    known = Known.of(Adjacency.of(sp.csr_matrix(A)))._replace(ids=np.array([f"n{i}" for i in range(60)]))
    known = known._replace(places={f"n{i}": i for i in range(60)})
    picture = Cast.of(one, known).pictured("wide", known, (900.0, 600.0), 40)
    steps = {frozenset(picture.rows[end] for end in line.ends): line for line in picture.drawing.lines if line.sign}
    sums = {}
    for path in one.paths:
        for step in {frozenset(int(node[1:]) for node in pair) for pair in itertools.pairwise(path.nodes)}:
            sums[step] = sums.get(step, 0.0) + path.value
    assert steps.keys() == sums.keys()
    for step, total in sums.items():
        assert steps[step].sign == np.sign(total)
        assert steps[step].width == pytest.approx(1.5 + 5.5 * abs(total) / max(map(abs, sums.values())))


@pytest.mark.parametrize("lengths", [(1.0,), (0.5, -2.0, 0.1), tuple(np.linspace(-1, 1, 101))])
def test_a_waterfall_ends_at_the_score(lengths):
    score = -0.3 + sum(lengths)
    bars, zero = waterfall(-0.3, lengths, score)
    assert len(bars) <= 14
    assert sum(bar.value for bar in bars[:-1]) == pytest.approx(score)
    assert all(bar.left >= -1e-9 and bar.left + bar.width <= 100 + 1e-9 for bar in bars)
    assert 0 <= zero <= 100
    for bar, after in itertools.pairwise(bars[:-1]):
        end = bar.left + bar.width * (bar.value > 0)
        assert min(abs(after.left - end), abs(after.left + after.width - end)) < 1e-9


def test_figures():
    assert [plain(value) for value in (1.2345, -0.00123, 12345.6, 0.0, float("nan"))] == [
        "1.23",
        "−0.0012",
        "12,346",
        "0.00",
        "–",
    ]
    assert [signed(value) for value in (0.31, -2.0, 0.0)] == ["+0.31", "−2.00", "0.00"]
    assert percent(0.875) == "87.5 %"
    assert [counted(1, "node"), counted(2708, "node"), counted(2, "class")] == ["1 node", "2,708 nodes", "2 classes"]
