from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from panconv import load
from panconv.paper.zoo import runner
from panconv.paper.zoo.menu import MENU, WALK
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Results, Task
from panconv.training.runner import batched
from panconv.training.runner import run as run_with

HEADS = [{**METHODS["res_gat"].settings, "heads": heads} for heads in (1, 16, 64)]
SHORT = {**METHODS["dcnn"].settings, "epochs": 4}  # of a method that takes one split at a time
TASK = Task("cora", "gcn", None, "public", {**METHODS["gcn"].settings, "epochs": 4}, 0, True)


def run(tasks, results=None, train=None, **options):
    """With a function in place of the method's own where one is given."""
    with pytest.MonkeyPatch.context() as patch:
        if train is not None:
            patch.setattr(runner, "trainer", lambda name: train)
        return run_with(tasks, results, trainer=runner.Baselines(), **options)


def tasks(*seeds, **changes):
    return [replace(TASK, seed=seed, **changes) for seed in seeds]


def test_the_labels_of_the_test_nodes_are_not_handed_over():
    data = load("cora")
    shown = runner.hidden(data)
    known = data.train_mask | data.val_mask
    assert (shown.y[~known] == -1).all()
    assert torch.equal(shown.y[known], data.y[known])
    assert "test_mask" not in shown
    assert (data.y >= 0).all()  # ours is as it was
    assert shown.x is data.x  # nothing is copied that stays

    def looks(data, how, seeds, device, tell):
        assert int((data.y >= 0).sum()) == 640
        return data.y.expand(len(seeds), -1)

    (record,) = run(tasks(0), train=looks)
    assert record.val_accuracy == 1
    assert record.test_accuracy == 0


def test_accuracy_is_that_of_the_nodes_it_says():
    data = load("cora")

    def right_on(mask):
        def train(shown, how, seeds, device, tell):
            return data.y.where(mask, -1).expand(len(seeds), -1)

        return train

    (val,) = run(tasks(0), train=right_on(data.val_mask))
    (test,) = run(tasks(0), train=right_on(data.test_mask))
    assert (val.val_accuracy, val.test_accuracy) == (1, 0)
    assert (test.val_accuracy, test.test_accuracy) == (0, 1)
    (blind,) = run(tasks(0, tested=False), train=right_on(data.test_mask))
    assert blind.test_accuracy is None


def test_a_setting_that_the_method_does_not_have_is_refused_before_the_training(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "trainer", lambda _: pytest.fail("it is trained"))
    with pytest.raises(ValueError, match="'hiden' is no setting of this method"):
        run(tasks(0, settings={**TASK.settings, "hiden": 8}), Results(tmp_path))
    with pytest.raises(ValueError, match=r"lr must be like 0\.01, got 'fast'"):
        run(tasks(0, settings={**TASK.settings, "lr": "fast"}), Results(tmp_path))
    assert not list(tmp_path.iterdir())


def test_what_has_a_record_is_not_trained_again(tmp_path):
    calls = []

    def train(data, how, seeds, device, tell):
        calls.append(list(seeds))
        return torch.zeros(len(seeds), data.num_nodes, dtype=torch.long)

    store = Results(tmp_path)
    first = run(tasks(0, 1), store, train=train)
    again = run(tasks(1, 2, 0), store, train=train)
    assert calls == [[0, 1], [2]]
    assert [record.seed for record in again] == [1, 2, 0]
    assert again[0] == first[1]


def test_batches_are_alike_but_for_the_seed(monkeypatch):
    mixed = tasks(0, 1) + tasks(0, settings={"lr": 1}) + tasks(2)
    assert [[t.seed for t in batch] for batch in batched(mixed, runner.Baselines())] == [[0, 1, 2], [0]]
    each = 9 * load("cora").x.numel() + 48 * 2708 * 16  # features, and a hidden layer of 16 channels
    monkeypatch.setattr(runner, "_BATCH_BYTES", 2 * each)
    assert [[t.seed for t in batch] for batch in batched(mixed, runner.Baselines())] == [[0, 1], [2], [0]]


def test_attention_is_trained_in_smaller_batches(monkeypatch):
    """A trial holds a number for each edge, head and layer."""
    monkeypatch.setattr(runner, "_BATCH_BYTES", 2**30)
    sizes = [runner.Baselines().at_once(replace(TASK, model="res_gat", settings=how), "cpu") for how in HEADS]
    assert sizes[0] > sizes[1] > sizes[2]


# MiB that one trial more took on a CPU, at most by any of several measurements.
MEASURED = [
    ("gcn", "cora", {}, 37),
    ("gcn", "pubmed", {"hidden": 64}, 126),
    ("gprgnn", "pubmed", {}, 90),
    ("gcnii", "cora", {}, 478),
    ("res_gcn", "minesweeper", {"norm": "batch", "hidden": 128}, 200),
    ("res_sage", "minesweeper", {"layers": 6}, 178),
    ("res_gat", "minesweeper", {"heads": 8}, 361),
    ("res_gat", "minesweeper", {"heads": 4, "layers": 8}, 615),
    ("res_gat", "minesweeper", {"heads": 4, "hidden": 128}, 616),
    ("res_gat", "tolokers", {"heads": 4, "layers": 2}, 245),
]
SIZES = {  # nodes, features, edges
    **{"cora": (2708, 1433, 10556), "pubmed": (19717, 500, 88648)},
    **{"minesweeper": (10000, 7, 78804), "tolokers": (11758, 10, 1038000)},
}


@pytest.mark.parametrize(("model", "dataset", "changes", "measured"), MEASURED)
def test_what_a_trial_holds_is_about_what_was_measured(monkeypatch, model, dataset, changes, measured):
    N, F, E = SIZES[dataset]
    graph = SimpleNamespace(x=torch.empty(N, F, device="meta"), num_nodes=N, num_edges=E)
    monkeypatch.setattr(runner, "_loaded", lambda name: graph)
    monkeypatch.setattr(runner, "_BATCH_BYTES", 2**44)
    task = replace(TASK, dataset=dataset, model=model, settings={**METHODS[model].on(dataset), **changes})
    estimate = 2**24 / runner.Baselines().at_once(task, "cpu")  # MiB
    assert 0.85 < estimate / measured < 1.6


def test_trials_that_differ_in_what_fit_takes_by_trial_run_side_by_side():
    seen = []

    def train(data, how, seeds, device, tell):
        seen.append(({name: how.get(name) for name in ("lr", "weight_decay", "dropout", "decay_others")}, list(seeds)))
        return torch.zeros(len(seeds), data.num_nodes, dtype=torch.long)

    changed = [{"lr": 0.1}, {"dropout": 0.7}, {"decay_others": 0.5, "lr": 0.1}]
    mixed = [replace(TASK, seed=s, settings={**TASK.settings, **each}) for s, each in enumerate(changed)]
    records = run([*mixed, replace(TASK, settings={**TASK.settings, "hidden": 8})], train=train)
    plain = {"lr": 0.01, "weight_decay": 5e-4, "dropout": 0.5, "decay_others": None}
    own = {"lr": [0.1, 0.01, 0.1], "dropout": [0.5, 0.7, 0.5], "decay_others": [0.0, 0.0, 0.5]}
    assert seen == [({**plain, **own}, [0, 1, 2]), (plain, [0])]
    assert [record.settings for record in records[:3]] == [task.settings for task in mixed]
    by_itself = replace(TASK, model="fastgcn", settings=METHODS["fastgcn"].settings)  # which has epochs of its own
    other = replace(by_itself, settings={**by_itself.settings, "lr": 0.5})
    assert runner.Baselines().beside(by_itself) != runner.Baselines().beside(other)


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_scores_are_measured_by_the_metric_that_the_settings_name(tmp_path, monkeypatch, metric):
    """On the splits that the graph brings: with seed 11 the second of two."""
    monkeypatch.setenv("PANCONV_HETEROPHILOUS", str(tmp_path))
    generator = torch.Generator().manual_seed(0)
    y, scores = torch.arange(40) % 2, torch.randn(40, 2, generator=generator)
    parts = torch.randint(3, (2, 40), generator=generator)
    masks = {f"{name}_masks": (parts == i).numpy() for i, name in enumerate(("train", "val", "test"))}
    x, edges = torch.rand(40, 3, generator=generator), torch.randint(40, (60, 2), generator=generator)
    np.savez(tmp_path / "tolokers.npz", node_features=x.numpy(), node_labels=y.numpy(), edges=edges.numpy(), **masks)
    settings = {**METHODS["res_gcn"].settings, "metric": metric, "epochs": 3}
    task = Task("tolokers", "res_gcn", None, "given", settings, 11, True)
    (record,) = run([task], Results(tmp_path / "records"), train=lambda *_, **__: scores.unsqueeze(0))
    for part, found in ((1, record.val_accuracy), (2, record.test_accuracy)):
        mine = parts[1] == part
        margin = scores[mine, 1] - scores[mine, 0]
        right = roc_auc_score(y[mine], margin) if metric == "auc" else float(((margin > 0) == y[mine]).float().mean())
        assert found == pytest.approx(right, abs=1e-6)
    together = run([replace(task, seed=s) for s in (11, 4)])  # a real training
    (alone,) = run([replace(task, seed=4)])
    assert together[1].test_accuracy == pytest.approx(alone.test_accuracy, abs=2e-3)
    (one_by_one,) = run([replace(task, model="lp", settings=METHODS["lp"].settings)])
    assert 0 <= one_by_one.test_accuracy <= 1


def test_what_has_no_scores_knows_no_other_metric():
    how = METHODS["lp"].settings
    with pytest.raises(ValueError, match="lp gives classes and no scores, so it has no AUC: use accuracy"):
        run(tasks(0, model="lp", settings={**how, "metric": "auc"}))
    with pytest.raises(ValueError, match=r"'epochs' is no setting of this method: it has normalize, steps, alpha$"):
        run(tasks(0, model="lp", settings={**how, "epochs": 5, "halving": [1]}))
    (said,), (unsaid,) = (run(tasks(0, model="lp", settings=each)) for each in ({**how, "metric": "accuracy"}, how))
    assert said.val_accuracy == unsaid.val_accuracy
    with pytest.raises(ValueError, match="metric must be one of 'accuracy', 'auc', got 'speed'"):
        run(tasks(0, settings={**TASK.settings, "metric": "speed"}))


def test_a_real_training_is_the_same_alone_and_among_others():
    told = []
    together = run(tasks(0, 1, 2), callback=told.append)
    (alone,) = run(tasks(1))
    assert alone.val_accuracy == pytest.approx(together[1].val_accuracy, abs=2e-3)
    assert [step.done for step in told] == [0, 0.25, 0.5, 0.75, 1]


def test_records_have_the_best_epoch_and_its_loss_where_fit_trains():
    together = run(tasks(0, 1))
    for record in (*together, *run(tasks(0, split="random", model="dcnn", settings=SHORT))):
        assert record.best_epoch in range(1, 5)
        assert 0 < record.val_loss < 3
    assert run(tasks(1))[0].val_loss == pytest.approx(together[1].val_loss, abs=2e-5)
    (other,) = run(tasks(0, model="lp", settings=METHODS["lp"].settings))
    assert (other.best_epoch, other.val_loss) == (None, None)


def test_a_training_without_a_finite_loss_is_worth_nothing():
    """As in PAN's records; that of the other trial beside it is as ever."""
    settings = [{**TASK.settings, "lr": lr} for lr in (1e38, 0.01)]
    with pytest.warns(UserWarning, match="never had a finite validation loss"):
        lost, sound = run([replace(TASK, tested=False, settings=how) for how in settings])
    assert (lost.val_accuracy, lost.best_epoch, lost.val_loss) == (0, 0, None)
    assert sound.val_accuracy > 0.1
    assert sound.best_epoch > 0


def test_settings_that_are_halved_are_told_apart(monkeypatch):
    """What `fit` is to be given: side by side they may differ, and the trials of a setting go together."""
    seen = []

    def train(data, how, seeds, device, tell):
        seen.append(how)
        return torch.zeros(len(seeds), data.num_nodes, dtype=torch.long)

    how = {**TASK.settings, "halving": [1, 2]}
    two = [task for lr in (0.01, 0.1) for task in tasks(0, 1, settings={**how, "lr": lr}, tested=False)]
    monkeypatch.setattr(runner, "trainer", lambda name: train)
    runner.Baselines().train(two, "cpu", "", lambda *_: None)
    assert seen[0]["cut"].settings.tolist() == [0, 0, 1, 1]
    assert seen[0]["cut"].rungs == [1, 2]
    runner.Baselines().train(tasks(0, 1), "cpu", "", lambda *_: None)
    assert "cut" not in seen[1]
    for task in two:
        runner.Baselines().check(task)


def test_on_m_and_on_a_walk():
    seen = []

    def train(data, how, seeds, device, tell):
        seen.append((data.get("edge_weight"), how))
        return torch.zeros(len(seeds), data.num_nodes, dtype=torch.long)

    settings = {"normalize": True, "walk": "generic", "method": "mine"}
    for operator in (None, MENU[0].plain(), replace(MENU[0], normalize=False).plain(), dict(WALK)):
        run(tasks(0, model="mine", operator=operator, settings=settings), train=train)
    assert [weight is None for weight, _ in seen] == [True, False, False, True]
    assert [how["normalize"] for _, how in seen] == [True, True, False, True]
    assert [how["walk"] for _, how in seen] == ["generic"] * 3 + ["maximal-entropy"]
    assert {how["method"] for _, how in seen} == {"mine"}
    assert int(torch.bincount(runner.on_operator("cora", MENU[0].plain()).edge_index[1]).max()) == 32


def test_splits_side_by_side_and_one_after_another():
    y = load("cora").y
    seen = []

    def train(data, how, seeds, device, tell):
        seen.append((data.train_mask.shape, list(seeds), int(data.y.min())))
        return y.expand(len(seeds), -1)

    records = run(tasks(0, 1, 2, split="random"), train=train)
    assert seen == [((2708, 3), [0, 1, 2], -1)]  # hidden are nodes that none of them may look at
    assert [record.test_accuracy for record in records] == [1, 1, 1]
    seen.clear()
    run(tasks(0, 1, split="random", model="lp", settings=METHODS["lp"].settings), train=train)
    assert seen == [((2708,), [0], -1), ((2708,), [1], -1)]


def test_a_metric_that_cannot_be_measured_is_0():
    scores, y = torch.rand(4, 2), torch.zeros(4, dtype=torch.long)  # nodes of one class have no AUC
    assert runner._measured(scores, y, torch.ones(4, dtype=torch.bool), "auc") == 0.0
