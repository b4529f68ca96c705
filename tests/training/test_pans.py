import itertools
from dataclasses import replace

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data
from two_communities import small

from panconv import PAN, Adjacency, fit, load
from panconv.base.checks import free_bytes
from panconv.paper.settings import settings
from panconv.records.record import SETTINGS, Results, pan_task
from panconv.training import pans, runner
from panconv.training.grid import power_law_points
from panconv.training.pans import Pans, batch_size, train_batch
from panconv.training.recipe import VECTORS, Recipe
from panconv.training.runner import batched

QUICK = {**settings("cora", 5).plain(), "epochs": 4}


def train(tasks, results=None, **options):
    return runner.run(tasks, results, trainer=Pans(), **options)


def jobs(points, trials=2):
    return [pan_task("cora", 5, w, 2, QUICK, seed) for w in points for seed in range(trials)]


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
    monkeypatch.setattr(pans, "_BATCH_BYTES", 3 * 4_500_000)
    assert 1 <= batch_size(load("cora", sparse=True), Recipe.of(jobs(points)[0])) < 4
    assert len(batched(jobs(points), Pans())) > 1
    for a, b in zip(whole, train(jobs(points)), strict=True):
        assert a.loss_curve == pytest.approx(b.loss_curve, abs=2e-5)
    other = pan_task("cora", 5, "free", 2, QUICK, 0)
    assert len(batched([*jobs(points[:1], 1), other, pan_task("cora", 4, "free", 2, QUICK, 0)], Pans())) == 3


def test_nothing_is_trained_twice(tmp_path, monkeypatch):
    results, trained = Results(tmp_path), []
    trained_batch = pans.train_batch
    monkeypatch.setattr(pans, "train_batch", lambda batch, **k: trained.extend(batch) or trained_batch(batch, **k))
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
    found = [pans._temperatures(model, s) for s in range(4)]
    assert found == [[1.0, 1.0], [None, None], [None, None], [None, None]]


def test_a_temperature_beside_a_trained_exponent_is_kept_where_it_is_trained():
    law = {"kind": "power-law", "temperature": 4.0}
    of = [{**law, "trained": trained} for trained in ("both", "alpha")]
    model = PAN(3, 2, 2, weights={"kind": "layers", "of": of}, trials=2)
    assert pans._temperatures(model, 1) == [pytest.approx(4.0), None]
    assert pans._temperatures(PAN(3, 2, 2, weights=of[1], trials=2), 0) == []


def test_what_may_differ_side_by_side_and_what_may_not():
    def beside(weights=(0.0, 1.0, 1.0), **changes):
        return Pans().beside(pan_task("cora", 5, weights if isinstance(weights, str) else list(weights), 2, changes, 0))

    base = beside(**QUICK)
    for name in VECTORS:
        assert beside(**{**QUICK, name: 0.123}) == base
    assert beside((1.0, 1.0, 1.0), **QUICK) == base
    for name, value in {"hidden": 8, "epochs": 9, "draws": 4, "propagate": True, "halving": [2]}.items():
        assert beside(**{**QUICK, name: value}) != base
    assert beside("free", **QUICK) != base


def test_draws_propagated_features_and_depth_take_memory(monkeypatch):
    data = load("cora", sparse=True)
    monkeypatch.setattr(pans, "_BATCH_BYTES", 2**36)

    def bytes_of_one(L=2, **changes):
        return 2**36 / batch_size(data, Recipe({"method": 5, "L": L, "weights": "free"}, {**QUICK, **changes}))

    hidden = bytes_of_one() - 24 * data.x.values().numel()
    assert bytes_of_one(draws=4) - bytes_of_one() == pytest.approx(3 * hidden, rel=0.01)  # the features are held once
    dense = 5 * 4 * 2708 * 1433  # five float32 of the features' shape
    assert dense < bytes_of_one(propagate=True) < 1.1 * dense
    assert bytes_of_one(propagate=True, draws=4) == pytest.approx(4 * bytes_of_one(propagate=True), rel=0.01)
    layers = [bytes_of_one(layers=n) for n in (2, 8, 64)]
    assert layers[2] - layers[1] == pytest.approx(56 / 6 * (layers[1] - layers[0]), rel=0.02)
    assert bytes_of_one(concat=True, hidden=64) - bytes_of_one(hidden=64) == pytest.approx(
        2 * (bytes_of_one(hidden=64) - bytes_of_one(hidden=1)), rel=0.05
    )


@pytest.mark.parametrize(
    ("graph", "method", "L", "changes", "measured"),
    [
        ("pubmed", 6, 8, {}, 275),
        ("pubmed", 6, 3, {}, 130),
        ("pubmed", 3, 8, {}, 104),
        ("pubmed", 5, 8, {"draws": 4, "layers": 1}, 143),
        ("cora", 5, 8, {"draws": 4, "layers": 1}, 22),
        ("cora", 5, 8, {"draws": 4, "layers": 1, "propagate": True}, 292),
        ("cora", 5, 3, {"layers": 64, "hidden": 64, "residual": "input"}, 436),
        ("cora", 9, 3, {"layers": 4, "hidden": 128, "concat": True}, 156),
    ],
)
def test_estimates_of_memory_are_near_what_was_measured(monkeypatch, graph, method, L, changes, measured):
    """MiB of one trial more: the rise of the largest memory of a process on a CPU from one trial to three, halved."""
    monkeypatch.setattr(pans, "_BATCH_BYTES", 2**50)
    recipe = Recipe({"method": method, "L": L, "weights": "free"}, {**QUICK, "hidden": 32, **changes})
    each = 2**50 / batch_size(pans.loaded(graph, True), recipe) / 2**20
    assert 0.8 * measured < each < 1.25 * measured


def test_weights_that_cannot_be_are_refused_before_anything_is_trained():
    law = {"kind": "power-law", "alpha": 1.0, "temperature": -2.0, "trained": False}
    with pytest.raises(ValueError, match="temperature"):
        Pans().check(pan_task("cora", 5, law, 2, QUICK, 0))
    with pytest.raises(ValueError, match=r"L\+1 = 3 entries"):
        Pans().check(pan_task("cora", 5, [1.0], 2, QUICK, 0))
    for weights in ("free", [0.0, 1.0, 1.0], {"kind": "layers", "of": [[0.0, 1.0, 1.0], "free"]}):
        Pans().check(pan_task("cora", 5, weights, 2, QUICK, 0))


def test_a_graph_is_read_once_for_its_size_and_its_training(monkeypatch):
    read = []
    monkeypatch.setattr(pans, "load", lambda *names, **_: read.append(names) or small(sparse=True))
    pans.loaded.cache_clear()
    for rows in (True, False):
        runner.run([pan_task("mine", 5, [0.0, 1.0], 1, {**QUICK, "rows": rows}, 0)], trainer=Pans())
    pans.loaded.cache_clear()
    assert len(read) == 2  # with rows of sum 1 and without


def test_a_graph_of_ones_own_has_the_classes_that_fit_sees():
    data = small()
    data.y = data.y.unsqueeze(1).to(torch.uint8)
    name, graph = pans.named_graph(data, None)
    assert name == "a Data object"
    assert (graph.y.shape, graph.y.dtype) == ((40,), torch.long)
    assert data.y.shape == (40, 1)  # ours is as it was


def test_on_a_gpu_what_torch_holds_without_using_it_is_free(monkeypatch):
    for name, value in {"mem_get_info": (100, 999), "memory_reserved": 70, "memory_allocated": 50}.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    assert free_bytes(torch.device("cuda")) == 120
    assert free_bytes(torch.device("cpu")) > 2**20


def test_on_a_gpu_half_of_the_memory_is_used(monkeypatch):
    data, recipe = load("cora", sparse=True), Recipe({"method": 5, "L": 2, "weights": "free"}, QUICK)
    monkeypatch.setattr(pans, "_BATCH_BYTES", 2**34)
    monkeypatch.setattr(pans, "free_bytes", lambda place: 2**35)
    assert batch_size(data, recipe, "cuda") == batch_size(data, recipe, "cpu") > 100


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


def test_what_only_chooses_and_fails_is_recorded_as_failed(tmp_path):
    how = {**QUICK, "lr": 1e38, "epochs": 3}
    tasks = [pan_task("cora", 5, [1e30, 1e30], 1, how, seed, tested=False) for seed in (0, 1)]
    found = runner.run(tasks, Results(tmp_path), trainer=Pans(small()))
    assert [(each.best_epoch, each.val_accuracy, each.val_loss) for each in found] == [(0, 0.0, None)] * 2
    assert len(Results(tmp_path).read()) == 2
    with pytest.raises(ValueError, match="no trial ever had a finite validation loss"):
        runner.run([replace(task, tested=True) for task in tasks], trainer=Pans(small()))


@pytest.mark.parametrize("trained", [False, True])
def test_a_law_of_effective_lengths_trains_one_seed_at_a_time(trained):
    law = {"kind": "power-law", "alpha": 1.0, "temperature": 2.0, "trained": trained}
    how = {**SETTINGS, "hidden": 4, "epochs": 3}
    tasks = [pan_task("mine", 2, law, 2, how, seed) for seed in (0, 1)]
    tasks = [replace(task, operator={**task.operator, "paths": "effective"}) for task in tasks]
    trainer = Pans(small())
    assert [len(batch) for batch in batched(tasks, trainer)] == [1, 1]
    records = runner.run(tasks, trainer=trainer)
    assert [record.path_weights for record in records] == [[], []]
    assert [len(record.temperatures) for record in records] == [2 * trained] * 2
    alone = [Recipe.of(task).fit(small(), [task.seed]) for task in tasks]
    assert [record.val_loss for record in records] == pytest.approx([each.val_loss[0] for each in alone], abs=1e-4)
