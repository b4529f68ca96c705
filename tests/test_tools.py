"""The tables of the pages are those that the tool makes of the committed records."""

import importlib.util
from pathlib import Path

import pytest
from untrained_graphs import Told

from panconv.paper.claims.claim import Evidence
from panconv.paper.report.recorded import recorded
from panconv.records.record import Results
from panconv.whole_graphs.contest import Contest

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def zoo_tables():
    module = tool("zoo_tables")
    module.share = lambda *_: 0.0  # of |M|, whose computation takes a while
    return module


def test_the_page_of_the_paper_has_the_ledger_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    ledger = tool("paper_ledger")
    page = ledger.PAGE.read_text()
    parts = ledger.tables(Evidence.of(ledger.DOCS / "results"))
    assert all(f"<!-- {name}: begin -->" in page for name in parts)
    assert ledger.filled(page, parts) == page, "python tools/paper_ledger.py writes another paper.md"


def test_the_pages_have_the_tables_of_the_records(zoo_tables):
    parts = zoo_tables.tables()
    del parts["operators-chosen"]
    for name in zoo_tables.PAGES:
        page = (zoo_tables.DOCS / name).read_text()
        assert zoo_tables.filled(page, parts) == page, f"python tools/zoo_tables.py writes another {name}"


def test_the_page_of_graphs_has_the_tables_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    made = tool("graph_tables")
    page = made.PAGE.read_text()
    assert made.filled(page, made.tables()) == page, "python tools/graph_tables.py writes another graphs.md"


def test_records_of_graphs_are_packed_into_a_file_for_each_set(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(TOOLS)
    made = tool("graph_tables")
    for name in ("RECORDS", "PAGE"):
        monkeypatch.setattr(made, name, tmp_path / name)
    made.PAGE.write_text("<!-- contests: begin -->\n<!-- contests: end -->\n")
    made.main()
    assert "Not trained yet" in made.PAGE.read_text()
    for i, contest in enumerate((Contest("A", ("pan", "gin"), folds=2), Contest("B", ("authors",), runs=2))):
        contest.train(Told(), Results(tmp_path / f"{i}"))
    Contest("B", ("pan",), folds=2, quick=True).train(Told(), Results(tmp_path / "1"))
    made.main([str(tmp_path / "0")])
    made.main([str(tmp_path / "1")])
    assert sorted(path.name for path in made.RECORDS.iterdir()) == ["A.jsonl", "B.jsonl"]
    assert len(Results(made.RECORDS).read()) == 2 * (8 * 2 + 2 * 3) + 2 * 3
    page = made.PAGE.read_text()
    assert "**A**, 2 folds:" in page
    assert "| GIN | **60.0** ± 0.0 | +0.0 ± 0.0 | 22 |" in page
    assert "**B**, 2 random splits:" in page


def test_what_has_not_been_run_is_a_dash(zoo_tables):
    parts = zoo_tables.operators([])
    assert "| GAT | – | – | – | – | – | – | – | – | – |" in parts["operators"].splitlines()
    assert "| S²GC | – | – | – |" in parts["operators-chosen"].splitlines()


def test_text_between_markers_is_replaced_and_nothing_else(zoo_tables):
    page = "a\n<!-- own: begin -->\nold\n<!-- own: end -->\nb <!-- met: begin -->"
    assert zoo_tables.filled(page, {"own": "new", "met": "x"}) == page.replace("old", "\nnew\n")


def test_the_recorded_full_run_is_that_of_the_records():
    made = tool("recorded")
    found = made.text(Results(made.HOME / "docs/results").read())
    assert made.FILE.read_text(encoding="utf-8") == found, "python tools/recorded.py writes another recorded.json"
    rows = {name: recorded(name) for name in ("table1", "table2", "table3")}
    assert [len(table) for table in rows.values()] == [13, 25, 8]
    assert all(each.trials >= 10 for table in rows.values() for cells in table.values() for each in cells)
    assert rows["table1"].items() <= rows["table2"].items()
    assert made.FILE.stat().st_size < 8_000


def test_a_contest_goes_on_where_its_time_was_up(tmp_path, capsys):
    how = ["point-patterns-0.3-60", "--model", "pan,structure-free", "--folds", "2", "--quick", "--out", str(tmp_path)]
    train_graphs = tool("train_graphs")
    train_graphs.main([*how, "--seconds", "0"])
    assert "time is up in pan; left: pan,structure-free" in capsys.readouterr().out
    assert not Results(tmp_path).read()
    train_graphs.main(how)
    first = Results(tmp_path).read()
    assert {record.dataset for record in first} == {"point-patterns-0.3-60"}
    train_graphs.main(how)
    assert Results(tmp_path).read() == first
    with pytest.raises(SystemExit):
        train_graphs.main([*how, "--model", "pam"])
