"""What we write can be read back, and a spreadsheet runs none of it."""

import csv

import numpy as np
import pytest

from panconv import load, read
from panconv.data.csv_writing import cell, write_csv
from panconv.data.export import export


def test_formulas_are_defused(tmp_path):
    rows = [("=1+1", 1), ("+cmd|' /C calc'!A0", -2.5), ("@SUM(A1)", None), ("-5", "-x"), ("\tx", 'a "b", c\nd')]
    write_csv(tmp_path / "new" / "t.csv", ("id", "=name"), rows)
    with (tmp_path / "new" / "t.csv").open(newline="") as file:
        found = list(csv.reader(file))
    assert found == [
        *(["id", "'=name"], ["'=1+1", "1"], ["'+cmd|' /C calc'!A0", "-2.5"], ["'@SUM(A1)", ""]),
        *(["-5", "'-x"], ["'\tx", 'a "b", c\nd']),
    ]
    for plain in ("1e-5", "+3", "-0.5", "a=b", "", 7, None):
        assert cell(plain) == plain


def test_no_line_of_a_text_is_a_formula(tmp_path):
    ids = ["n3\r=HYPERLINK(0)", "a\r\n  @SUM(A1)", "b\n-1+1", "c\rd", "=1\r+2"]
    write_csv(tmp_path / "t.csv", ("id", "a\r=b", "n"), [(each, each, 1.5) for each in ids])
    with (tmp_path / "t.csv").open(newline="") as file:
        found = list(csv.reader(file))
    expected = ["n3\r'=HYPERLINK(0)", "a\r\n  '@SUM(A1)", "b\n'-1+1", "c\rd", "'=1\r'+2"]
    assert found == [["id", "a\r'=b", "n"], *([each, each, "1.5"] for each in expected)]


def test_cora_comes_back(tmp_path):
    paths = export("cora", tmp_path)
    graph, data = read(*paths[:2]), load("cora", normalize=False)
    assert graph.ids[17] == "cora-17"
    assert (graph.edge_index.numpy() == data.edge_index.numpy()[:, np.lexsort(data.edge_index.numpy())]).all()
    assert sum(graph.counts().values()) == 140
    assert all(count == 20 for count in graph.counts().values())
    shown = np.stack([graph.columns[f"w{place}"].values for place in (0, 19, 1432)], 1)
    np.testing.assert_array_equal(shown, data.x[:, [0, 19, 1432]])
    with paths[2].open() as file:
        truth = list(csv.DictReader(file))
    assert sum(row["part"] == "test" for row in truth) == 1000
    names = {(row["label"], int(y)) for row, y in zip(truth, data.y.tolist(), strict=True)}
    assert len(names) == 7
    assert ("Neural_Networks", 3) in names
    labelled = [row["id"] for row in truth if row["part"] == "train"]
    assert labelled == [node for node, label in zip(graph.ids, graph.labels, strict=True) if label is not None]


def test_a_file_is_whole_or_not_there(tmp_path):
    def rows():
        yield ["a"]
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_csv(tmp_path / "t.csv", ("id",), rows())
    assert not list(tmp_path.iterdir())
