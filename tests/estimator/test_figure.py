import numpy as np
import pytest

from panconv.estimator.figure import Figure, helps, wilson


def test_the_interval_of_a_mean():
    d = np.array([0, 1, 0, 1, -1.0])
    found = Figure.mean(d)
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(1.96 * d.std(ddof=1) / 5**0.5)
    assert found.value - found.low == pytest.approx(found.high - found.value)
    assert Figure.mean(d[1:2]) == (1, -np.inf, np.inf)


def test_wilsons_interval_by_its_definition():
    for share, n in ((0.0, 5), (0.3, 10), (1.0, 40)):
        for end in wilson(share, n):  # where the share is 1.96 standard errors away, as the end itself has them
            assert abs(share - end) == pytest.approx(1.96 * (end * (1 - end) / n) ** 0.5, abs=1e-9)
    assert wilson(0.0, 0) == (0.0, 1.0)
    assert Figure.share(3, 10) == (0.3, *wilson(0.3, 10))
    assert Figure.share(0, 0) is None


def test_only_an_interval_beside_0_says_whether_something_helps():
    assert helps(Figure(0.1, 0.01, 0.2)) == "The graph helps"
    assert helps(Figure(-0.1, -0.2, -0.01)) == "The graph does harm"
    assert helps(Figure(0.1, -0.01, 0.2), "Looking along paths") == "It is not clear whether looking along paths helps"
