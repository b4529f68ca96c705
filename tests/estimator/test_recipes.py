import time
from types import SimpleNamespace

import numpy as np
import torch
from planted_classes import planted

from panconv.estimator import recipes
from panconv.estimator.deep import DeepTraining
from panconv.estimator.folds import folds_of
from panconv.estimator.labels import class_labels
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task


def given():
    A, X, y, _ = planted(signal=1.0)
    labels = class_labels(y, True)
    weight = torch.ones(len(labels.rows), dtype=torch.float64)
    task = Task(labels.targets, weight, folds_of(5, labels.y[labels.known], True), "softmax")
    return DeepTraining(Nodes.of(A, X), labels, weight, [0, 1, 2]), task


def test_without_an_end_all_presets_are_tried():
    found = recipes.held_recipes(*given(), 3, ("general", "heterophilous"), None, True)
    assert list(found) == ["pan", "pan, heterophilous"]
    assert found["pan"].recipe != found["pan, heterophilous"].recipe
    assert "layer" not in {held.recipe.setting("norm") for held in found.values()}  # or nothing could be explained


def test_what_is_left_of_the_time_goes_into_a_search(monkeypatch):
    seen = []

    def watched(data, space, **how):
        seen.append((data, how))
        return recipes_search(data, space, **how)

    recipes_search = recipes.search
    monkeypatch.setattr(recipes, "search", watched)
    monkeypatch.setattr(recipes, "_SHARE", 0.01)  # of the minute that there is, whatever else the machine does
    training, task = given()
    found = recipes.held_recipes(training, task, 4, ("general",), time.perf_counter() + 60, True)
    assert list(found) == ["pan", "pan, searched"]
    (data, how), known = seen[0], torch.from_numpy(training.labels.known)
    judged = known[:, None] & ~data.train_mask & ~data.val_mask
    assert how["fresh"] == 0
    assert 0 < how["budget"] < 0.01 * 60
    # No seed of the search learns from the labels that it is judged by, or looks at them; but over all seeds every
    # label is looked at, and so has its say in which recipe is chosen. `Held` and docs/estimator.md say so.
    assert torch.equal(judged[training.labels.rows], training.part)
    assert torch.equal(data.val_mask.any(1), known)
    assert found["pan, searched"].recipe.settings["epochs"] <= 4
    assert np.isfinite(found["pan, searched"].scores.numpy()).all()


def test_it_is_searched_where_it_is_trained(monkeypatch):
    seen, (training, _) = [], given()
    training.nodes = training.nodes._replace(device="cuda:0")
    choice = SimpleNamespace(operator={}, settings={"halving": [0.1], "lr": 0.1})
    monkeypatch.setattr(recipes, "search", lambda *_, **how: seen.append(how) or SimpleNamespace(choice=choice))
    assert recipes._searched(training, "heterophilous", 2, time.perf_counter() + 60).settings == {"lr": 0.1}
    assert [how["device"] for how in seen] == ["cuda:0"]


def test_where_time_is_short_there_is_one():
    found = recipes.held_recipes(*given(), None, ("general", "heterophilous"), time.perf_counter() + 0.1, True)
    assert list(found) == ["pan"]


def test_a_time_limit_alone_asks_for_no_search():
    found = recipes.held_recipes(*given(), 3, ("general",), time.perf_counter() + 600, False)
    assert list(found) == ["pan"]
