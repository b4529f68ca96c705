"""The door to what were six models of their own: the zoo trains them, and the table is the one of before."""

import json

import pytest
from baseline_records import record

from panconv import METHODS
from panconv.paper import zoo
from panconv.paper.studies.operators import MODELS, run
from panconv.paper.tables.reproduce import Asked
from panconv.paper.zoo.menu import MENU, menu
from panconv.records.record import Results
from panconv.training import runner

pytestmark = pytest.mark.filterwarnings("ignore:panconv.experiments.operators.run:DeprecationWarning")


def test_it_says_that_it_will_go(tmp_path):
    expected = pytest.warns(DeprecationWarning, match="it will go: .* panconv zoo NAME GRAPH --met")
    with expected, pytest.raises(ValueError, match="got none"):
        run(tmp_path, datasets=[])


def test_the_models_are_rows_of_the_zoo():
    assert all(zoo.METHODS[name].met for name in MODELS.values())
    assert zoo.METHODS["gat"].on("pubmed")["out_heads"] == 8
    assert zoo.METHODS["gat"].on("cora")["out_heads"] == 1
    assert zoo.METHODS["sgc"].on("citeseer")["epochs"] == zoo.METHODS["ssgc"].on("citeseer")["epochs"] == 150
    for name in MODELS.values():
        assert zoo.METHODS[name].on("pubmed")["decay"] == ("first." if name in ("chebnet", "gcn", "appnp") else "")


def test_the_menu():
    assert all(len(operator.weights) == operator.L + 1 and operator.method in METHODS for operator in MENU)
    for name in MODELS.values():
        choices = [json.dumps(each) for each in menu(zoo.METHODS[name])]
        assert len(set(choices)) == len(choices) <= 8


@pytest.fixture
def scripted(monkeypatch):
    """Trainings that take no time: each gets an accuracy by its operator and seed, and leaves a trace."""
    asked = []

    def fake(tasks, records, **options):
        known = {one.key(): one for one in records.read()}
        for task in tasks:
            if task.key() not in known:
                asked.append(task)
                method = 0 if task.operator is None else task.operator["method"]
                value = {0: 50, 1: 55, 2: 60, 7: 70, 5: 65}[method] + 0.1 * (task.seed % 1000)
                known[task.key()] = record(task, value)
                records.add([known[task.key()]])
        return [known[task.key()] for task in tasks]

    monkeypatch.setattr(runner, "run", fake)
    return asked


def test_m_is_chosen_by_validation_with_other_seeds_and_then_tested(scripted, tmp_path):
    (cell,) = run(tmp_path, datasets=["cora"], models=["gcn"], trials=3)
    assert cell.usual == pytest.approx([0.5, 0.501, 0.502])
    assert cell.met == pytest.approx([0.7, 0.701, 0.702])
    assert cell.difference == pytest.approx(0.2)
    assert cell.chosen["method"] == 7
    assert 0.01 < cell.dropped < 0.05
    assert len(cell.candidates) == 7
    best = max(cell.candidates, key=lambda candidate: candidate["val_accuracy"])
    assert (best["method"], best["val_accuracy"]) == (7, pytest.approx(0.7005))
    assert len(scripted) == 3 + 7 * 2 + 3
    choosing = [task for task in scripted if not task.tested]
    assert {task.seed for task in choosing} == {1000, 1001}
    assert {task.seed for task in scripted if task.tested} == {0, 1, 2}


def test_records_are_gone_on_from(scripted, tmp_path):
    first = run(tmp_path, datasets=["cora"], models=["gcn", "gat"], trials=2)
    count = len(scripted)
    assert run(tmp_path, datasets=["cora"], models=["gcn", "gat"], trials=2) == first
    assert len(scripted) == count
    run(tmp_path, datasets=["cora"], models=["gcn"], trials=3)
    assert len(scripted) == count + 2  # a seed on each of the two operators
    run(tmp_path, datasets=["cora"], models=["gcn"], quick=True)
    assert len(scripted) == count + 2 + 4  # few epochs: other trainings
    damaged = next(path for path in sorted(tmp_path.glob("cora-gcn-*")) if '"operator": null' in path.read_text())
    damaged.write_text(damaged.read_text()[:-30])
    with pytest.warns(UserWarning, match="is cut short or damaged: skipped"):
        kept = Results(tmp_path).read()
    assert len(kept) == count + 2 + 4 - 1


def test_a_real_training_comes_out_again(tmp_path):
    steps, options = [], {"datasets": ["cora"], "models": ["ssgc"], "quick": True}
    cells = [run(tmp_path / name, **options, callback=steps.append) for name in ("a", "b")]
    assert cells[0] == cells[1]
    assert {step.tasks[0].model for step in steps} == {"ssgc"}
    lines = [json.loads(line) for path in (tmp_path / "a").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert {line["schema"] for line in lines} == {"panconv-record-1"}
    assert len(lines) == 4
    assert sum(line["test_accuracy"] is None for line in lines) == 2
    asked = Asked((), ["ssgc"], ["cora"], 1, quick=True, met=True)
    assert asked.missing(Results(tmp_path / "a").read()) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ["coda"]}, "datasets must be of cora, citeseer, pubmed, got 'coda'"),
        ({"datasets": []}, "got none"),
        ({"models": ["gcn", "gnc"]}, "models must be of cheb, .*got 'gnc'"),
        ({"trials": 0}, "trials must be an integer of at least 1"),
    ],
)
def test_mistakes(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run(tmp_path, **options)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        run(tmp_path / "file")
    (tmp_path / "runs.jsonl").write_text('{"schema": "panconv-run-0"}\n')
    with pytest.raises(ValueError, match="is of another schema \\('panconv-run-0'"):
        run(tmp_path)
    (tmp_path / "runs.jsonl").write_text('{"schema": "panconv-zoo-1", "odd": 1}\n')
    with pytest.raises(ValueError, match=r"missing or unknown fields .*odd"):
        run(tmp_path)
