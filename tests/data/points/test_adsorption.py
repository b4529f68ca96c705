"""Random sequential adsorption: against plain loops, and against its expansions in the density."""

import math

import numpy as np
import pytest
import torch

from panconv.base.random import keys, uniform
from panconv.data.points.adsorption import adsorbed
from panconv.data.points.hard_disks import equilibrium
from panconv.data.points.statistics import nearest_distances, pair_correlation


def squares(count, seed=0):
    return keys(torch.tensor(seed), torch.arange(count))


def diameter(fraction, N):
    return 2 * math.sqrt(fraction / (N * math.pi))


def one_by_one(key, N, wide):
    """A square filled by plain loops, with the attempts that `adsorbed` draws."""
    disks, attempts, block = [], 0, 0
    while len(disks) < N:
        drawn = uniform(keys(key, block), (2, 64 if block else 1)).double().numpy()
        for point in drawn.T:
            if len(disks) == N:
                break
            attempts += 1
            apart = [abs(point - each) for each in disks]
            if all(np.hypot(*np.minimum(each, 1 - each)) >= wide for each in apart):
                disks.append(point)
        block += 1
    return np.array(disks), attempts


def test_disks_arrive_as_in_plain_loops():
    key, N = squares(5), 40
    points, attempts = adsorbed(key, N, diameter(0.4, N))
    for i in range(5):
        disks, count = one_by_one(key[i], N, diameter(0.4, N))
        assert np.array_equal(points[i], disks)
        assert attempts[i] == count
    assert len(set(attempts)) > 1


@pytest.mark.parametrize("fraction", [0.3, 0.45])
def test_no_two_disks_overlap_and_some_nearly_touch(fraction):
    points, _ = adsorbed(squares(20), 100, diameter(fraction, 100))
    closest = nearest_distances(points).min() / diameter(fraction, 100)
    assert 1 <= closest < 1.005


def test_as_many_attempts_as_the_room_that_is_left_tells():
    # φ(η), the share of the area where another disk finds room: Schaaf and Talbot, Phys. Rev. Lett. 62, 175, 1989.
    N, fraction = 200, 0.15
    eta = np.arange(N) / N * fraction
    third = 40 / (math.sqrt(3) * math.pi) - 176 / (3 * math.pi**2)
    room = 1 - 4 * eta + 6 * math.sqrt(3) / math.pi * eta**2 + third * eta**3
    _, attempts = adsorbed(squares(400), N, diameter(fraction, N))
    error = attempts.std() / math.sqrt(400)
    assert attempts.mean() == pytest.approx((1 / room).sum(), abs=4 * error)
    assert 4 * error < 0.01 * attempts.mean()


def excess(fraction, upto):
    """ρI on the average over distances of 1 … `upto` diameters σ, I the area that two disks of radius σ share."""
    r = np.linspace(1, upto, 1001)
    shared = 2 * np.arccos(r / 2) - r * np.sqrt(1 - r**2 / 4)
    return 4 * fraction / math.pi * np.average(shared, weights=r)


def test_few_disks_are_correlated_two_thirds_as_much_as_in_equilibrium():
    # A third disk where it could keep out either of two does so only if it is the first of the three, in ⅓ of the
    # orders; counted for each by itself it is ½ + ½. So g = 1 + ⅔ρI + O(ρ²); in equilibrium g = 1 + ρI + O(ρ²).
    N, fraction = 100, 0.1
    wide = diameter(fraction, N)
    points, _ = adsorbed(squares(3000), N, wide)
    found = pair_correlation(points, [wide, 1.5 * wide])[:, 0] - 1
    error = found.std() / math.sqrt(len(found))
    assert found.mean() == pytest.approx(2 / 3 * excess(fraction, 1.5), abs=fraction**2 + 3 * error)
    assert found.mean() < excess(fraction, 1.5) - 4 * error


@pytest.mark.slow
def test_the_first_order_in_the_density():
    N, fraction = 200, 0.05
    wide = diameter(fraction, N)
    key = squares(6000).split(500)
    placed = [adsorbed(each, N, wide)[0] for each in key]
    at_rest = [equilibrium(keys(each, 1), points, wide, 12) for each, points in zip(key, placed, strict=True)]
    for parts, share in ((placed, 2 / 3), (at_rest, 1)):
        found = pair_correlation(np.concatenate(parts), [wide, 1.5 * wide])[:, 0] - 1
        error = found.std() / math.sqrt(len(found))
        assert found.mean() == pytest.approx(share * excess(fraction, 1.5), abs=3 * error)
        assert 6 * error < excess(fraction, 1.5) / 3
