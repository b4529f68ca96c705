"""The contest: what is chosen on a fold is chosen by its validation alone, and then tested there."""

import statistics
from collections import Counter
from dataclasses import replace

import pytest
from ring_set import rings
from untrained_graphs import Told

from panconv.data import GraphSet
from panconv.records.interval import interval
from panconv.records.record import Record, Results, Task
from panconv.whole_graphs.contest import Contest, contests_in, standings
from panconv.whole_graphs.menu import MENU, recorded
from panconv.whole_graphs.parts import parts_of
from panconv.whole_graphs.trainer import WholeGraphs

MODELS = ("pan", "gin", "authors")


def place(task):
    """The number of a task's setting in its grid."""
    how = {name: value for name, value in task.settings.items() if name != "folds"}
    return MENU[task.model.partition(":")[2]].points(task.dataset).index(how)


def best_of_fold(task):
    """On fold k setting k + 1 is the best."""
    return 0.9 if place(task) == task.seed % 3 + 1 else 0.5 + 0.01 * place(task)


def test_each_fold_has_its_own_choice_and_fresh_seeds_for_it():
    contest, told = Contest("rings", MODELS, folds=3, reruns=2), Told(best_of_fold)
    records = contest.train(told)
    assert len(records) == contest.trainings == len(told.trained) == 2 * 8 * 3 + 3 * 3 * 2
    for name in ("pan", "gin"):
        tested = [each for each in records if each.tested and each.model == recorded(name)]
        assert [(each.seed % 3, place(each)) for each in tested] == [(0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (2, 3)]
        tried = {each.seed for each in records if not each.tested}
        assert not tried & {each.seed for each in tested}
        assert len({each.seed for each in tested}) == 6
    authors = [each for each in records if each.model == recorded("authors")]
    assert all(each.tested for each in authors)  # there is nothing to choose from
    assert Counter(each.seed % 3 for each in authors) == {0: 2, 1: 2, 2: 2}


def test_a_tie_goes_to_the_lower_loss_and_what_is_not_complete_is_left_out():
    contest = Contest("rings", ("gin",), folds=2)
    records = [record for record in contest.train(Told()) if not record.tested]
    low = [record for record in records if record.seed == 1][5]
    changed = [record if record is not low else Record(**{**vars(low), "val_loss": 0.5}) for record in records]
    assert contest.choices("gin", changed)[1].settings == low.settings
    assert contest.choices("gin", changed[1:]).keys() == {1}
    assert contest.choices("gin", []) == {}


def test_figures_are_means_of_reruns_and_changes_are_fold_by_fold():
    ours, theirs = [0.80, 0.84, 0.75], [0.70, 0.82, 0.68]

    def test(task):
        return (ours if "pan" in task.model else theirs)[task.seed % 3] + (0.01 if task.seed >= 6 else -0.01)

    contest = Contest("rings", ("pan", "gin"), folds=3, reruns=2)
    pan, gin = standings(contest, contest.train(Told(test=test)))
    assert list(pan.by_fold.values()) == pytest.approx([80, 84, 75])
    assert pan.mean == pytest.approx(statistics.fmean([80, 84, 75]))
    assert pan.figure == f"{pan.mean:.1f} ± {statistics.stdev([80, 84, 75]):.1f}"
    assert gin.changes == pytest.approx([-10, -2, -7])
    assert (gin.change.mean, gin.change.half) == pytest.approx(tuple(vars(interval([-10, -2, -7])).values()))
    assert (pan.change, pan.difference, pan.against, gin.against) == (None, "", "", "pan")
    assert (gin.trainings, gin.seconds, gin.time) == (8 * 3 + 6, 2.0, "2")
    assert [replace(gin, seconds=each).time for each in (0.123, 9.87, 123.4)] == ["0.12", "9.9", "123"]


def test_the_same_contest_again_goes_on_where_it_stopped(tmp_path):
    contest, results = Contest("rings", ("gin", "gcn"), folds=3), Results(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        contest.train(
            Told(lost=lambda task: (_ for _ in ()).throw(KeyboardInterrupt) if "gcn" in task.model else False), results
        )
    before = len(results.read())
    told = Told()
    records = contest.train(told, results)
    assert before == 8 * 3 + 9
    assert len(told.trained) == contest.trainings - before
    again = Told()
    assert contest.train(again, results) == records
    assert again.trained == []


def test_a_choice_that_is_lost_leaves_its_fold_out_alone():
    contest = Contest("rings", ("pan", "gin"), folds=3, reruns=1)
    lost = lambda task: task.tested and "gin" in task.model and task.seed % 3 == 1  # noqa: E731
    pan, gin = standings(contest, contest.train(Told(lost=lost)))
    assert (pan.by_fold.keys(), gin.by_fold.keys()) == ({0, 1, 2}, {0, 2})
    assert len(gin.changes) == 2


def test_shuffled_test_labels_change_no_choice():
    graphs = rings(40)
    contest = Contest("rings", ("gin",), runs=1, quick=True)
    test = parts_of(graphs, contest.tried("gin")[0]).test[:, 0]
    y = graphs.y.clone()
    y[test] = 1 - y[test]
    other = GraphSet(graphs.x, graphs.edge_index, graphs.ptr, y, name="rings")
    found = [contest.train(WholeGraphs(each)) for each in (graphs, other)]
    one, same = (contest.choices("gin", records)[0] for records in found)
    assert one == same
    figures = [standings(contest, records)[0].mean for records in found]
    assert figures[0] == pytest.approx(100 - figures[1])


def test_what_records_are_of():
    whole, quick = Contest("rings", ("pan", "gin"), folds=3, reruns=2), Contest("rings", ("gin",), folds=3, quick=True)
    split = Contest("others", ("authors",), runs=4, reruns=1)
    records = [record for each in (whole, quick, split) for record in each.train(Told())]
    strange = Task("rings", "graphs:later", None, "given", {"folds": 3}, 3, True)
    records += Told().train([strange, Task("cora", "gin", None, "public", {}, 0, True)], "cpu", "", None)
    assert contests_in(records) == [split, whole]
    assert contests_in([record for record in records if "quick" not in str(record)][-100:]) != []
    first = quick.train(Told())
    assert contests_in(first) == [Contest("rings", ("gin",), folds=3, reruns=1, quick=True)]
    assert standings(contests_in(first)[0], first)[0].mean == pytest.approx(60)
    assert contests_in([]) == []


def test_a_training_that_never_had_a_finite_loss_is_no_figure():
    contest = Contest("rings", ("gin",), folds=2, reruns=2)
    records = contest.train(Told(best_of_fold))
    lost = next(record for record in records if record.tested and record.seed % 2 == 0)
    worse = replace(lost, best_epoch=0, test_accuracy=0.0, loss_curve=[], accuracy_curve=[])
    (whole,), (without,) = (
        standings(contest, each) for each in (records, [worse if r is lost else r for r in records])
    )
    rest = [record for record in records if record.tested and record.seed % 2 == 0 and record is not lost]
    assert without.by_fold[0] == pytest.approx(100 * statistics.fmean(record.test_accuracy for record in rest))
    assert without.by_fold[1] == whole.by_fold[1]
