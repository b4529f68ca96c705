import json

import pytest
import untrained
from in_process import call

from panconv.best import depth
from panconv.best.studies import STUDIES
from panconv.cli import checks
from panconv.records.record import Results


def test_the_ladder(monkeypatch, tmp_path):
    batches = untrained.use(monkeypatch)
    done = call("reproduce", "best", "--datasets=cora", "--trials=3", "--out=r", cwd=tmp_path)
    assert done.code == 0, done.stderr
    for words in ("From the paper's PAN to the best: Cora", "the paper's PAN", "preset at T = ∞", "95 % interval"):
        assert words in done.stdout
    rows = STUDIES["best"].rows_of("cora", [])
    assert len(Results(tmp_path / "r").read()) == 3 * len(rows) == sum(map(len, batches))
    assert {record.command for record in Results(tmp_path / "r").read()} != {""}


def test_without_a_graph_it_is_about_all_of_its_own(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    done = call("reproduce", "elsewhere", "--quick", "--out=r", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert all(f"Twenty random splits: {name}" in done.stdout for name in ("Cora", "Citeseer", "Pubmed"))
    assert {record.seed for record in Results(tmp_path / "r").read()} == {0}


def test_a_contest_searches_first(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    done = call("reproduce", "alike", "--quick", "--datasets=cora", "--out=r", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "PAN, random propagation" in done.stdout
    assert "GCNII" in done.stdout


def test_depth_shows_what_was_seen_in_the_deepest(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    look = {"energy": [0.5] * 63 + [0.125], "all": [0.8, 0.9], "few": [0.4, 0.5]}
    (tmp_path / "r").mkdir()
    depth.looks_file(tmp_path / "r", "cora").write_text(json.dumps({"GCNII": look}))
    done = call("reproduce", "depth", "--datasets=cora", "--trials=1", "--out=r", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "the relative Dirichlet energy" in done.stdout
    assert "85.0 ± 7.1" in done.stdout
    assert "45.0 ± 7.1" in done.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["best", "--datasets=tolokers"], "--datasets names 'tolokers', and best is about cora, citeseer, pubmed"),
        (["heterophilous", "--trials=11"], "--trials must be at most 10, got 11"),
        (["best", "--trials=0"], "--trials must be at least 1, got 0"),
        (["alike", "--methods=gcn"], "--methods goes with table1, table2 and all, not with alike"),
        (["alike", "--met"], "--met goes with table1, table2 and all, not with alike"),
        (["depth", "--random-splits=2"], "--random-splits goes with table2, not with depth"),
    ],
)
def test_refusals(line, message, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "readable", lambda graphs: graphs)  # whose files may not be here
    done = call("reproduce", *line, cwd=tmp_path)
    assert done.code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
