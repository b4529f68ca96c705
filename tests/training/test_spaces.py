import math
from dataclasses import replace

import pytest

from panconv.records.record import UNSAID, Task, check_task
from panconv.training.pans import Pans
from panconv.training.runner import batched
from panconv.training.space import Choice, Range, Space, checked_space
from panconv.training.spaces import SPACES, pan_operator

VECTORS = Pans().vectors("pan")


def test_numbers_are_drawn_evenly_within_their_range():
    space = Space({"a": Range(2, 5), "b": Range(1e-4, 1.0, log=True), "c": Range(0.0, 0.8), "d": "fixed"})
    found = space.settings(range(4000), 0, {"a", "b", "c"})
    counts = [sum(each["a"] == value for each in found) for value in (2, 3, 4, 5)]
    assert sum(counts) == 4000  # whole numbers, both ends among them
    assert all(abs(count - 1000) < 150 for count in counts)
    tens = [math.log10(each["b"]) for each in found]
    assert -4 <= min(tens) < -3.9
    assert -0.1 < max(tens) <= 0
    assert abs(sum(tens) / 4000 + 2) < 0.1
    assert abs(sum(each["c"] for each in found) / 4000 - 0.4) < 0.02
    assert {each["d"] for each in found} == {"fixed"}


def test_the_same_seed_draws_the_same_however_many_and_whatever_else():
    space = SPACES["random-propagation"]
    many = space.settings(range(40), 7, VECTORS)
    assert space.settings(range(8, 11), 7, VECTORS) == many[8:11]
    assert space.settings(range(40), 8, VECTORS)[3:] != many[3:]
    wider = replace(space, values={**space.values, "new": Range(0.0, 1.0)}).settings(range(3, 40), 7, VECTORS)
    assert [{name: each[name] for name in each if name != "new"} for each in wider] == many[3:]
    # What was drawn once is drawn for ever, on any machine: records name it.
    assert Space({"lr": Range(0.005, 0.2, log=True)}).settings(range(3), 0, {"lr"}) == KNOWN


KNOWN = [{"lr": 0.0268}, {"lr": 0.0409}, {"lr": 0.00922}]


def test_what_cannot_differ_side_by_side_is_drawn_once_per_group():
    space = Space({"hidden": Range(1, 10**9), "lr": Range(0.0, 1.0)})
    found = space.settings(range(24), 0, VECTORS)
    assert [len({each["hidden"] for each in found[i : i + 8]}) for i in (0, 8, 16)] == [1, 1, 1]
    assert len({each["hidden"] for each in found}) == 3
    assert len({each["lr"] for each in found}) > 20
    assert len({each["hidden"] for each in space.settings(range(24), 0, ())}) == 24


def test_each_group_has_one_of_the_kinds_in_turn():
    kinds = ({"norm": None, "lr": Range(0.0, 1.0)}, {"norm": "batch", "lr": Range(5.0, 6.0)})
    space = Space({"lr": 9.0}, either=kinds, group=3)
    found = space.settings(range(12), 0, VECTORS)
    assert [each["norm"] for each in found] == ([None] * 3 + ["batch"] * 3) * 2
    assert all((each["lr"] > 4) == (each["norm"] == "batch") for each in found)
    assert {each["lr"] for each in space.with_values(lr=2.0).settings(range(12), 0, VECTORS)} == {2.0}


def test_points_come_first_and_are_like_any_other():
    point = {"L": 3, "lr": 0.5}
    space = Space({"L": Choice((1, 2)), "lr": Range(0.1, 0.2)}, (point,))
    assert space.settings(range(2), 0, VECTORS)[0] == point
    assert space.with_values(lr=0.3).settings(range(2), 0, VECTORS)[0] == {"L": 3, "lr": 0.3}
    drawn = replace(space, points=()).settings(range(3), 0, VECTORS)
    assert space.settings(range(4), 0, VECTORS) == [point, *drawn]


def test_settings_near_others():
    kinds = ({"norm": None, "lr": Range(0.001, 0.1, log=True)}, {"norm": "batch", "lr": Range(5.0, 6.0)})
    space = Space(
        {"L": Range(2, 10), "dropout": Range(0.0, 0.8), "alpha": Choice((1.0, 2.0)), "hidden": 8}, either=kinds
    )
    parents = [
        {"norm": None, "lr": 0.01, "L": 5, "dropout": 0.4, "alpha": 1.0, "hidden": 8},
        {
            "norm": "batch",
            "lr": 9.0,
            "L": 10,
            "dropout": 0.0,
            "alpha": 2.0,
            "hidden": 8,
        },  # a point outside of the range
    ]
    found = space.near(parents, 400, 0, VECTORS)
    assert space.near(parents, 10, 0, VECTORS) == found[:10]
    one, two = found[::2], found[1::2]
    assert {each["norm"] for each in one} == {None}
    assert {each["norm"] for each in two} == {"batch"}
    assert {each["L"] for each in one} == {4, 5, 6}
    assert {each["L"] for each in two} == {9, 10}
    factor = 100 ** (1 / 8)
    assert all(0.01 / factor * 0.99 <= each["lr"] <= 0.01 * factor * 1.01 for each in one)
    assert all(each["lr"] == 9.0 or 5.875 <= each["lr"] <= 6.0 for each in two)
    assert all(0.3 <= each["dropout"] <= 0.5 for each in one)
    assert 60 < sum(each["dropout"] != 0.4 for each in one) < 140
    assert 5 < sum(each["alpha"] == 2.0 for each in one) < 60
    assert {each["hidden"] for each in found} == {8}


def test_names_that_are_drawn_together_and_choices_within_choices():
    space = Space({("a", "b"): Choice(((1, 2), (3, 4))), "T": Choice((None, Range(2.0, 3.0)))})
    found = space.settings(range(60), 0, {"a", "b", "T"})
    assert {(each["a"], each["b"]) for each in found} == {(1, 2), (3, 4)}
    assert {each["T"] is None for each in found} == {True, False}
    assert all(each["T"] is None or 2 <= each["T"] <= 3 for each in found)


def test_where_groups_end():
    plain = Space({"a": Range(0.0, 1.0)}, group=4)
    assert [plain.next_group(place) for place in range(6)] == [4, 4, 4, 4, 8, 8]
    point = {"a": 0.5}
    first = replace(plain, points=(point,) * 2)
    assert [first.next_group(place) for place in range(8)] == [1, 2, 6, 6, 6, 6, 10, 10]  # a point stands for itself


def test_one_of_each_kind_and_every_point():
    kinds = ({"norm": None}, {"norm": "batch"}, {"norm": "layer"})
    space = Space({}, ({"norm": "own"},), either=kinds, group=4)
    found = space.settings(space.one_of_each(), 0, VECTORS)
    assert [each["norm"] for each in found] == ["own", None, "batch", "layer"]


def test_path_weights_by_temperature():
    met, how = pan_operator({"method": 5, "L": 3, "temperature": None, "lr": 0.1})
    assert met == {"method": 5, "L": 3, "weights": [0.25] * 4}
    assert how == {"lr": 0.1}
    met, how = pan_operator({"method": 5, "L": 3, "temperature": 8.0, "alpha": 2.0, "paths": "shortest"})
    law = {"kind": "power-law", "alpha": 2.0, "temperature": 8.0, "trained": False, "normalized": True}
    assert met == {"method": 5, "L": 3, "weights": law, "paths": "shortest"}
    assert how == {}
    assert pan_operator({"method": 5, "L": 1, "weights": "free"})[0]["weights"] == "free"


@pytest.mark.parametrize("name", SPACES)
def test_every_setting_of_pan_s_spaces_can_be_trained_and_recorded(name, monkeypatch):
    monkeypatch.setattr(Pans, "at_once", lambda *_: 99)
    settings = SPACES[name].settings(range(64), 0, VECTORS)
    tasks = [Task("cora", "pan", *_spelt(each), 0, False) for each in settings]
    for task in tasks:
        check_task(task)
        how = {**UNSAID, **task.settings}
        assert how["norm_input"] is None or how["propagate"]  # which that goes with
    assert len(batched(tasks, Pans())) <= 64 / SPACES[name].group + len(SPACES[name].points)


def _spelt(drawn):
    operator, settings = Pans().spelt(drawn)
    return operator, "public", settings


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Choice(()), "values must be a list of what may be chosen, at least one"),
        (lambda: Choice("abc"), "values must be a list"),
        (lambda: Range(2, 1), "low and high must be rising, got 2 and 1"),
        (lambda: Range(0.0, 1.0, log=True), "rising and above 0"),
        (lambda: Range("a", 1), "low and high must be rising"),
        (lambda: Space({}, group=0), "group must be an integer of at least 1, got 0"),
        (
            lambda: Space({("a", "b"): Choice(((1, 2), Choice(((3, 4), (5,)))))}),
            r"the values of \('a', 'b'\) must be tuples of 2, one for each name, got \(5,\)",
        ),
        (lambda: Space({}, either=({("a", "b"): 3},)), "must be tuples of 2, one for each name, got 3"),
        (lambda: pan_operator({"method": 5, "lr": 0.1}), "the space has no 'L', of which PAN's operator is made"),
        (lambda: pan_operator({"L": 5}), r"the space has no 'method', .* got \['L'\]: add it"),
        (lambda: checked_space("cold", SPACES), "space must be one of random-propagation, warm"),
        (lambda: checked_space(3, SPACES), "space must be the name of one, a dict or a Space, got int"),
    ],
)
def test_bad_spaces(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
