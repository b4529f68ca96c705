"""Event chains: against plain loops, and hard disks against what is known of them in equilibrium."""

import math

import numpy as np
import pytest
import torch

from panconv.base.random import keys
from panconv.data.points.adsorption import adsorbed
from panconv.data.points.hard_disks import chain, contact_value, equilibrium
from panconv.data.points.near import near
from panconv.data.points.statistics import nearest_distances, pair_correlation

N, SQUARES = 100, 240


def diameter(fraction):
    return 2 * math.sqrt(fraction / (N * math.pi))


def squares(count, purpose):
    return keys(torch.tensor(1), torch.arange(count), purpose)


def lattice(count):
    x, y = np.divmod(np.arange(N), 10)
    return np.tile(np.stack([x, y], -1) / 10, (count, 1, 1))


@pytest.fixture(scope="module")
def disks():
    """Adsorbed disks and, from the same start, disks in equilibrium, at 0.35."""
    start, _ = adsorbed(squares(SQUARES, 0), N, diameter(0.35))
    return start, equilibrium(squares(SQUARES, 1), start, diameter(0.35), 24)


def one_hit_after_another(x, y, wide, way, active):
    """A chain by plain loops; x changes in place."""
    hits, ahead = 0, 0.0
    while True:
        free = []
        for j in range(len(x)):
            dy = y[j] - y[active]
            dy -= round(dy)
            near_enough = j != active and abs(dy) < wide
            free.append((x[j] - x[active]) % 1 - math.sqrt(wide**2 - dy**2) if near_enough else math.inf)
        first = int(np.argmin(free))
        step = min(free[first], way)
        if step == way:
            x[active] = (x[active] + way) % 1
            return hits, ahead
        ahead += (x[first] - x[active]) % 1 - step
        x[active], way, hits = (x[active] + step) % 1, way - step, hits + 1
        active = first


def test_a_chain_is_that_of_plain_loops(disks):
    start, wide = disks[0][:6], diameter(0.35)
    x, y, ahead = chain(start[..., 0], start[..., 1], wide, 0.8, np.arange(6))
    for i in range(6):
        order = start[i, :, 1].argsort()
        alone, still = start[i, order, 0], start[i, order, 1]
        hits, sum_ahead = one_hit_after_another(alone, still, wide, 0.8, i)
        assert hits > 5
        assert np.array_equal(y[i], still)
        assert x[i] == pytest.approx(alone, abs=1e-9)
        assert ahead[i] == pytest.approx(sum_ahead, abs=1e-9)


def test_disks_never_overlap(disks):
    for points in disks:
        assert nearest_distances(points).min() / diameter(0.35) == pytest.approx(1, abs=1e-3)
        assert nearest_distances(points).min() >= diameter(0.35) * (1 - 1e-9)


def test_a_disk_that_has_nobody_ahead_goes_all_the_way():
    x, y, ahead = chain(np.array([[0.1, 0.5]]), np.array([[0.1, 0.6]]), 0.2, 1.75, np.zeros(1, int))
    assert x[0] == pytest.approx([0.85, 0.5])
    assert (y[0].tolist(), ahead.tolist()) == ([0.1, 0.6], [0.0])


def test_disks_that_are_level_pass_one_another():
    # They touch but for rounding. Were both ahead of each other, they would hand on the move for ever.
    above = 0.1 + 0.2 * (1 - 2**-50)
    x, _, _ = chain(np.array([[0.5, 0.5]]), np.array([[0.1, above]]), 0.2, 0.25, np.zeros(1, int))
    assert x[0] == pytest.approx([0.75, 0.5])
    points = equilibrium(squares(3, 0), lattice(3), 0.08, 6)  # rows that stand in line
    assert nearest_distances(points).min() >= 0.08 * (1 - 1e-9)


def test_as_many_touch_as_the_equation_of_state_says(disks):
    """g(σ⁺), from a parabola through what is just beyond contact."""
    wide = diameter(0.35)
    bounds = np.linspace(1, 1.3, 11)
    middle = (bounds[1:] + bounds[:-1]) / 2 - 1
    contact = [np.polyfit(middle, pair_correlation(each, bounds * wide).mean(0), 2)[-1] for each in disks]
    assert contact[1] == pytest.approx(contact_value(0.35), rel=0.03)
    assert contact[0] < 0.9 * contact_value(0.35)  # adsorbed disks touch less often


def test_the_pressure_is_that_of_the_equation_of_state(disks):
    points, fraction = disks[1], 0.35
    _, _, ahead = chain(points[..., 0], points[..., 1], diameter(fraction), 10.0, np.arange(SQUARES) % N)
    error = ahead.std() / 10 / math.sqrt(SQUARES)
    assert error < 0.01
    assert 1 + ahead.mean() / 10 == pytest.approx(1 + 2 * fraction * contact_value(fraction), abs=3 * error)


def test_where_disks_start_is_forgotten(disks):
    """A lattice and adsorption lead to the same, and it stays."""
    wide = diameter(0.35)
    half = equilibrium(squares(SQUARES, 2), lattice(SQUARES), wide, 24)
    whole = equilibrium(squares(SQUARES, 3), half, wide, 24)
    adsorbed_first, on_a_lattice, middle, end = map(observed, (disks[0], lattice(1), half, whole))
    for name, (mean, error) in observed(disks[1]).items():
        assert abs(on_a_lattice[name][0] - mean) > 15 * error, name
        for other in (middle, end):
            assert abs(other[name][0] - mean) < 3.5 * math.hypot(error, other[name][1]), name
    assert abs(adsorbed_first["contact"][0] - mean) > 8 * error


def observed(points):
    """Means with their standard errors: density waves as long as the square, degrees, pairs that all but touch."""
    waves = np.abs(np.exp(2j * np.pi * points).sum(1)) ** 2 / N  # S(k) for both directions, (G, 2)
    degree = np.bincount(near(points, 1.3 / math.sqrt(N))[0].numpy(), minlength=len(points) * N).reshape(-1, N)
    wide = diameter(0.35)
    found = {
        "waves": waves.mean(1),
        "spread of the degree": degree.var(1),
        "contact": pair_correlation(points, [wide, 1.1 * wide])[:, 0],
    }
    return {name: (each.mean(), each.std() / math.sqrt(len(points))) for name, each in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.3, 0.35, 0.4])
def test_long_waves_of_density_are_those_of_the_compressibility(fraction):
    # S(0) = 1 / (d(ηZ)/dη), of Henderson's Z = (1 + η²/8) / (1 − η)².
    def pressure(eta):
        return eta * (1 + eta**2 / 8) / (1 - eta) ** 2

    count, points_each = 1500, 200
    wide = 2 * math.sqrt(fraction / (points_each * math.pi))
    found = []
    for key in squares(count, 0).split(500):
        start, _ = adsorbed(key, points_each, wide)
        points = equilibrium(keys(key, 1), start, wide, 50)
        found.append((np.abs(np.exp(2j * np.pi * points).sum(1)) ** 2 / points_each).mean(1))
    waves = np.concatenate(found)
    error = waves.std() / math.sqrt(count)
    expected = 2e-4 / (pressure(fraction + 1e-4) - pressure(fraction - 1e-4))
    assert waves.mean() == pytest.approx(expected, abs=3 * error + 0.02 * expected)
