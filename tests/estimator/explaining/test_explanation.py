from dataclasses import FrozenInstanceError

import pytest

from panconv.estimator.explaining import Explanation


def test_an_explanation_cannot_be_changed():
    one = Explanation("a", "x", 1.0, 0.5, 1.0, (0.0,), (), (), ())
    with pytest.raises(FrozenInstanceError):
        one.score = 2.0
