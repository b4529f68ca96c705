import json
import sys

import pytest
from baseline_records import record
from in_process import call
from terminal import run

from panconv.cli.zoo import zoo
from panconv.paper.zoo.menu import WALK, menu
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Results

QUICK = ("--trials", 2, "--set", "epochs=3")


def test_the_list(tmp_path):
    finished = run("zoo", "--json", "list.json", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    for words in ("DynamicFilter", "GWNN", "Kipf &", "operator", "walk", "not run"):
        assert words in finished.stdout
    rows = json.loads((tmp_path / "list.json").read_text())
    assert len(rows) == 24
    others = "appnp, ssgc, ngcn, line, high_temperature, harmonic, gcnii, deep_gcn, res_gcn, res_sage, res_gat, gprgnn"
    assert f"Outside Table 2: {others}." in " ".join(finished.stdout.split())
    assert rows[11]["paper"] == {"cora": 81.5, "citeseer": 70.3, "pubmed": 79.0}


def test_one_method(tmp_path):
    finished = run("zoo", "Graph-CNN", cwd=tmp_path)
    assert finished.returncode == 0
    assert "another split" in finished.stdout or "cross-validation" in finished.stdout
    assert "76.3" in finished.stdout


def test_training_one(tmp_path):
    finished = run("zoo", "gcn", "cora", *QUICK, "--met", "--json", "out.json", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "GCN: 2 trials" in finished.stdout
    assert "its own" in finished.stdout
    records = json.loads((tmp_path / "out.json").read_text())
    assert [(r["seed"], r["operator"] is None) for r in records] == [(0, True), (1, True), (0, False), (1, False)]
    assert records[0]["settings"]["epochs"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gnc",), "'gnc' is no method of the zoo"),
        (("gcn", "nowhere"), "nowhere"),
        (("gcn", "cora", "--trials", 0), "--trials must be at least 1"),
        (("gcn", "cora", "--set", "lr"), "--set must be NAME=VALUE"),
        (("gcn", "cora", "--set", "rl=1"), "'rl' is no setting"),
        (("gcn", "cora", "--set", "lr=fast"), "lr must be like 0.01, got 'fast'"),
        (("gcn", "cora", "--set", "hidden=1.5"), "hidden must be like 16"),
        (("planetoid", "cora", "--set", "variant=X"), "variant must be one of 'T', 'I', got 'X'"),
        (("deepwalk", "cora", "--set", "window=0"), "window must be at least 1, got 0"),
        (("agnn", "cora", "--met"), "M has no place in AGNN"),
        (("sgc", "cora", "--met", "--set", "normalize=false"), "--set normalize does not go with --met"),
        (("gcn", "cora", "--json", "."), "it is a folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    finished = call("zoo", *arguments, cwd=tmp_path)
    assert finished.returncode == 2, finished.stderr
    assert message in finished.stderr
    assert len(finished.stderr.strip().splitlines()) == 1


def trained(monkeypatch, tmp_path, val, *arguments, **options):
    """The tasks that the command trains, call by call, and what it writes; val gives the validation accuracies."""
    calls = []

    def stub(tasks, results, **others):
        calls.append(tasks)
        return [record(task, 60.0, val_accuracy=val(task)) for task in tasks]

    monkeypatch.setattr(sys.modules["panconv.cli.zoo"], "run", stub)
    zoo(*arguments, json_file=tmp_path / "out.json", **options)
    return calls, json.loads((tmp_path / "out.json").read_text())


def test_validation_chooses_the_operator_with_seeds_of_its_own_and_without_the_test_nodes(monkeypatch, tmp_path):
    operators = menu(METHODS["gcn"])
    best, uneven, worst = operators[4], operators[1], operators[6]

    def val(task):
        if task.operator == uneven:  # the highest of all once, and not in the mean
            return 0.95 if task.seed % 2 else 0.5
        return 0.8 if task.operator == best else 0.1 if task.operator == worst else 0.7

    calls, written = trained(monkeypatch, tmp_path, val, "gcn", ["cora"], trials=3, seed=5, met=True)
    own, choosing, on_m = calls
    found = [(task.operator, task.seed, task.tested) for task in choosing]
    assert found == [(operator, seed, False) for operator in operators for seed in (1005, 1006)]  # none of the table's
    for tasks, operator in ((own, None), (on_m, best)):
        assert [(task.operator, task.seed, task.tested) for task in tasks] == [(operator, s, True) for s in (5, 6, 7)]
    assert [each["operator"] for each in written] == [None] * 3 + [best] * 3  # of the choice nothing is shown


def test_records_are_kept_and_gone_on_from(tmp_path):
    line = ("zoo", "s²gc", "cora", *QUICK, "--met", "--out", "kept")
    first = call(*line, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert len(Results(tmp_path / "kept").read()) == 2 + 7 * 2 + 2
    assert call(*line, cwd=tmp_path).stdout == first.stdout
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}


def test_where_there_is_one_operator_there_is_no_choice(monkeypatch, tmp_path):
    calls, _ = trained(monkeypatch, tmp_path, lambda task: 0.5, "deepwalk", ["cora"], trials=2, met=True)
    found = [[(task.operator, task.tested) for task in tasks] for tasks in calls if tasks]
    assert found == [[(each, True)] * 2 for each in (None, WALK)]


def test_on_m_a_method_has_the_settings_it_has_there_but_for_those_given(monkeypatch, tmp_path):
    calls, _ = trained(
        monkeypatch, tmp_path, lambda task: 0.5, "gwnn", ["pubmed"], trials=1, met=True, settings=["s=0.3"]
    )
    own, *others = (task.settings for tasks in calls for task in tasks)
    assert len(others) == 2 * len(menu(METHODS["gwnn"])) + 1
    assert own == {**METHODS["gwnn"].on("pubmed"), "s": 0.3}
    there = {**METHODS["gwnn"].on("pubmed", m=True), "s": 0.3}
    del there["normalize"]  # which M says itself
    assert all(each == there for each in others)
