import math
from types import SimpleNamespace

import pytest
from two_communities import small

from panconv import PAN, fit
from panconv.records.record import SETTINGS, UNSAID, pan_task
from panconv.training import recipe
from panconv.training.recipe import VECTORS, Recipe, is_fixed

MET = {"method": 5, "L": 2, "weights": [0.0, 1.0, 1.0]}
QUICK = {**SETTINGS, "epochs": 6, "hidden": 4}


@pytest.fixture
def given(monkeypatch):
    """What PAN, fit and Consistency are given, as they stand in for themselves."""
    found = SimpleNamespace()

    def model(*args, **named):
        found.model = (args, named)
        return SimpleNamespace()

    def trained(model, data, **named):
        found.fit = named

    monkeypatch.setattr(recipe, "PAN", model)
    monkeypatch.setattr(recipe, "fit", trained)
    monkeypatch.setattr(recipe, "Consistency", lambda *args, **named: ("consistency", *args, named))
    return found


def test_a_plain_recipe_is_the_paper_s_model_and_training():
    data = small()
    by_recipe = Recipe(MET, QUICK).fit(data, [3, 4])
    model = PAN(6, 4, 2, L=2, method=5, weights=MET["weights"], trials=2)
    by_hand = fit(model, data, seeds=[3, 4], lr=0.01, weight_decay=5e-4, epochs=6, patience=50)
    assert by_recipe.val_loss == by_hand.val_loss
    assert by_recipe.test_accuracy == by_hand.test_accuracy
    assert by_recipe.model.decay == "first"
    alone = Recipe(MET, {**QUICK, "decay": "all"}).model(6, 2)
    assert (alone.trials, alone.decay) == (None, "all")


def test_what_is_not_said_is_not_passed_on(given):
    for how in (QUICK, {**QUICK, **UNSAID}):
        Recipe(MET, how).fit(small(), [0])
        assert set(given.model[1]) == {"L", "method", "weights", "dropout", "trials"}
        assert set(given.fit) == {"seeds", "device", "callback", "lr", "weight_decay", "epochs", "patience"}


def test_what_is_said_is_passed_on(given):
    how = {
        **{**QUICK, "norm": "batch", "jk": "last", "act": "elu", "concat": True, "keep": "both", "metric": "auc"},
        **{"residual": "input", "share": 0.2, "drop_nodes": 0.4, "norm_input": "batch", "propagate": True},
        **{"nearest": 16, "averaged": True, "nodes": 300, "ramp": 50, "labelled": 5, "clip": 0.1},
        **{"draws": 4, "consistency": 1.5, "decay_others": 1e-4},
    }
    Recipe({**MET, "paths": "shortest"}, how).fit(small(), [0, 1])
    args, named = given.model
    assert args == (6, 4, 2, 2)
    assert {name: named[name] for name in ("norm", "jk", "act", "concat", "paths")} == {
        **{"norm": "batch", "jk": "last", "act": "elu", "concat": True, "paths": "shortest"}
    }
    assert named["residual"] == {"kind": "input", "share": 0.2, "identity": 0.5}
    entering = {"drop_nodes": 0.4, "dropout": None, "propagate": True, "norm": "batch", "nearest": 16}
    assert named["inputs"] == {**entering, "averaged": True}
    assert given.fit["regularizer"] == (
        "consistency",
        4,
        1.5,
        {"sharpening": 0.5, "confidence": 0.0, "nodes": 300, "ramp": 50, "labelled": 5},
    )
    assert (given.fit["keep"], given.fit["metric"], given.fit["decay_others"]) == ("both", "auc", 1e-4)
    assert given.fit["clip"] == 0.1
    assert Recipe(MET, {**QUICK, "labelled": 3}).options()["regularizer"][3]["labelled"] == 3
    Recipe(MET, {**QUICK, "residual": "layer"}).fit(small(), [0])
    assert given.model[1]["residual"] == "layer"
    assert "regularizer" not in given.fit


def test_recipes_side_by_side_have_a_number_per_trial(given):
    base = {**QUICK, "draws": 4, "residual": "input"}
    changes = [dict.fromkeys(VECTORS, 0.1 * i) for i in (1, 2)]
    laws = [{"kind": "power-law", "alpha": 1.0, "temperature": T, "trained": False} for T in (0.5, 2.0)]
    recipes = [Recipe({**MET, "weights": w}, {**base, **how}) for w, how in zip(laws, changes, strict=True)]
    together = Recipe.side_by_side(recipes)
    assert all(together.settings[name] == [0.1, 0.2] for name in VECTORS)
    together.fit(small(), [0, 1])
    assert given.fit["lr"] == given.fit["weight_decay"] == given.fit["decay_others"] == [0.1, 0.2]
    two = {name: [0.1, 0.2] for name in ("sharpening", "confidence")}
    assert given.fit["regularizer"] == (
        "consistency",
        4,
        [0.1, 0.2],
        {**two, "nodes": None, "ramp": 0, "labelled": None},
    )
    named = given.model[1]
    assert named["dropout"] == named["inputs"]["dropout"] == named["inputs"]["drop_nodes"] == [0.1, 0.2]
    assert named["residual"] == {"kind": "input", "share": [0.1, 0.2], "identity": [0.1, 0.2]}
    assert given.fit["clip"] == [0.1, 0.2]
    unlimited = Recipe.side_by_side([recipes[0].but(clip=None), recipes[1]])
    assert unlimited.settings["clip"] == [math.inf, 0.2]
    first, second = named["weights"]["of"]
    assert first == second
    assert [row[0] for row in first] == pytest.approx([1, 0.1353352, 0.0183156], rel=1e-5)  # exp(−n/½)
    assert [row[1] for row in first] == pytest.approx([1, 0.6065306, 0.3678794], rel=1e-5)


def test_a_law_is_fixed_where_nothing_of_it_is_trained():
    laws = [{"kind": "power-law", "trained": trained} for trained in (False, True, "alpha", "both")]
    assert [is_fixed(law) for law in laws] == [True, False, False, False]


def test_where_the_input_has_no_dropout_of_its_own_it_is_the_model_s():
    said = Recipe(MET, {**QUICK, "dropout": 0.6, "dropout_input": 0.2})
    unsaid = Recipe(MET, {**QUICK, "dropout": 0.3})
    together = Recipe.side_by_side([said, unsaid])
    assert (together.settings["dropout"], together.settings["dropout_input"]) == ([0.6, 0.3], [0.2, 0.3])
    assert Recipe.side_by_side([unsaid, unsaid]).settings == unsaid.settings  # nothing is said that was not


def test_lengths_differ_side_by_side_where_weights_are_fixed():
    recipes = [Recipe({**MET, "L": len(k) - 1, "weights": k}, QUICK) for k in ([0.5, 1.0], [0.0, 1.0, 1.0])]
    together = Recipe.side_by_side(recipes)
    assert together.operator["L"] == 2
    assert together.operator["weights"]["of"] == [[[0.5, 0.0], [1.0, 1.0], [0.0, 1.0]]] * 2
    beside, alone = together.fit(small(), [3, 4]), [each.fit(small(), [3 + i]) for i, each in enumerate(recipes)]
    assert beside.val_loss == pytest.approx([each.val_loss[0] for each in alone], rel=1e-5)


def test_the_recipe_of_a_record():
    task = pan_task("cora", 2, "boltzmann", 3, QUICK, 0)
    assert Recipe.of(task) == Recipe({"method": 2, "L": 3, "weights": "boltzmann"}, QUICK)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_a_fixed_law_of_effective_lengths_trains_a_seed_at_a_time(alpha):
    """It has no numbers wₙ that could stand in a column."""
    law = {"kind": "power-law", "alpha": alpha, "temperature": 0.7, "trained": False}
    given = Recipe({"method": 1, "L": 2, "weights": law, "paths": "effective"}, QUICK)
    mine = Recipe.side_by_side([given])
    assert mine == given
    assert mine.alone
    found = mine.fit(small(), [3])
    model = PAN(6, 4, 2, L=2, method=1, weights=law, paths="effective")
    by_hand = fit(model, small(), seeds=[3], lr=0.01, weight_decay=5e-4, epochs=6, patience=50)
    assert found.val_loss == by_hand.val_loss
    with pytest.raises(ValueError, match="train them one after another"):
        mine.fit(small(), [3, 4])
    other = Recipe({**given.operator, "weights": {**law, "temperature": 2.0}}, QUICK)
    with pytest.raises(ValueError, match="effective"):  # and never by the law of one of them
        Recipe.side_by_side([given, other]).fit(small(), [3, 4])


def test_weights_that_all_have_stay_as_they_are_said():
    law = {"kind": "power-law", "alpha": 1.0, "temperature": 0.7, "trained": False}
    recipes = [Recipe({**MET, "weights": law}, {**QUICK, "lr": lr}) for lr in (0.1, 0.2)]
    together = Recipe.side_by_side(recipes)
    assert together.operator == recipes[0].operator
    assert not together.alone


def test_but_changes_settings_and_the_operator_and_nothing_else():
    one = Recipe(MET, QUICK)
    assert one.but(epochs=2, L=3).operator == {**MET, "L": 3}
    assert one.but(epochs=2, L=3).settings == {**QUICK, "epochs": 2}
    assert (one.operator, one.settings) == (MET, QUICK)
    with pytest.raises(ValueError, match=r"'dropuot' is no setting: they are method, L, weights, paths, .*dropout"):
        one.but(dropuot=0.9)


def test_what_is_given_to_fit_beside_counts_in_place_of_the_recipe_s(given):
    Recipe(MET, QUICK).fit(small(), [0], epochs=2, keep="last")
    assert (given.fit["epochs"], given.fit["keep"], given.fit["seeds"]) == (2, "last", [0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "data.x is missing"),
        ((small(), 3), "seeds must be a sequence of integers, one per trial, got 3"),
        ((small(), []), "seeds must be 1, one per trial, got 0"),
    ],
)
def test_what_cannot_be_trained_is_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Recipe(MET, QUICK).fit(*arguments)
