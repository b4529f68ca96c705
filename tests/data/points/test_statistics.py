"""What is measured of point patterns, on patterns where it is known."""

import math

import numpy as np
import pytest

from panconv.data.points import nearest_distances, pair_correlation
from panconv.data.points.torus import squared_distances


def poisson(G, N, seed=0):
    return np.random.default_rng(seed).random((G, N, 2))


def test_of_a_lattice():
    x, y = np.divmod(np.arange(100), 10)
    points = np.stack([x, y], -1)[None] / 10
    assert nearest_distances(points) == pytest.approx(np.full((1, 100), 0.1))
    # Four neighbours in the first ring, four in the second, and none between.
    bounds = np.array([0.05, 0.11, 0.13, 0.15])
    expected = np.array([4, 0, 4]) / (99 * math.pi * np.diff(bounds**2))
    assert pair_correlation(points, bounds)[0] == pytest.approx(expected)


def test_squares_are_measured_one_by_one():
    points = poisson(20, 150)
    bounds = [0, 0.1, 0.2, 0.5]
    found = pair_correlation(points, bounds)
    for g in (0, 7, 19):
        r = np.sqrt(squared_distances(points[g].T[:, :, None], points[g].T[:, None]))
        counts = np.histogram(r[np.triu_indices(150, 1)], bounds)[0] * 2
        assert found[g] == pytest.approx(counts / (150 * 149 * math.pi * np.diff(np.square(bounds))))


def test_points_that_know_nothing_of_each_other():
    G, N = 300, 100
    points = poisson(G, N)
    g = pair_correlation(points, np.linspace(0, 0.5, 11))
    assert np.abs(g.mean(0) - 1).max() < 4 * (g.std(0) / math.sqrt(G)).max()
    r = np.sort(nearest_distances(points).ravel())
    below = 1 - (1 - math.pi * r**2) ** (N - 1)
    assert np.abs(below - np.arange(r.size) / r.size).max() < 2 / math.sqrt(r.size)  # Kolmogorov's, at 0.1 %
    assert np.abs(below - 1 + np.exp(-N * math.pi * r**2)).max() < 0.5 / N
