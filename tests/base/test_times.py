import numpy as np
import pytest

from panconv.base.times import checked_seconds


def test_a_time_in_seconds_or_with_a_unit():
    given = (90, 0.5, np.float32(2), "90s", "10m", " 1.5h ")
    assert [checked_seconds(each, "budget") for each in given] == [90, 0.5, 2, 90, 600, 5400]


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), True, "10", "0s", "ten minutes", "1d", [5]])
def test_anything_else_is_refused_in_a_line(value):
    with pytest.raises(ValueError, match=r"budget must be a time above 0, such as 90s, 10m or 1h, got") as caught:
        checked_seconds(value, "budget")
    assert "\n" not in str(caught.value)
