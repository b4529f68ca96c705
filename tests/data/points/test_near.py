"""Edges between near points are those that SciPy's tree finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from panconv.data.points.near import near
from panconv.data.points.torus import all_pairs


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(1, 60), st.floats(0.01, 0.49))
def test_edges_are_those_of_a_tree(seed, G, N, threshold):
    points = np.random.default_rng(seed).random((G, N, 2), np.float32)
    edges = near(points, threshold)
    expected = set()
    for g in range(G):
        pairs = cKDTree(points[g].astype(float), boxsize=1).query_pairs(threshold, output_type="ndarray") + g * N
        expected |= {*map(tuple, pairs.tolist()), *map(tuple, pairs[:, ::-1].tolist())}
    assert list(map(tuple, edges.T.tolist())) == sorted(expected)


def test_many_squares_are_looked_at_in_parts():
    points = np.random.default_rng(0).random((50, 200, 2), np.float32)
    assert [first for first, _ in all_pairs(points)] == list(range(0, 50, 6))
    one = np.concatenate([near(points[i : i + 1], 0.1).numpy() + i * 200 for i in range(50)], 1)
    assert np.array_equal(near(points, 0.1), one)


def test_closer_means_closer():
    points = np.array([[[0, 0], [0.25, 0], [0, 0.75]]])
    assert near(points, 0.25).size(1) == 0
    assert near(points, 0.2500001).tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]


def test_distances_are_those_of_the_nearest_image():
    points = np.array([[[0.05, 0.5], [0.95, 0.5], [0.5, 0.02], [0.5, 0.98]]])
    ((_, squared),) = all_pairs(points)
    assert squared[0, 0, 1] == pytest.approx(0.01)
    assert squared[0, 3, 2] == pytest.approx(0.0016)
