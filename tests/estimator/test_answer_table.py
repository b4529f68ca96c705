"""The table of answers: a row per node, by its id."""

import csv

import numpy as np
import pytest
import torch

from panconv import PANClassifier, PANRegressor
from panconv.data.csv_writing import write_csv
from panconv.data.graph import Graph
from panconv.estimator.answer_table import OF_CLASSES, answers, header, set_of

NAMES = ("=cmd|'/C calc'!A0", "plain")


@pytest.fixture(scope="module")
def graph():
    """A path of 20 nodes, of which some at one end and some at the other are labelled, and a node by itself."""
    rng = np.random.default_rng(0)
    one = np.arange(19)
    edges = torch.from_numpy(np.stack([np.concatenate([one, one + 1]), np.concatenate([one + 1, one])]))
    labels = np.array([NAMES[0]] * 6 + [None] * 8 + [NAMES[1]] * 6 + [None], dtype=object)
    x = rng.normal(size=(21, 2)) + np.where(np.arange(21) < 10, 1, -1)[:, None]
    ids = np.array([f"-{i}x" for i in range(21)], dtype=object)
    return Graph(ids, edges, matrix=x, label="topic", labels=labels, classes=NAMES)


def test_classes(graph, tmp_path):
    clf = PANClassifier("linear").fit(graph)
    rows, p = [*answers(clf, graph, clf._known)], clf.predict_proba()
    assert header(clf) == OF_CLASSES
    assert [row[0] for row in rows] == graph.ids.tolist()
    assert [row[1] for row in rows] == clf.predict().tolist()
    assert [row[2] for row in rows] == p.max(1).round(6).tolist()
    assert [row[4] for row in rows] == p.min(1).round(6).tolist()
    assert {row[1] for row in rows} == {row[3] for row in rows} == set(NAMES)
    within = clf.predict_set(alpha=0.1)
    assert [row[5] for row in rows] == [set_of([*NAMES], each) for each in within]
    assert [row[6] for row in rows] == ["no" if each is None else "yes" for each in graph.labels]
    assert [row[7] for row in rows] == [0] * 6 + [1, 2, 3, 4, 4, 3, 2, 1] + [0] * 6 + [None]
    some = [*answers(clf, graph, clf._known, np.array([20, 3]))]
    assert [row[2] for row in some] == pytest.approx([rows[20][2], rows[3][2]], abs=2e-6)
    assert [[row[0], row[1], *row[5:]] for row in some] == [[row[0], row[1], *row[5:]] for row in (rows[20], rows[3])]
    write_csv(tmp_path / "a.csv", header(clf), rows)  # nothing in it runs where a spreadsheet opens it
    with (tmp_path / "a.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert "'-3x" in cells


def test_numbers_stay_numbers(graph, tmp_path):
    labels = np.array([None if each is None else str(-i - 0.5) for i, each in enumerate(graph.labels)], dtype=object)
    numbers = Graph(graph.ids, graph.edge_index, matrix=graph.matrix, label="age", labels=labels)
    reg = PANRegressor("linear").fit(numbers)
    rows = [*answers(reg, numbers, reg._known)]
    assert header(reg) == ("id", "value", "known", "hops")
    assert [row[1] for row in rows] == reg.predict().tolist()
    write_csv(tmp_path / "a.csv", header(reg), rows)
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [float(row["value"]) for row in csv.DictReader(file)] == reg.predict().tolist()


def test_where_no_label_was_learned_from(graph):
    clf = PANClassifier("linear").fit(graph)
    rows = [*answers(clf, graph, np.zeros(21, dtype=bool))]
    assert {row[6] for row in rows} == {"no"}
    assert {row[7] for row in rows} == {None}
    rows = [*answers(clf, graph, None)]  # nobody knows
    assert {(row[6], row[7]) for row in rows} == {(None, None)}


def test_a_bar_in_the_name_of_a_class():
    assert set_of(["a|b", "c\\", "d"], np.array([True, True, False])) == r"a\|b|c\\"
