import numpy as np
import pytest
import torch

from panconv.estimator.folds import folds_of
from panconv.estimator.lost import Lost, least
from panconv.estimator.penalties import Task


def task_of(targets, loss):
    n = len(targets)
    return Task(targets, torch.arange(1.0, n + 1).double(), folds_of(2, np.zeros(n, int), False), loss)


def lost(*values, weight=None):
    each = torch.tensor(values, dtype=torch.float64)
    return Lost(each, torch.ones_like(each) if weight is None else torch.tensor(weight).double())


def test_rows_lose_their_log_loss_and_numbers_their_square():
    scores = torch.tensor([[3.0, 0.0], [0.0, 1.0], [0.5, 0.0], [torch.nan, torch.nan]], dtype=torch.float64)
    y = torch.eye(2, dtype=torch.float64)[torch.tensor([0, 0, 1, 1])]
    one, twice = (Lost.of(factor * scores, task_of(y, "softmax")) for factor in (1, 2))
    assert one.each[:3].tolist() == pytest.approx(twice.each[:3].tolist(), rel=0.1)  # each at its own temperature
    assert one.each[1] > one.each[0]
    assert one.each[3].isnan()
    assert one.mean == pytest.approx(float((one.each[:3] * torch.tensor([1, 2, 3])).sum()) / 6)
    numbers = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    plain = Task(numbers, torch.ones(2).double(), folds_of(2, np.zeros(2, int), False), "squared")
    assert Lost.of(numbers + 2, plain).each.tolist() == [4, 4]  # their variance is 1


def test_the_first_is_taken_that_does_not_lose_clearly_more_than_the_best():
    simple, best = lost(1.0, 2.0, 3.0, 4.0), lost(0.9, 2.3, 2.7, 4.0)
    assert simple.less(best) == pytest.approx(0.025 / (np.array([0.1, -0.3, 0.3, 0]).std() / 2))
    assert least({"simple": simple, "best": best}) == "simple"
    assert least({"simple": lost(1.0, 2.1, 3.0, 4.0), "best": lost(0.8, 1.9, 2.9, 3.9)}) == "best"
    assert least({"first": lost(np.nan, np.nan), "told": simple}) == "told"
    assert least({"first": lost(np.nan), "second": lost(np.nan)}) == "first"


@pytest.mark.parametrize("loss", ["softmax", "squared"])
def test_seeds_that_will_answer_together_lose_less_than_one_by_one(loss):
    random = torch.Generator().manual_seed(0)
    y = torch.eye(3).double()[torch.arange(30) % 3]
    by_seed = torch.randn(50, 5, 3, generator=random, dtype=torch.float64)
    scores = y + torch.randn(30, 3, generator=random, dtype=torch.float64)
    alone, together = (Lost.of(scores, task_of(y, loss), each) for each in (None, by_seed))
    less = alone.each - together.each
    assert float(less.min()) > 0
    torch.testing.assert_close(less, less[:1].expand(30))  # the same for all, as nothing is known of single rows
    agreed = Lost.of(scores, task_of(y, loss), by_seed[:, :1].expand(-1, 5, -1))
    torch.testing.assert_close(agreed.each, alone.each)


def test_numbers_that_differ_by_rounding_alone_are_taken_as_they_are():
    same = torch.full((3, 1), 0.1).double() + torch.tensor([[0.0], [1e-17], [2e-17]]).double()
    assert Lost.of(same + 1, task_of(same, "squared")).each.tolist() == pytest.approx([1, 1, 1])
