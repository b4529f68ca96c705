"""Models of whole graphs as the runner trains them: the same alone or beside others, and chosen without the test."""

import os
from dataclasses import replace

import pytest
import torch
from ring_set import rings

from panconv.data import GraphSet, graph_folds, point_patterns
from panconv.records.record import Results, Task, parsed
from panconv.training.runner import batched, run
from panconv.whole_graphs import trainer as module
from panconv.whole_graphs.menu import MENU, recorded
from panconv.whole_graphs.parts import held, named_graphs, number_of, parts_of, recorded_name
from panconv.whole_graphs.trainer import WholeGraphs

RINGS = rings()
SMALL = {"hidden": 6, "layers": 2, "epochs": 4, "batch": 16, "folds": 4}


def task(name, seed=0, tested=True, split="given", dataset="rings", **changes):
    how = {**MENU[name].points()[0], **SMALL, **changes}
    return Task(dataset, recorded(name), None, split, how, seed, tested)


def trained(tasks, graphs=RINGS, together=None):
    return WholeGraphs(graphs, together).train(tasks, "cpu", "", lambda *_: None)


@pytest.mark.parametrize("name", ["pan", "gin"])
def test_alone_or_beside_other_folds_and_settings(name):
    tasks = [task(name, s, dropout=p, lr=lr) for p, lr in ((0.0, 0.01), (0.5, 0.02)) for s in (0, 1, 3, 4)]
    assert len({WholeGraphs().beside(each) for each in tasks}) == 1
    together = trained(tasks, together=True)
    for one, among in zip(tasks, together, strict=True):
        (alone,) = trained([one], together=True)
        assert alone.test_accuracy == pytest.approx(among.test_accuracy, abs=1e-6)
        assert alone.val_accuracy == pytest.approx(among.val_accuracy, abs=1e-6)
        assert alone.best_epoch == among.best_epoch
        assert alone.loss_curve == pytest.approx(among.loss_curve, rel=1e-3)
    assert together[0].loss_curve != together[3].loss_curve  # seeds 0 and 4 have one fold, and each a start of its own


@pytest.mark.parametrize("name", ["pan", "gcn"])
def test_folds_side_by_side_are_what_they_are_one_by_one_on_their_own_graphs(name):
    tasks = [task(name, s) for s in range(3)]
    for one, among in zip(tasks, trained(tasks, together=True), strict=True):
        (alone,) = trained([one])
        assert alone.loss_curve == pytest.approx(among.loss_curve, rel=1e-3)
        assert alone.test_accuracy == pytest.approx(among.test_accuracy, abs=1e-6)


def test_what_shapes_a_model_keeps_trainings_apart():
    keys = [WholeGraphs().beside(each) for each in (task("pan"), task("pan", readout="mean"), task("pan", L=1))]
    assert len(set(keys)) == 3
    few = [task("sagpool", s) for s in range(3)]
    assert [len(batch) for batch in batched(few, WholeGraphs(RINGS))] == [1, 1, 1]
    assert WholeGraphs(RINGS).at_once(task("pan"), "cpu") == 1  # where one by one is faster
    wide, slim = (WholeGraphs(RINGS, together=True).at_once(task("pan", hidden=hidden), "cpu") for hidden in (512, 64))
    assert 1 <= wide < slim


def test_seed_s_has_fold_s_mod_n():
    assert [number_of(task("gin", s)) for s in (0, 3, 4, 11)] == [0, 3, 0, 3]
    parts = parts_of(RINGS, task("gin"))
    for mine, theirs in zip(parts, graph_folds(RINGS.y, 4), strict=True):
        assert torch.equal(mine, theirs)
    runs = parts_of(RINGS, task("gin", split="random", runs=3))
    assert runs.runs == 3
    assert runs.test[:, 0].sum() == 4
    assert parts.test.sum(1).eq(1).all()


@pytest.mark.parametrize("together", [True, False])
def test_a_training_learns_from_its_own_fold(together, monkeypatch):
    seen, fit = [], module.fit
    monkeypatch.setattr(module, "fit", lambda model, data, **how: seen.append((data, how)) or fit(model, data, **how))
    drawn, seeds = parts_of(RINGS, task("gin")), [3, 6] if together else [6]
    trained([task("gin", s) for s in seeds], together=together)
    ((data, how),) = seen
    numbers = [3, 2] if together else 2
    assert torch.equal(data.masks["train_mask"], drawn.train[:, numbers])
    for part, mine in (("val", drawn.val), ("test", drawn.test)):
        there = torch.cat([batch.index for batch in how[part]]).unique()
        assert torch.equal(there, mine[:, numbers].reshape(len(RINGS), -1).any(1).nonzero().squeeze(1))


def test_batches_that_are_held_are_of_one_fold_each():
    masks = parts_of(RINGS, task("gin")).val[:, [0, 1, 0, 3]]
    found = torch.zeros_like(masks)
    for batch in held(RINGS, masks, "val", 3):
        assert batch.num_graphs <= 3
        assert len(batch.val_mask.unique(dim=0)) == 1  # all of its graphs are of the same trials
        assert not found[batch.index][batch.val_mask].any()
        found[batch.index] |= batch.val_mask
    assert torch.equal(found, masks)
    alone = held(RINGS, masks[:, 0], "test", 99)
    assert torch.equal(alone[0].index, masks[:, 0].nonzero().squeeze(1))


@pytest.mark.parametrize("name", ["pan", "topk"])
def test_what_is_chosen_by_knows_nothing_of_the_test(name, monkeypatch):
    seen, fit = [], module.fit
    monkeypatch.setattr(module, "fit", lambda model, data, **how: seen.append((data, how)) or fit(model, data, **how))
    one = task(name, split="random", runs=1, tested=False)
    one.settings.pop("folds")
    test = parts_of(RINGS, one).test[:, 0]
    x, y = RINGS.x.clone(), RINGS.y.clone()
    y[test] = 1 - y[test]
    x[test.repeat_interleave(RINGS.sizes)] += 100
    other = GraphSet(x, RINGS.edge_index, RINGS.ptr, y, name="rings")
    (before,), (after,) = trained([one]), trained([one], other)
    assert (before.val_accuracy, before.val_loss) == (after.val_accuracy, after.val_loss)
    assert before.test_accuracy is None
    assert before.loss_curve == []
    for data, how in seen:
        assert how["test"] is None
        assert not data.masks["test_mask"].any()
    flipped = GraphSet(RINGS.x, RINGS.edge_index, RINGS.ptr, y, name="rings")
    right, wrong = (trained([replace(one, tested=True)], each)[0].test_accuracy for each in (RINGS, flipped))
    assert right == pytest.approx(1 - wrong)


def test_a_record_is_enough_to_run_it_again(tmp_path, monkeypatch):
    lines = [
        f"{n} {n % 2}\n" + "".join(f"0 2 {(v - 1) % n} {(v + 1) % n}\n" for v in range(n)) for n in [3, 4, 5, 6] * 6
    ]
    (tmp_path / "RINGS.txt").write_text(f"{len(lines)}\n" + "".join(lines))
    monkeypatch.setenv("PANCONV_TU", str(tmp_path))
    name = named_graphs(tmp_path / "RINGS.txt").name
    assert name == "RINGS"
    results = Results(tmp_path / "results")
    tasks = [task("gin", s, tested, dataset=name) for s in (0, 1) for tested in (False, True)]
    done = run(tasks, results, trainer=WholeGraphs())
    for record in results.read():
        fields = {field: getattr(record, field) for field in vars(tasks[0])}
        (again,) = WholeGraphs().train([Task(**fields)], "cpu", "", lambda *_: None)
        assert (again.val_accuracy, again.test_accuracy) == pytest.approx((record.val_accuracy, record.test_accuracy))
    assert run(tasks, results, trainer=WholeGraphs()) == done


def test_point_patterns_are_made_by_name():
    made = named_graphs("point-patterns-0.3-6")
    assert (made.name, len(made), made.num_classes) == ("point-patterns-0.3-6", 6, 3)
    few = point_patterns(0.3, 3)
    assert torch.equal(few.edge_index, made.edge_index[:, : few.edge_index.size(1)])  # by the same seed
    with pytest.raises(ValueError, match=r"source .point-patterns-warm. is"):
        named_graphs("point-patterns-warm")


def test_records_can_be_read():
    for record in trained([task("pan", s) for s in (0, 1)]):
        assert len(record.accuracy_curve) == len(record.loss_curve) == 4
        content = {"schema": "panconv-record-1", **vars(record)}
        assert parsed(content, "here") == record
        assert record.val_accuracy == pytest.approx(max(record.accuracy_curve))


@pytest.mark.parametrize("name", ["pan", "gin", "pan-pool", "sagpool", "topk", "structure-free"])
def test_graphs_without_nodes_or_edges_and_with_weights(name):
    ptr = torch.cat([RINGS.ptr, RINGS.ptr[-1:] + torch.tensor([0, 1, 2, 2])])  # none, one, one, none
    x, y = torch.cat([RINGS.x, torch.ones(2, 2)]), torch.cat([RINGS.y, torch.tensor([0, 1, 0, 1])])
    weight = torch.rand(RINGS.edge_index.size(1) // 2)
    pairs = RINGS.edge_index[:, RINGS.edge_index[0] < RINGS.edge_index[1]]
    odd = GraphSet(x, torch.cat([pairs, pairs.flip(0)], 1), ptr, y, torch.cat([weight, weight]), name="odd")
    for record in trained([task(name, 0)], odd) + trained([task(name, 3)], odd):
        assert record.val_loss is not None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"model": "gin"}, "model must be one of graphs:pan, .*, got 'gin'"),
        ({"model": "graphs:gni"}, "got 'graphs:gni'"),
        ({"split": "public"}, "split must be one of given, random for whole graphs, got 'public'"),
        ({"split": "random"}, "settings must have runs, a whole number of at least 1"),
        ({"settings": {**task("gin").settings, "folds": 1}}, "settings must have folds, a whole number of at least 2"),
        ({"settings": {**task("gin").settings, "rl": 1}}, "settings of graphs:gin must be .*: 'rl' is odd"),
        ({"settings": {"folds": 2}}, "settings of graphs:gin must be"),
    ],
)
def test_refusals(wrong, words):
    with pytest.raises(ValueError, match=words):
        WholeGraphs().check(replace(task("gin"), **wrong))


@pytest.mark.skipif("PANCONV_TU" not in os.environ, reason="PANCONV_TU names no folder of MUTAG.txt")
def test_the_official_mutag_is_learned():
    tasks = [task("gin", s, dataset="MUTAG", hidden=16, epochs=30, lr=0.01) for s in range(4)]
    done = run(tasks, trainer=WholeGraphs())
    assert sum(record.test_accuracy for record in done) / 4 > 0.7


def test_another_set_of_the_same_name_is_another_in_the_records(tmp_path):
    def written(y):
        folder = tmp_path / str(y)
        folder.mkdir()
        path = folder / "SAME.txt"
        path.write_text("4\n" + "".join(f"2 {(i + y * (i == 0)) % 2}\n0 1 1\n0 1 0\n" for i in range(4)))
        return path

    one, other = (recorded_name(named_graphs(written(y))) for y in (0, 1))
    assert one != other
    assert one.partition("@")[0] == other.partition("@")[0] == "SAME"
    assert recorded_name(named_graphs(f"{tmp_path}/0/SAME.txt@{one.partition('@')[2]}")) == one
    with pytest.raises(ValueError, match="not those that the record"):
        named_graphs(f"{tmp_path}/0/SAME.txt@{other.partition('@')[2]}")
