import math

import numpy as np
import pytest
import torch
from scipy import stats

from panconv.estimator.compared import mean_and_error, standard_errors

ONE, OTHER = (torch.tensor(each, dtype=torch.float64) for each in ([0.2, 0.9, 0.4, 0.7], [0.1, 0.5, 0.6, 0.3]))
EVEN = torch.ones(4).double()


def test_even_weights_give_the_paired_t_statistic_but_for_the_degrees_of_freedom():
    t = stats.ttest_rel(ONE.numpy(), OTHER.numpy()).statistic
    assert standard_errors(ONE, OTHER, EVEN) == pytest.approx(t * math.sqrt(4 / 3))


def test_which_is_named_first_decides_the_sign():
    assert standard_errors(ONE, OTHER, EVEN) == -standard_errors(OTHER, ONE, EVEN) > 0


def test_a_row_that_both_lose_much_on_does_not_count():
    hard = torch.tensor([0.0, 100.0, 0.0, 0.0]).double()
    assert standard_errors(ONE + hard, OTHER + hard, EVEN) == pytest.approx(standard_errors(ONE, OTHER, EVEN))


def test_the_mean_is_weighted_and_its_error_that_of_independent_rows():
    weight = torch.tensor([1.0, 2.0, 0.0, 5.0]).double()
    mean, error = mean_and_error(ONE, weight)
    assert float(mean) == pytest.approx(np.average(ONE, weights=weight))
    share = (weight / weight.sum()).numpy()
    assert float(error) == pytest.approx(math.sqrt((share**2 * (ONE.numpy() - float(mean)) ** 2).sum()))


def test_rows_that_were_never_held_out_are_left_out():
    lost, weight = torch.tensor([0.5, math.nan, 1.5, math.nan]).double(), torch.tensor([1.0, 9.0, 3.0, 1.0]).double()
    mean, _ = mean_and_error(lost, weight)
    assert float(mean) == pytest.approx((0.5 + 3 * 1.5) / 4)
    assert all(math.isnan(float(each)) for each in mean_and_error(torch.full((2,), math.nan), torch.ones(2)))


@pytest.mark.parametrize(("less", "expected"), [(0.0, 0.0), (0.25, math.inf), (-0.25, -math.inf)])
def test_rows_that_all_differ_by_the_same_are_beyond_doubt(less, expected):
    assert standard_errors(EVEN, EVEN - less, EVEN) == expected
