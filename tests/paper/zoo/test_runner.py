from dataclasses import replace

import pytest
import torch

from panconv import load
from panconv.paper.zoo import runner
from panconv.paper.zoo.menu import MENU, WALK
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Results, Task
from panconv.training.runner import batched
from panconv.training.runner import run as run_with

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
    monkeypatch.setattr(runner, "_BATCH_BYTES", 2 * 16 * load("cora").x.numel())
    assert [[t.seed for t in batch] for batch in batched(mixed, runner.Baselines())] == [[0, 1], [2], [0]]


def test_a_real_training_is_the_same_alone_and_among_others():
    told = []
    together = run(tasks(0, 1, 2), callback=told.append)
    (alone,) = run(tasks(1))
    assert alone.val_accuracy == pytest.approx(together[1].val_accuracy, abs=2e-3)
    assert [step.done for step in told] == [0, 0.25, 0.5, 0.75, 1]


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
