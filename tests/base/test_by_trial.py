import numpy as np
import pytest
import torch

from panconv.base.by_trial import Placed, by_trial, checked_by_trial, differs, picked


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        ([0.5], 0.5),
        ([0.1, 2], (0.1, 2.0)),
        (torch.tensor([0.5, 0.25]), (0.5, 0.25)),
        (np.array([0.1, 0.3]), (0.1, 0.3)),
        *((wrong, None) for wrong in ([], ["a", 1.0], [1.0, None], "12", None, [[1.0]], torch.ones(2, 2), [True, 1.0])),
    ],
)
def test_a_number_or_one_per_trial(value, expected):
    assert by_trial(value) == expected


def test_all_of_them_are_checked_and_counted():
    assert checked_by_trial((1, 2), "lr", lambda n: n > 0, "positive", 2) == (1.0, 2.0)
    assert checked_by_trial(1, "lr", lambda n: n > 0, "positive", 7) == 1.0
    with pytest.raises(ValueError, match=r"lr must be positive, got \(1, -2\)"):
        checked_by_trial((1, -2), "lr", lambda n: n > 0, "positive")
    with pytest.raises(ValueError, match="lr must be a number, or 3 numbers, one per trial, got 2 of them"):
        checked_by_trial((1, 2), "lr", lambda n: n > 0, "positive", 3)


def test_those_of_some_trials():
    assert picked((0.1, 0.2, 0.3), [2, 0]) == (0.3, 0.1)
    assert picked(0.1, [2, 0]) == 0.1
    assert differs((0.1, 0.2))
    assert not differs((0.1, 0.1))
    assert not differs(0.1)


def test_placed_once_and_to_the_last_digit():
    placed, cpu = Placed(), torch.device("cpu")
    assert placed(0.1, cpu) == 0.1
    with torch.inference_mode():
        first = placed((0.1, 0.2), cpu)
    assert first.tolist() == [0.1, 0.2]
    assert not first.is_inference()
    assert placed((0.1, 0.2), cpu) is first
    assert placed((0.3, 0.2), cpu).tolist() == [0.3, 0.2]
