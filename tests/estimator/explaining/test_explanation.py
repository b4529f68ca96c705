import math
from dataclasses import FrozenInstanceError, replace

import pytest

from panconv.estimator.explaining import Explanation, Part, PathPart

ONE = Explanation(
    "cust-418",
    "topic",
    1.5,
    0.75,
    0.25,
    (0.5, 0.75),
    tuple(Part(f"n{i}", value) for i, value in enumerate((1.0, -0.5, 0.25, 0.25, 0.125, 0.125))),
    (Part("amount", 1.25),),
    (PathPart(("cust-418", "shop-7"), 0.3125), PathPart(("cust-418",), -0.25)),
)


def test_an_explanation_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        ONE.score = 2.0


def test_as_text():
    assert str(ONE).splitlines() == [
        "cust-418: topic, probability 0.75",
        "score +1.50, of which +0.25 is bias",
        "by path length",
        "  0 steps  +0.50",
        "  1 step   +0.75",
        "by nodes that are heard",
        "  n0      +1.00",
        "  n1      -0.50",
        "  n2      +0.25",
        "  n3      +0.25",
        "  n4      +0.12",
        "  others  +0.12",
        "by features",
        "  amount  +1.25",
        "by single paths",
        "  cust-418 → shop-7  +0.31",
        "  cust-418           -0.25",
        "  others             +1.19",
    ]


def test_text_of_a_number_of_many_lengths_and_of_small_scores():
    one = replace(ONE, label=None, probability=math.nan, lengths=tuple(1e-3 * n for n in range(20)), paths=())
    text = str(one).splitlines()
    assert text[0] == "cust-418"
    assert "  19 steps  +0.02" in text
    assert "  others    +0.06" in text
    assert "  10 steps  +0.01" not in text
    small = replace(ONE, score=2e-5, bias=1e-5, lengths=(1e-5,), paths=())
    assert str(small).splitlines()[1] == "score +0.0000200, of which +0.0000100 is bias"
