import json

import pytest
from terminal import run

QUICK = ("--trials", 2, "--set", "epochs=3")


def test_the_list(tmp_path):
    finished = run("zoo", "--json", "list.json", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    for words in ("DynamicFilter", "GWNN", "Kipf &", "operator", "walk", "not run"):
        assert words in finished.stdout
    rows = json.loads((tmp_path / "list.json").read_text())
    assert len(rows) == 24
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
        (("gcn", "cora", "--set", "lr=fast"), "--set lr must be like 0.01, got 'fast'"),
        (("gcn", "cora", "--set", "hidden=1.5"), "--set hidden must be like 16"),
        (("planetoid", "cora", "--set", "variant=X"), "variant must be one of 'T', 'I', got 'X'"),
        (("deepwalk", "cora", "--set", "window=0"), "window must be at least 1, got 0"),
        (("gat", "cora", "--met"), "M has no place in GAT"),
        (("gcn", "cora", "--json", "."), "it is a folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    finished = run("zoo", *arguments, cwd=tmp_path)
    assert finished.returncode == 2, finished.stderr
    assert message in finished.stderr
    assert len(finished.stderr.strip().splitlines()) == 1
