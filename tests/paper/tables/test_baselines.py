from dataclasses import replace

import pytest

from panconv.paper.report import summary
from panconv.paper.tables import baselines, splits
from panconv.paper.tables.baselines import Baseline
from panconv.paper.tables.reproduce import Asked, reproduce
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Record, Results


def done(tasks, val=0.5, test=0.6):
    """Records of tasks, each as good as said, a little better with each seed."""
    return [
        Record(
            **vars(task),
            val_accuracy=val,
            test_accuracy=test + 0.01 * task.seed if task.tested else None,
            seconds=1.0,
            device="cpu",
            versions={},
            command="",
        )
        for task in tasks
    ]


def test_tables_of_the_paper():
    assert len(baselines.NAMES["table2"]) == 24
    assert len(baselines.NAMES["table1"]) == 12
    assert METHODS["graph_cnn"].paper == (76.3, None, None)


def test_the_operator_is_chosen_by_validation_with_seeds_of_its_own():
    tasks = Baseline("gcn", "cora").choosing()
    assert all(not task.tested and task.seed >= baselines.CHOOSING_SEED for task in tasks)
    assert len(tasks) == 7 * baselines.CHOOSING_TRIALS
    good = tasks[6].operator
    records = [r for t in tasks for r in done([t], val=0.8 if t.operator == good else 0.7)]
    assert Baseline("gcn", "cora").chosen(records) == good
    assert Baseline("gcn", "cora").chosen(records[:-1]) is None  # not before all of the menu was tried
    assert Baseline("gcn", "citeseer").chosen(records) is None
    assert Baseline("mlp", "cora").chosen([]) is None
    assert Baseline("deepwalk", "cora").chosen([]) == {"walk": "maximal-entropy"}  # there is one


def test_on_m_a_method_has_the_settings_it_has_there():
    own, there = METHODS["gwnn"].on("pubmed"), METHODS["gwnn"].on("pubmed", m=True)
    assert own != there
    assert {**own, "threshold": 1e-4} == there
    choosing = Baseline("gwnn", "pubmed").choosing()
    for tasks in (choosing, Baseline("gwnn", "pubmed").on_m(choosing[0].operator, 2)):
        assert tasks
        assert all({**task.settings, "normalize": True} == there for task in tasks)
        assert all("normalize" in task.operator and "normalize" not in task.settings for task in tasks)  # M says it
    assert all(task.settings == own for task in Baseline("gwnn", "pubmed").own(2))


def test_rows_ours_the_papers_and_on_m():
    own, met = Baseline("gcn", "cora").own(3), Baseline("gcn", "cora").choosing()
    operator = met[0].operator
    records = done(own, test=0.80) + [r for t in met for r in done([t], val=0.9 if t.operator == operator else 0.1)]
    records += done(Baseline("gcn", "cora").on_m(operator, 3), test=0.82)
    row = next(row for row in summary.table2(records) if row.name == "GCN")
    cora, on_m = row.cells[0], row.on_m[0]
    assert (cora.mean, cora.std, cora.trials) == (pytest.approx(81), pytest.approx(1), 3)
    assert (on_m.mean, on_m.change, on_m.change_std) == (pytest.approx(83), pytest.approx(2), pytest.approx(0))
    assert row.on_m[1] is None
    assert row.reproduced is None  # the other graphs were not run
    one = next(row for row in summary.table2(done(Baseline("graph_cnn", "cora").own(1), test=0.75)))
    assert one.reproduced is None
    rows = {r.name: r for r in summary.table2(done(Baseline("graph_cnn", "cora").own(1), test=0.75))}
    assert rows["Graph-CNN"].reproduced  # 75.0 against 76.3
    rows = {r.name: r for r in summary.table2(done(Baseline("graph_cnn", "cora").own(1), test=0.747))}
    assert rows["Graph-CNN"].reproduced is False
    assert rows["MLP"].on_m is None


def test_a_quick_look_and_random_splits_stay_out_of_the_full_cell():
    full = done(Baseline("gcn", "cora").own(2), test=0.8)
    others = done(Baseline("gcn", "cora", quick=True).own(2), test=0.1)
    others += done(Baseline("gcn", "cora").own(2, split="random"), test=0.2)
    assert summary.table2(full + others) == summary.table2(full)
    quick = {row.name: row for row in summary.table2(others)}["GCN"]
    assert quick.cells[0].mean == pytest.approx(10.5)


def test_what_is_on_m_is_compared_with_the_same_settings():
    full = done(Baseline("gcn", "cora").own(3), test=0.8)
    tried = Baseline("gcn", "cora", quick=True).choosing()
    quick = done(tried) + done(Baseline("gcn", "cora", quick=True).on_m(tried[0].operator, 1), test=0.3)

    def on_m(records):
        return next(row for row in summary.table2(records) if row.name == "GCN").on_m[0]

    assert on_m(full + quick) is None  # nothing of its own to compare with
    own = done(Baseline("gcn", "cora", quick=True).own(1), test=0.2)
    assert on_m(full + quick + own).change == pytest.approx(10)


def test_a_quick_look_is_never_longer():
    for name in METHODS:
        for graph in ("cora", "citeseer", "pubmed"):
            full, quick = (Baseline(name, graph, each).settings() for each in (False, True))
            assert all(quick[key] <= full[key] for key in baselines.QUICK if key in full)


def test_how_many_are_missing():
    names, graphs = ["gcn", "mlp"], ["cora", "citeseer"]
    assert Asked((), names, graphs).missing([]) == 40
    assert Asked((), names, graphs, met=True).missing([]) == 40 + 2 * (7 * 2 + 10)
    some = done(Baseline("mlp", "cora").own(10))
    assert Asked((), names, graphs).missing(some) == 30


def test_splits_are_compared_one_by_one():
    pan = [replace(r, test_accuracy=0.7 + 0.1 * (r.seed % 2)) for r in done(splits.tasks(["pan"], "cora", 4))]
    gcn = [replace(r, test_accuracy=0.69 + 0.1 * (r.seed % 2)) for r in done(splits.tasks(["gcn"], "cora", 4))]
    mlp = done(splits.tasks(["mlp"], "cora", 2), test=0.9)
    best, first, second = splits.standings(pan + gcn + mlp, "cora", {"gcn": 81.0})
    assert [row.name for row in (best, first, second)] == ["MLP", "PAN", "GCN"]
    assert second.std == pytest.approx(5.7735, abs=1e-3)  # the splits differ
    assert (second.behind, second.behind_std) == (pytest.approx(1), pytest.approx(0))  # but not from one another
    assert (second.wins, second.splits, second.public) == (4, 4, 81.0)
    assert (best.wins, best.splits, best.public) == (0, 2, None)
    assert splits.standings(gcn, "cora", {}) == []
    assert set(splits.FASTEST) <= set(METHODS)
    assert len(splits.FASTEST) == 10


def test_a_table_is_trained_once(tmp_path):
    store, told = Results(tmp_path), []
    for _ in range(2):
        reproduce(Asked((), ["gcn"], ["cora"], trials=2, quick=True, met=True), store, callback=told.append)
        seen = {(step.tasks[0].operator is not None, step.tasks[0].tested) for step in told}
        told.clear()
        assert seen in ({(False, True), (True, False), (True, True)}, set())
    assert len(store.read()) == 2 + 2 + 2
    row = {row.name: row for row in summary.table2(store.read())}["GCN"]
    assert row.on_m[0].trials == row.cells[0].trials == 2


def test_random_splits_are_trained_once(tmp_path):
    store = Results(tmp_path)
    for _ in range(2):
        reproduce(Asked((), ["mlp"], ["cora"], quick=True, random_splits=2), store)
    assert len(store.read()) == 4
    assert {row.name for row in splits.standings(store.read(), "cora", {}, quick=True)} == {"PAN", "MLP"}
