import pytest

from panconv.paper.published import GRAPHS
from panconv.paper.zoo import METHODS
from panconv.paper.zoo.deepwalk import SCALES
from panconv.paper.zoo.settings import WORDS, merged
from panconv.paper.zoo.skipgram import LOSSES
from panconv.records.upgrades import _IDLE
from panconv.walkers import KINDS


def test_a_setting_it_does_not_have():
    assert merged({"lr": 1, "hidden": 2}, {"lr": 3}) == {"lr": 3, "hidden": 2}
    with pytest.raises(ValueError, match="'rl' is no setting of this method: it has lr, hidden"):
        merged({"lr": 1, "hidden": 2}, {"rl": 3})


def test_the_settings_of_the_table_are_allowed():
    for method in METHODS.values():
        for dataset in GRAPHS:
            how = method.on(dataset, True)
            assert merged(how, how) == how


def test_no_method_has_a_setting_that_records_of_before_had_in_vain():
    for name, idle in _IDLE.items():
        assert not METHODS[name].settings.keys() & set(idle)


def test_the_words_are_those_that_the_methods_know():
    assert set(WORDS["walk"]) == set(KINDS)
    assert set(WORDS["scale"]) == set(SCALES)
    assert set(WORDS["loss"]) == set(LOSSES)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("variant", "X", "variant must be one of 'T', 'I', got 'X'"),
        ("link", "foo", "link must be one of 'count', 'proportion', got 'foo'"),
        ("batch", 0, "batch must be at least 1, got 0"),
        ("hops", -1, "hops must be at least 0, got -1"),
        ("lr", 0.0, "lr must be above 0 and finite, got 0.0"),
        ("weight_decay", float("inf"), "weight_decay must be at least 0 and finite, got inf"),
        ("dropout", 1.0, "dropout must be below 1, got 1.0"),
        ("alpha", 1.5, "alpha must be at most 1, got 1.5"),
        ("hidden", 10**400, "hidden must be at most 1,000,000,000"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(name, value, words):
    with pytest.raises(ValueError, match=words):
        merged({name: value}, {name: value})


@pytest.mark.parametrize(
    ("like", "value", "words"),
    [
        (0.1, "fast", "must be like 0.1, got 'fast'"),
        (0.1, 10**400, "must be at least 0 and finite, got inf"),
        (3, 1.5, "must be like 3, got 1.5"),
        (3, True, "must be like 3, got True"),
        (True, 1, "must be like true, got 1"),
        ((1, 2), [1, "x"], r"must be like \[1, 2\], got"),
        ((1, 2), [10**400], r"must be like \[1, 2\], got"),
    ],
)
def test_a_value_of_another_kind_is_refused(like, value, words):
    with pytest.raises(ValueError, match=words):
        merged({"name": like}, {"name": value})


def test_values_take_the_kind_of_the_setting():
    changed = merged({"a": 0.1, "b": 3, "c": (1, 2)}, {"a": 2, "b": 4.0, "c": [5]})
    assert changed == {"a": 2.0, "b": 4, "c": (5,)}
    assert [type(each) for each in changed.values()] == [float, int, tuple]


def test_a_norm_may_be_none():
    how = METHODS["res_gcn"].settings
    assert merged(how, {"norm": "layer"})["norm"] == "layer"
    assert merged({**how, "norm": "batch"}, {"norm": None})["norm"] is None
    for wrong, words in (("graph", "one of 'batch', 'layer', got 'graph'"), (3, 'norm must be like "batch", got 3')):
        with pytest.raises(ValueError, match=words):
            merged(how, {"norm": wrong})
    with pytest.raises(ValueError, match="lr must be like"):
        merged(how, {"lr": None})
