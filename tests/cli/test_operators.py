import json
import os
import sys
import warnings
from types import SimpleNamespace

import pytest

from panconv.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """The program in this process, which has loaded torch and PyG already."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the program sets its own
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["panconv", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return SimpleNamespace(returncode=ended.value.code, **capsys.readouterr()._asdict())

    return call


def test_operators(run, tmp_path):
    options = ("--quick", "--datasets", "Cora", "--models", "gcn,appnp", "--out", "records", "--json", "new/table.json")
    finished = run("operators", *options)
    assert finished.returncode == 0, finished.err
    assert finished.err.startswith("panconv operators: it will go: the six models are rows of the zoo")
    for words in ("Test accuracy (%), 1 trial:", "GCN", "APPNP", "dropped", "top 32"):
        assert words in finished.out
    cells = json.loads((tmp_path / "new/table.json").read_text())
    assert [(cell["model"], cell["dataset"]) for cell in cells] == [("gcn", "cora"), ("appnp", "cora")]
    for cell in cells:
        assert f"{100 * cell['usual'][0]:.1f} {100 * cell['met'][0]:.1f}" in finished.out
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "records").iterdir()}
    again = run("operators", *options)
    assert again.out == finished.out
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "records").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--datasets", "coda"), "datasets must be of cora, citeseer, pubmed, got 'coda'"),
        (("--models", "gnc"), "models must be of cheb, gcn, sgc, appnp, gat, ssgc, got 'gnc'"),
        (("--models", ","), "got none"),
        (("--trials", "0"), "--trials must be at least 1, got 0"),
        (("--device", "warp"), "--device must be one of auto, cpu, cuda, got 'warp'"),
        (("--out", "file"), "the results folder file is a file"),
        (("--json", "."), "it is a folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(run, tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    finished = run("operators", *arguments)
    assert finished.returncode == 2, finished.err
    assert message in finished.err
    assert len(finished.err.splitlines()) == 1
    assert os.listdir(tmp_path) == ["file"]
