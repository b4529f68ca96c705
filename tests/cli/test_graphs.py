import json
import subprocess
import sys

import pytest
from fuzz_commands import many_graphs
from in_process import call

from panconv.records.record import Results

QUICK = ("--quick", "--folds", 2, "--reruns", 1, "--device", "cpu")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.delenv("PANCONV_TU", raising=False)
    many_graphs(tmp_path / "many.txt")
    return tmp_path


def test_the_menu(tmp_path):
    done = call("graphs", cwd=tmp_path)
    assert done.code == 0
    said = " ".join(done.stdout.split())
    for words in ("pan-pool", "structure-free", "lr 0.001/0.01", "nothing: as published"):
        assert words in said


def test_a_contest(place):
    line = ("graphs", "many.txt", "--model", "gin,pan", *QUICK, "--out", "r", "--json", "x.json")
    done = call(*line, cwd=place)
    assert done.code == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in (
        "many: 24 graphs; 4.5 nodes (3 … 6); ",
        "many, 2 folds: a first look",
        "change over PAN",
        "records: r",
    ):
        assert words in said
    assert said.index("PAN") < said.index("GIN")  # with which the others are compared
    records = Results(place / "r").read()
    assert {(each.model, each.dataset.partition("@")[0], each.split) for each in records} == {
        ("graphs:pan", "many", "given"),
        ("graphs:gin", "many", "given"),
    }
    assert len(records) == 2 * (2 * 2 + 2)
    found = json.loads((place / "x.json").read_text())
    pan, gin = found["models"]
    assert (found["dataset"], found["splits"], pan["model"], gin["against"]) == ("many", 2, "pan", "pan")
    tested = {each.seed % 2: 100 * each.test_accuracy for each in records if each.tested and "gin" in each.model}
    assert gin["by_fold"] == pytest.approx([tested[0], tested[1]])
    assert gin["change"]["mean"] == pytest.approx(gin["mean"] - pan["mean"])
    assert gin["chosen"][0]["epochs"] == 10
    again = call(*line, cwd=place)
    assert again.stdout == done.stdout
    assert len(Results(place / "r").read()) == len(records)
    page = call("report", "--results", "r", cwd=place)
    assert page.code == 0, page.stderr
    assert "many, 2 folds: a first look" in (place / "report.html").read_text()


def test_random_splits(place):
    done = call("graphs", "many.txt", "--model=topk", "--runs=2", *QUICK[:1], "--device=cpu", cwd=place)
    assert done.code == 0, done.stderr
    assert "many, 2 random splits: a first look" in done.stdout
    assert {each.split for each in Results(place / "results").read()} == {"random"}


def test_a_description(place):
    done = call("graphs", "many.txt", "--describe", "--json", "d.json", cwd=place)
    assert done.code == 0, done.stderr
    assert json.loads((place / "d.json").read_text())["graphs"] == 24
    assert not (place / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "source 'nowhere' is no file here"),
        (("many.txt", "--model", "gni"), "--model must be of pan, .*, or all, got 'gni': did you mean 'gin'?"),
        (("many.txt", "--model", ","), "--model names no model"),
        (("many.txt", "--folds", 1), "--folds must be at least 2, got 1"),
        (("many.txt", "--folds", 13), "--folds: folds must be at most 12, as many as class 0 has graphs"),
        (("many.txt", "--folds", 3, "--runs", 3), "--runs goes in place of --folds, got --folds 3 --runs 3"),
        (("many.txt", "--runs", 0), "--runs must be at least 1"),
        (("many.txt", "--reruns", 0), "--reruns must be at least 1"),
        (("one.txt",), "y holds one class alone"),
        (("few.txt", "--runs", 2), "--runs: shares"),
        (("many.txt", "--device", "warp"), "--device must be one of auto, cpu, cuda"),
        (("many.txt", "--json", "."), "it is a folder"),
        (("cut.txt",), "cut.txt"),
    ],
)
def test_mistakes_are_one_line_before_the_training(place, arguments, words):
    lines = (place / "many.txt").read_text().splitlines()
    (place / "cut.txt").write_text("\n".join(lines[:-2]))
    (place / "one.txt").write_text("3\n" + "1 0\n0 0\n" * 3)
    (place / "few.txt").write_text("4\n" + "1 0\n0 0\n1 1\n0 0\n" * 2)
    done = call("graphs", *arguments, cwd=place)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert words.split(".*")[0] in done.stderr
    assert words.split(".*")[-1] in done.stderr
    assert not (place / "results").exists()


def test_a_misspelt_model_is_said_before_torch_is_imported(place):
    code = (
        "import sys, panconv.cli\ntry: panconv.cli.main(['graphs', 'x', '--model', 'gni'])\n"
        "except SystemExit: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=place)
    assert done.stdout.strip() == "False", done.stderr
