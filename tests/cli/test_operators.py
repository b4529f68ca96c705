import json
import os

import pytest
from terminal import run


def test_operators(tmp_path):
    options = ("--quick", "--datasets", "Cora", "--models", "gcn,sgc", "--out", "records", "--json", "new/table.json")
    finished = run("operators", *options, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    for words in ("Test accuracy (%), 1 trial:", "GCN", "SGC", "The M that validation chose", "top 32"):
        assert words in finished.stdout
    cells = json.loads((tmp_path / "new/table.json").read_text())
    assert [(cell["model"], cell["dataset"]) for cell in cells] == [("gcn", "cora"), ("sgc", "cora")]
    for cell in cells:
        assert f"{100 * cell['usual'][0]:.1f} {100 * cell['met'][0]:.1f}" in finished.stdout
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "records").iterdir()}
    again = run("operators", *options, cwd=tmp_path)
    assert again.stdout == finished.stdout
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "records").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--datasets", "coda"), "datasets must be of cora, citeseer, pubmed, got 'coda'"),
        (("--models", "gnc"), "models must be of cheb, gcn, sgc, appnp, gat, ssgc, got 'gnc'"),
        (("--models", ","), "got none"),
        (("--trials", "0"), "trials must be an integer of at least 1"),
        (("--device", "warp"), "--device warp cannot be used here"),
        (("--out", "file"), "the folder file is a file"),
        (("--json", "."), "it is a folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    finished = run("operators", *arguments, cwd=tmp_path)
    assert finished.returncode == 2, finished.stderr
    assert message in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == ["file"]
