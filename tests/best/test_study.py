from dataclasses import replace

import pytest
import untrained
from untrained import RECIPE, made

from panconv.best import NAMES
from panconv.best.studies import STUDIES
from panconv.best.study import Line, Row, Study, lines, names_of
from panconv.paper.claims.claim import Evidence
from panconv.paper.zoo.runner import Baselines
from panconv.records.record import PAN, Results, pan_task
from panconv.training.pans import Pans
from panconv.training.runner import Diverged
from panconv.training.search import FRESH

TASK = pan_task("cora", 5, [0.0, 1.0], 1, RECIPE["settings"], 0)


def test_the_names_on_the_command_line_are_those_of_the_studies():
    assert tuple(STUDIES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_row_can_be_trained_and_names_a_row_to_compare_with(name, monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    study, results = STUDIES[name], Results(tmp_path)
    graph = study.graphs[0]
    study.train([graph], results, trials=2, quick=name in ("alike", "heterophilous"))
    records = results.read()
    rows = study.rows_of(graph, records, name in ("alike", "heterophilous"))
    names = [row.name for row in rows]
    assert len(set(names)) == len(names) >= 5
    assert {row.against for row in rows} <= {*names, ""}
    for row in rows:
        (Pans() if row.task.model == PAN else Baselines()).check(row.task)
    found = lines(rows, Evidence(records, tmp_path), study.seed)
    assert [line.name for line in found] == names
    assert all(line.trials == 2 for line in found)


def test_rows_are_compared_seed_by_seed():
    other = replace(TASK, settings={**TASK.settings, "lr": 0.02})
    rows = [Row("one", TASK), Row("two", other, "one"), Row("none", replace(TASK, dataset="citeseer"), "one")]
    seeds = {0: [FRESH, FRESH + 1, FRESH + 2, 5], 1: [FRESH + 1, FRESH + 2, FRESH + 3]}
    records = [
        replace(made(replace(task, seed=seed)), test_accuracy=0.5 + 0.1 * place + 0.01 * (seed % 7), seconds=2.0)
        for place, task in enumerate((TASK, other))
        for seed in seeds[place]
    ]
    one, two = lines(rows, Evidence(records, None))
    assert (one.name, one.trials, one.change, one.against) == ("one", 3, None, "")  # seed 5 chose something
    assert (two.name, two.trials, two.against, two.seconds) == ("two", 3, "one", 2.0)
    assert two.change.mean == pytest.approx(10.0)  # of the two seeds that both have
    assert two.change.half == pytest.approx(0.0, abs=1e-9)
    assert two.difference == "+10.0 ± 0.0"
    assert lines(rows[:2], Evidence(records[:2] + records[-3:-2], None))[1].difference == "+10.0"  # one pair alone
    assert one.mean == pytest.approx(100 * sum(each.test_accuracy for each in records[:3]) / 3)


def test_what_is_there_is_not_trained_again(monkeypatch, tmp_path):
    batches = untrained.use(monkeypatch)
    study = Study("a test", ("cora",), lambda graph, _: [Row("one", TASK), Row("two", replace(TASK, split="random"))])
    study.train(["cora"], Results(tmp_path), trials=2)
    assert sum(map(len, batches)) == 4
    study.train(["cora"], Results(tmp_path), trials=3)
    assert sum(map(len, batches)) == 6
    study.train(["cora"], Results(tmp_path), trials=3, quick=True)
    assert {task.settings["epochs"] for task in batches[-1]} == {10}


def test_a_row_that_fails_keeps_no_other_from_being_trained(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    trained = Pans.train

    def train(self, tasks, *rest):
        if any(task.settings["lr"] == 9.0 for task in tasks):
            raise Diverged("no finite loss")
        return trained(self, tasks, *rest)

    monkeypatch.setattr(Pans, "train", train)
    worse = replace(TASK, settings={**TASK.settings, "lr": 9.0})
    study = Study("a test", ("cora",), lambda graph, _: [Row("worse", worse), Row("one", TASK)])
    study.train(["cora"], Results(tmp_path), trials=2)
    found = lines(study.rows_of("cora", []), Evidence(Results(tmp_path).read(), tmp_path))
    assert [line.name for line in found] == ["one"]


def test_no_more_trials_than_splits(tmp_path):
    with pytest.raises(ValueError, match="trials must be at most 10, one per split, got 11"):
        STUDIES["heterophilous"].train(["minesweeper"], Results(tmp_path), trials=11)


def test_paired_standard_errors():
    line = Line("one", 4, 80.0, 1.0, 1.0, "cpu", "other", (1.0, 2.0, 3.0, 2.0))
    assert line.errors == pytest.approx(2.0 / (0.816496580927726 / 2))
    assert Line("one", 1, 80.0, 1.0, 1.0, "cpu", "other", (1.0,)).errors == 0.0
    assert Line("one", 1, 80.0, 1.0, 1.0, "cpu").difference == ""


def test_rows_of_several_tables_keep_their_order():
    def table(names):
        return [Line(name, 1, 0.0, 0.0, 1.0, "cpu") for name in names]

    assert names_of([table("abe"), table("acbd"), table("zb")]) == [*"zacbde"]
    assert names_of([]) == []


def test_seconds_are_read_at_a_glance():
    times = [Line("", 1, 0.0, 0.0, each, "cpu").time for each in (0.174, 1.0, 9.96, 133.6)]
    assert times == ["0.17", "1", "10", "134"]
