import best_tables  # tools/best_tables.py
import pytest
import train_best  # tools/train_best.py
import untrained
from zoo_tables import filled

from panconv.best.depth import seen, write_looks
from panconv.records.record import Results


def test_the_page_is_what_the_records_say():
    page = best_tables.PAGE.read_text()
    assert filled(page, best_tables.tables()) == page
    for name in best_tables.tables():
        assert f"<!-- {name}: begin -->" in page, name


def test_a_table_of_a_study(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    study = best_tables.STUDIES["best"]
    study.train(["cora"], Results(tmp_path), trials=2)
    evidence = best_tables.Evidence(Results(tmp_path).read(), tmp_path)
    rows = best_tables._study("best", evidence).splitlines()
    assert rows[0].startswith("|  | Cora (2 trials) | change | s (cpu) | change over |")
    assert len(rows) == 2 + len(study.rows_of("cora", []))
    assert [row.rsplit("|", 2)[1].strip() for row in rows if row.startswith("| preset at T = ∞")] == ["preset"]
    assert best_tables._study("heterophilous", evidence) == ""


def test_steps_go_on_and_stop_when_the_time_is_up(monkeypatch, tmp_path, capsys):
    batches = untrained.use(monkeypatch)
    monkeypatch.setattr(train_best, "RECORDS", tmp_path / "kept")
    run = ["train_best.py", "best:cora", "elsewhere:cora", "--out", str(tmp_path / "new"), "--trials", "2"]

    def call(*line):
        monkeypatch.setattr("sys.argv", list(line))
        train_best.main()
        return sum(map(len, batches))

    assert call(*run, "--seconds", "0") == 0
    assert "time is up in best:cora; left: best:cora elsewhere:cora" in capsys.readouterr().out
    trained = call(*run)
    assert len(Results(tmp_path / "new").read()) == trained
    assert call(*run) == trained
    assert call(*run[:-1], "3") == trained * 3 // 2
    write_looks(tmp_path / "new", "cora", {"PAN": {"all": [0.8]}})
    (tmp_path / "kept").mkdir()
    write_looks(tmp_path / "kept", "cora", {"PAN": {"all": [0.1]}, "GCN": {"all": [0.2]}})
    call("train_best.py", "--keep", "--out", str(tmp_path / "new"))
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept == ["cora-tables.jsonl", "depth-cora.json"]
    assert seen(tmp_path / "kept", "cora") == {"PAN": {"all": [0.8]}, "GCN": {"all": [0.2]}}
    assert {each.key() for each in Results(tmp_path / "kept").read()} == {
        each.key() for each in Results(tmp_path / "new").read()
    }
    assert call(*run[:3], "--out", str(tmp_path / "other"), "--trials", "3") == trained * 3 // 2  # all of it is kept
    before = sum(map(len, batches))
    one = ("train_best.py", "best:cora:preset", "--out", str(tmp_path / "one"), "--trials", "4")
    assert call(*one) == before + 1  # the row alone, of which three are kept
    searched = ("train_best.py", "alike:cora:PAN, warm", "--out", str(tmp_path / "one"), "--trials", "1")
    call(*searched)
    assert {each.model for each in Results(tmp_path / "one").read()} == {"pan"}  # no other search
    with pytest.raises(SystemExit):
        call("train_best.py", "best:nowhere", "--out", str(tmp_path))
    assert "'best:nowhere' is no step" in capsys.readouterr().err
