import itertools
import sys

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data

import panconv.training.search
from panconv import PAN, Adjacency, fit, grid_search, load
from panconv.paper.settings import settings
from panconv.records.ranking import ranked
from panconv.records.record import SETTINGS, Results, pan_task
from panconv.training import runner
from panconv.training.runner import batched
from panconv.training.search import Pans, batch_size, grid_points, power_law_points, train_batch

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


def test_points_side_by_side_are_the_trainings_alone():
    """Fixed weights, weights per layer, and power laws, in one batch each, against fits of one model."""
    points = [[0.0, 1.0, 1.0], [1.0, 0.5, 2.0], {"kind": "layers", "of": [[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]}]
    points += power_law_points([0.5], [1.5])
    todo = jobs(points)
    assert len(batched(todo, Pans())) == 1
    data = load("cora", sparse=True)
    options = {key: QUICK[key] for key in ("lr", "weight_decay", "epochs", "patience")}
    for job, run in zip(todo, train(todo), strict=True):
        assert run.key() == job.key()
        alone = fit(PAN(1433, 16, 7, weights=job.weights), data, seeds=[job.seed], **options)
        assert run.loss_curve == pytest.approx(alone.history["val_loss"][:, 0].tolist(), abs=2e-5)
        assert run.test_accuracy == pytest.approx(alone.test_accuracy[0], abs=1.1e-3)
        assert run.best_epoch == alone.best_epoch[0]


def test_batches_split_by_memory_and_by_what_differs(monkeypatch):
    points = [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    whole = train(jobs(points))
    monkeypatch.setattr(panconv.training.search, "_BATCH_BYTES", 3 * 4_500_000)
    assert 1 <= batch_size(load("cora", sparse=True), 16) < 4
    assert len(batched(jobs(points), Pans())) > 1
    for a, b in zip(whole, train(jobs(points)), strict=True):
        assert a.loss_curve == pytest.approx(b.loss_curve, abs=2e-5)
    other = pan_task("cora", 5, "free", 2, QUICK, 0)
    assert len(batched([*jobs(points[:1], 1), other, pan_task("cora", 4, "free", 2, QUICK, 0)], Pans())) == 3


def test_nothing_is_trained_twice(tmp_path, monkeypatch):
    results, trained = Results(tmp_path), []
    trained_batch = panconv.training.search.train_batch
    monkeypatch.setattr(
        panconv.training.search, "train_batch", lambda batch, **k: trained.extend(batch) or trained_batch(batch, **k)
    )
    first = train(jobs([[0.0, 1.0, 1.0]]), results)
    assert len(trained) == 2
    steps = []
    again = train(jobs([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), results, callback=steps.append)
    assert len(trained) == 4
    assert again[:2] == first
    assert steps[0].progress is None
    assert steps[0].done == 0
    assert steps[-1].progress.epoch == 4
    assert steps[-1].done == 1


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


def test_every_number_of_a_run_is_there():
    (run,) = train([pan_task("cora", 2, "boltzmann", 2, {**QUICK, "weight_decay": 5e-4}, 7)], command="panconv x")
    assert len(run.loss_curve) == len(run.accuracy_curve) == 4
    assert 1 <= run.best_epoch <= 4
    at = run.best_epoch - 1
    assert (run.val_loss, run.val_accuracy) == (run.loss_curve[at], run.accuracy_curve[at])
    assert [sum(layer) for layer in run.path_weights] == pytest.approx([1, 1], abs=1e-3)
    assert run.versions["torch"] == torch.__version__ or run.versions["torch"] in torch.__version__
    assert run.command == "panconv x"
    assert len(list(itertools.chain(*run.path_weights))) == 6


def test_a_trained_temperature_is_kept_by_layer():
    law = {"kind": "power-law", "alpha": 1.0, "temperature": 0.3, "trained": True}
    mixed = {"kind": "layers", "of": [law, [0.0, 1.0, 1.0]]}
    options = {key: QUICK[key] for key in ("lr", "weight_decay", "epochs", "patience")}
    for trials in (1, 2):
        for run in train(jobs([law], trials)):
            alone = fit(PAN(1433, 16, 7, weights=law), load("cora", sparse=True), seeds=[run.seed], **options)
            T = [conv.weights.temperature.item() for conv in alone.model.layers()]
            assert run.temperatures == pytest.approx(T, rel=1e-4)
            assert all(0 < abs(each - 0.3) < 0.1 for each in T)  # it moved
    runs = train(jobs([mixed, "boltzmann", {**law, "trained": False}, [0.0, 1.0, 1.0]], 1))
    assert [[T is not None for T in run.temperatures] for run in runs] == [[True, False], [], [], []]


def test_a_temperature_that_is_not_finite_is_null():
    model = PAN(3, 2, 2, weights="power-law", trials=4)
    with torch.no_grad():
        for conv in model.layers():
            conv.weights.log_temperature.copy_(torch.tensor([0.0, 1000.0, 300.0, torch.nan]))
    found = [panconv.training.search._temperatures(model, s) for s in range(4)]
    assert found == [[1.0, 1.0], [None, None], [None, None], [None, None]]


def test_a_setting_that_does_not_exist_is_refused_before_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr(panconv.training.search, "fit", lambda *_, **__: pytest.fail("it is trained"))
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
            panconv.training.search.train_batch([job])
    assert not list(tmp_path.iterdir())


def test_pans_on_the_splits_of_the_graph_are_measured_by_the_metric_named():
    generator = torch.Generator().manual_seed(0)
    y, x = torch.arange(60) % 2, torch.rand(60, 4, generator=generator)
    parts = torch.randint(3, (60, 3), generator=generator)
    x[:, 0] += 0.3 * y
    masks = {f"{name}_mask": parts == i for i, name in enumerate(("train", "val", "test"))}
    data = Data(x=x, edge_index=torch.randint(60, (2, 90), generator=generator), y=y, **masks)
    how = {**SETTINGS, "epochs": 3, "metric": "auc"}
    tasks = [pan_task("own", 5, [0, 1, 1], 2, how, seed, split="given") for seed in (1, 5)]
    records, result = train_batch(tasks, data=data)
    with torch.no_grad():
        scores = result.model(data.x, Adjacency.of(data.edge_index, num_nodes=60))
    for s, (record, split) in enumerate(zip(records, (1, 2), strict=True)):
        test = parts[:, split] == 2
        margin = scores[test, s, 1] - scores[test, s, 0]
        assert record.test_accuracy == pytest.approx(roc_auc_score(y[test], margin), abs=1e-5)
        assert record.accuracy_curve[record.best_epoch - 1] == pytest.approx(record.val_accuracy)
