"""Text as people have it: encodings, line ends, delimiters, quotes, and the line on which something stands."""

import csv
import io
import warnings

import pandas as pd
import pyarrow as pa
import pytest
from fuzz_tables import main as fuzz
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import json, parquet

from panconv import read
from panconv.data.csv_files import dialect_of, line_of

NODES = 'id;what;label\n1;"a ; b";x\n2;"two\nlines";y\n\n3;"a ""quote""";x\n4;é;y\n'
EDGES = "from;to\n1;2\n2;3\n3;4\n"
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "cp1252")


def encoded(text, encoding):
    return b"\xff\xfe" + text.encode("utf-16-le") if encoding.endswith("bom") else text.encode(encoding)


@pytest.mark.filterwarnings("ignore:.*not UTF-8")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_one_graph_however_it_is_written(tmp_path, encoding, end, delimiter):
    for name, text in (("edges", EDGES), ("nodes", NODES)):
        text = text.replace(";", delimiter).replace("\n", end)
        (tmp_path / f"{name}.csv").write_bytes(encoded(text, encoding))
    graph = read(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert graph.ids.tolist() == [1, 2, 3, 4]
    assert graph.labels.tolist() == ["x", "y", "x", "y"]
    table = dialect_of(tmp_path / "nodes.csv")
    assert (table.delimiter, table.header) == (delimiter, ("id", "what", "label"))


def test_arrow_is_given_no_file_of_pythons(tmp_path, monkeypatch):
    """Its threads may let go of one after the table is read, and abort the process where that is ending by then."""
    given = []
    for module, name in ((arrow_csv, "read_csv"), (json, "read_json"), (parquet, "read_metadata")):
        then = getattr(module, name)
        monkeypatch.setattr(module, name, lambda file, *a, then=then, **k: given.append(file) or then(file, *a, **k))
    frame = pd.DataFrame({"source": ["a", "é"], "target": ["b", "a"]})
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.to_csv(tmp_path / "two.csv", index=False, encoding="utf-16")
    frame.to_json(tmp_path / "three.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "four.parquet")
    for path in tmp_path.iterdir():
        assert read(path).ids.tolist() == ["a", "é", "b"]
    assert len(given) == 4
    assert all(isinstance(file, (pa.OSFile, pa.BufferReader)) for file in given)


def test_a_row_is_found_by_its_line(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text(f"\n{NODES}")
    how = dialect_of(path)
    assert how.before == 1
    assert [line_of(path, how, row) for row in range(4)] == [3, 4, 7, 8]
    (tmp_path / "edges.csv").write_text("from,to\n1,2\n2,3\n3,4\n")
    graph = read(tmp_path / "edges.csv", path)
    assert graph.ids.tolist() == [1, 2, 3, 4]


def test_a_huge_field_is_refused_by_its_line(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target\na,b\nb,{'c' * 2**25}\n")
    with pytest.raises(ValueError, match="line 3, column 'target': a cell of 33,554,432 characters makes a row longer"):
        read(path)
    path.write_text(f"source,target\na,b\nb,{'c' * 17 * 2**20}\n")  # which Arrow itself takes
    with pytest.raises(ValueError, match="line 3, column 'target': a cell of 17,825,792 characters makes a row longer"):
        read(path)
    lines = tmp_path / "edges.jsonl"
    lines.write_text('{"source": "a", "target": "b"}\n{"source": "%s", "target": "b"}\n' % ("c" * 17 * 2**20))
    with pytest.raises(ValueError, match="row 2, column 'source': a cell of 17,825,792 characters makes a row longer"):
        read(lines)
    lines.write_text('{"source": "%s"}\n' % ("c" * 2**25))
    with pytest.raises(ValueError, match=r"edges.jsonl cannot be read as jsonl: a row is longer than 16 MiB"):
        read(lines)
    path.write_text(f"source,target\na,b\nb,{'c' * 2**20}\n")  # large, and yet a cell
    assert len(read(path).ids[2]) == 2**20


def test_encodings_that_are_none(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"\xff\xfe" + "source,target\na,b\n".encode("utf-16-le") + b"\x00")
    with pytest.raises(ValueError, match="begins as utf-16, but is not: save it as UTF-8"):
        read(path)


CELLS = st.text(st.characters(blacklist_categories=("Cs", "Cc")) | st.sampled_from('",;\n\t '), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), delimiter=st.sampled_from(",;\t|"))
def test_what_a_writer_wrote_is_read(tmp_path, rows, delimiter):
    """Any text can be an id, blanks around it aside; all that csv.writer quotes is read as it was."""
    rows = [(one.strip(), other.strip()) for one, other in rows]
    rows = [(one or "empty", other or "empty") for one, other in rows]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *rows])
    (tmp_path / "edges.csv").write_bytes(file.getvalue().encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = read(tmp_path / "edges.csv", directed=True)
    found = {tuple(str(graph.ids[end]) for end in pair) for pair in graph.edge_index.T.tolist()}
    assert found == {pair for pair in rows if pair[0] != pair[1]}


def test_fuzz():
    assert fuzz(150, 5) is None
