import sys

import pytest
import torch

from panconv import grid_search, load
from panconv.paper.settings import settings
from panconv.records.ranking import ranked
from panconv.records.record import Results, pan_task
from panconv.training import recipe, runner
from panconv.training.grid import grid_points, power_law_points
from panconv.training.pans import Pans, train_batch

QUICK = {**settings("cora", 5).plain(), "epochs": 4}


def train(tasks, results=None, **options):
    return runner.run(tasks, results, trainer=Pans(), **options)


def jobs(points, trials=2):
    return [pan_task("cora", 5, w, 2, QUICK, seed) for w in points for seed in range(trials)]


def test_grids_of_points():
    assert len(grid_points([0, 0.5, 1, 2], 2)) == 63  # all but k = 0
    tied = grid_points([0, 1, 2], 2, tie=[1, 2])
    assert tied == [[0, 1, 1], [0, 2, 2], [1, 0, 0], [1, 1, 1], [1, 2, 2], [2, 0, 0], [2, 1, 1], [2, 2, 2]]
    layered = grid_points([1, 2], 1, layers=2)
    assert len(layered) == 16
    assert layered[1] == {"kind": "layers", "of": [[1, 1], [1, 2]]}
    assert [p["temperature"] for p in power_law_points([1, 2], [1])] == [1, 2]


def test_search_ranks_by_validation_alone():
    points = grid_points([0.0, 1.0], 1)
    found = grid_search("cora", points, QUICK, L=1, trials=2)
    assert len(found) == 3
    assert [p.val_accuracy for p in found] == sorted((p.val_accuracy for p in found), reverse=True)
    runs = train([pan_task("cora", 5, w, 1, QUICK, s) for w in points for s in range(2)])
    blind = [type(run)(**{**vars(run), "test_accuracy": 0.0}) for run in runs]
    assert ranked(blind) == found


def test_a_graph_of_ones_own():
    points, data = grid_points([0.0, 1.0], 1), load("cora", sparse=True)
    before = sys.getrefcount(data)
    mine = grid_search(data, points, {"epochs": 4, "weight_decay": 5e-3}, L=1, trials=2)
    assert mine == grid_search("cora", points, QUICK, L=1, trials=2)
    assert sys.getrefcount(data) == before  # nothing keeps it
    with pytest.raises(ValueError, match="results go with a graph that has a name"):
        grid_search(data, points, results=Results("nowhere"))


def test_a_graph_of_ones_own_that_lacks_something_is_refused_in_a_line():
    data = load("cora", sparse=True)
    for name, value, words in (
        ("x", None, r"data\.x is missing"),
        ("x", [1.0], r"data\.x must be a tensor"),
        ("x", torch.ones(2708), r"data\.x must be \(N, F\)"),
        ("y", None, r"data\.y is missing"),
    ):
        broken = data.clone()
        broken[name] = value
        with pytest.raises((ValueError, TypeError), match=words):
            grid_search(broken, [[0.0, 1.0, 1.0]], QUICK, trials=1)


def test_a_tie_goes_to_the_lower_loss():
    (run,) = train(jobs([[0.0, 1.0, 1.0]], 1))
    twin = type(run)(
        **{**vars(run), "operator": {**run.operator, "weights": [9.0, 1.0, 1.0]}, "val_loss": run.val_loss - 0.1}
    )
    assert ranked([run, twin])[0].weights[0] == 9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: grid_points([], 2), "no points: values is empty"),
        (lambda: grid_points([1], 2, tie=[1, 3]), "tie names length 3, outside 0 … 2"),
        (lambda: grid_points([0, 1, 2, 3], 12), "more than 100,000"),
        (lambda: grid_search("cora", [], QUICK), "no points"),
    ],
)
def test_bad_grids(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_point_that_diverges_is_ranked_last_and_named():
    with pytest.warns(UserWarning, match=r"seeds \[0, 0\]|seeds \[0\]"):
        found = grid_search("cora", [[1.0, 1.0, 1e38], [0.0, 1.0, 1.0]], QUICK, trials=1)
    assert [point.weights[2] for point in found] == [1.0, 1e38]
    assert found[1].val_accuracy == 0


def test_a_tie_named_twice():
    assert grid_points([1, 2], 2, tie=[1, 1]) == grid_points([1, 2], 2)


def test_a_setting_that_does_not_exist_is_refused_before_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "fit", lambda *_, **__: pytest.fail("it is trained"))
    for settings_, words in (
        ({"hiden": 8}, "'hiden' is no setting: they are hidden"),
        ({"lr": "fast"}, "lr must be positive and finite, got 'fast'"),
        ({"epochs": 10**9}, "epochs must be a whole number between 1 and 1,000,000"),
    ):
        with pytest.raises(ValueError, match=words):
            grid_search("cora", [[0.0, 1.0, 1.0]], settings_, trials=1, results=Results(tmp_path))
        job = pan_task("cora", 5, [0.0, 1.0, 1.0], 2, {**QUICK, **settings_}, 0)
        with pytest.raises(ValueError, match=words):
            train([job], Results(tmp_path))
        with pytest.raises(ValueError, match=words):
            train_batch([job])
    assert not list(tmp_path.iterdir())
