import json
import sys
from importlib import import_module

import pytest
from in_process import call
from two_communities import small

import panconv.data
from panconv.paper.zoo import runner
from panconv.records.record import Results
from panconv.training import pans
from panconv.training.space import Choice, Space
from panconv.training.spaces import SPACES

SHORT = ["--settings=2", "--seeds=1", "--finalists=2", "--reruns=2", "--trials=3"]
TINY = Space(
    {
        **{"method": 5, "L": 1, "hidden": 4, "layers": 2, "dropout": 0.0, "patience": 9, "epochs": 6, "lr": 0.05},
        **{"weight_decay": 0.0, "weights": Choice(([0.0, 1.0], [1.0, 0.5], [0.5, 1.0], [1.0, 1.0]))},
    }
)


@pytest.fixture
def tiny(monkeypatch):
    """Two communities in place of Cora, and a space that is quickly searched."""
    monkeypatch.setitem(SPACES, "tiny", TINY)
    monkeypatch.setattr(sys.modules["panconv.cli.search"], "SPACES", [*SPACES])
    places = (panconv.data, pans, runner)
    for place in places:
        monkeypatch.setattr(place, "load", lambda *_, sparse=False, **__: small(sparse=sparse))
    for cached in (pans.loaded, runner._loaded):
        cached.cache_clear()
    yield
    for cached in (pans.loaded, runner._loaded):
        cached.cache_clear()


def test_a_search_of_pan(tiny, tmp_path):
    line = ["search", "cora", "--space=tiny", *SHORT, f"--out={tmp_path / 'r'}", f"--json={tmp_path / 'x.json'}"]
    done = call(*line, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "Cora, PAN: the best of 2 settings, trained again, and where they differ" in done.stdout
    assert "Test accuracy of the choice: " in done.stdout
    assert "% on 3 fresh seeds" in done.stdout
    assert "Choice: method 5, L 1, weights" in done.stdout
    assert "hidden" not in done.stdout.split("Choice")[0]  # which all share
    records = Results(tmp_path / "r").read()
    assert len(records) == 2 * 1 + 2 * 2 + 3
    written = json.loads((tmp_path / "x.json").read_text())
    tested = {str(each.seed): each.test_accuracy for each in records if each.tested}
    assert written["test_accuracy"] == tested
    assert len(tested) == 3
    assert written["choice"] == written["finalists"][0]
    assert written["trainings"] == 9
    said = {name: written[name] for name in ("graph", "model", "space", "split", "metric", "tried")}
    asked = {"graph": "cora", "model": "pan", "space": "tiny", "split": "public", "metric": "accuracy", "tried": 2}
    assert said == asked
    assert written["choice"]["val_accuracy"] >= written["finalists"][1]["val_accuracy"]
    again = call(*line, cwd=tmp_path)
    assert again.stdout == done.stdout
    assert len(Results(tmp_path / "r").read()) == 9


def test_a_search_of_a_baseline(tiny, tmp_path):
    done = call("search", "cora", "--model=GCN", "--epochs=3", *SHORT, f"--out={tmp_path}", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "Cora, GCN: the best of 2 settings" in done.stdout
    records = Results(tmp_path).read()
    assert {each.model for each in records} == {"gcn"}
    assert {each.settings["epochs"] for each in records} == {3}
    done = call("search", "cora", "--model=lp", *SHORT, f"--out={tmp_path}", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert not any("halving" in each.settings for each in Results(tmp_path).read() if each.model == "lp")


def test_a_time(tiny, tmp_path):
    done = call("search", "cora", "--space=tiny", "--budget=1s", *SHORT[1:], f"--out={tmp_path}", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "Test accuracy" in done.stdout


def test_a_time_that_is_too_short_is_said_and_what_was_trained_is_counted(tiny, tmp_path):
    line = ["search", "cora", "--space=tiny", "--budget=0.001s", f"--out={tmp_path}"]
    done = call(*line, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "of a budget of 0 s, and one setting alone is no choice: give it more time." in " ".join(done.stdout.split())
    count = len(Results(tmp_path).read())
    assert f"{count} trainings done" in done.stderr
    assert "done" not in call(*line, cwd=tmp_path).stderr  # again: there is nothing left to do


def test_what_suits_a_graph_is_the_default(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(SPACES, "heterophilous", TINY.with_values(weights=[1.0, 1.0], norm=None, keep="metric"))
    monkeypatch.setenv("COLUMNS", "200")
    line = ["search", "squirrel_filtered", "--metric=macro_f1", "--settings=1", *SHORT[1:]]
    done = call(*line, f"--out={tmp_path}", f"--json={tmp_path / 'x.json'}", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "Test macro-F1 of the choice: " in done.stdout
    assert "weights all equal" in done.stdout
    assert "norm" not in done.stdout  # there is none
    assert "dropout 0," in done.stdout  # which is not the same as none
    assert "one finalist alone" in done.stdout
    assert "6 trainings done" in done.stderr
    written = json.loads((tmp_path / "x.json").read_text())
    assert (written["space"], written["metric"]) == ("heterophilous", "macro_f1")


@pytest.mark.parametrize(
    ("typed", "dataset"), [("Minesweeper", "minesweeper"), ("{folder}/Minesweeper.npz", "{folder}/Minesweeper.npz")]
)
def test_a_graph_of_the_benchmark_is_known_however_it_is_written(tiny, tmp_path, monkeypatch, typed, dataset):
    monkeypatch.setitem(SPACES, "heterophilous", TINY)
    (tmp_path / "Minesweeper.npz").touch()
    line = ["search", typed.format(folder=tmp_path), *SHORT]
    done = call(*line, f"--out={tmp_path / 'r'}", f"--json={tmp_path / 'x.json'}", cwd=tmp_path)
    assert done.code == 0, done.stderr
    written = json.loads((tmp_path / "x.json").read_text())
    said = {name: written[name] for name in ("graph", "space", "metric")}
    assert said == {"graph": dataset.format(folder=tmp_path), "space": "heterophilous", "metric": "auc"}
    assert {each.settings["metric"] for each in Results(tmp_path / "r").read()} == {"auc"}


def test_which_benchmark_knows_a_graph():
    known = import_module("panconv.cli.search")._benchmark
    names = ["Cora", "TOLOKERS", "~/data/squirrel_filtered.npz", "/data/cora", "mine.npz", "cora.npz"]
    assert [known(name) for name in names] == ["cora", "tolokers", "squirrel_filtered", *names[3:]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget=10"], "--budget must be a time above 0, such as 90s, 10m or 1h, got '10'"),
        (["--budget=0s"], "--budget must be a time above 0"),
        (["--space=cold"], "--space must be one of random-propagation, warm, deep, heterophilous"),
        (["--model=gnc"], "--model must be pan or a baseline: 'gnc' is no method of the zoo"),
        (["--model=gcn", "--space=deep"], "--space goes with --model pan"),
        (["--model=lp", "--epochs=3"], "'epochs' is no setting of this method"),
        (["--settings=0"], "--settings must be at least 1, got 0"),
        (["--seeds=0"], "--seeds must be at least 1, got 0"),
        (["--finalists=-1"], "--finalists must be at least 1"),
        (["--reruns=0"], "--reruns must be at least 1"),
        (["--trials=0"], "--trials must be at least 1"),
        (["--metric=loss", "--space=tiny"], "--metric must be one of accuracy, macro_f1, auc, got 'loss'"),
        (["--epochs=0"], "--epochs must be at least 1, got 0"),
        (["--device=warp"], "--device must be one of auto, cpu, cuda, got 'warp'"),
    ],
)
def test_what_is_wrong_is_refused_in_a_line(tiny, tmp_path, words, message):
    done = call("search", "cora", *words, f"--out={tmp_path}", cwd=tmp_path)
    assert done.code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_near_and_a_budget_do_not_go_together(tmp_path):
    done = call("search", "cora", "--near=3", "--budget=9s", cwd=tmp_path)
    assert done.code == 2
    assert "--near goes with --settings, not with --budget, got --near 3" in done.stderr


@pytest.mark.parametrize(
    ("line", "budget", "settings"), [([], 600.0, None), (["--settings=5"], None, 5), (["--budget=90s"], 90.0, None)]
)
def test_on_a_cpu_a_search_has_ten_minutes_where_nothing_is_said(monkeypatch, tmp_path, line, budget, settings):
    asked = {}

    def search(*_, **options):
        asked.update(options)
        raise ValueError("enough")

    monkeypatch.setattr(import_module("panconv.training.search"), "search", search)
    assert call("search", "cora", *line, cwd=tmp_path).code == 2
    assert (asked["budget"], asked["settings"]) == (budget, settings)
