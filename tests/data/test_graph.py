"""A graph knows its nodes by their ids, its edges as their owner counts them, and its labels by name."""

import numpy as np
import pandas as pd
import pytest

from panconv import read
from panconv.data.edge_list import edges_from
from panconv.data.graph import as_ids
from panconv.data.labels import known_labels, look_at, sorted_classes
from panconv.data.remarks import Remarks


def test_a_node_is_found_by_its_id():
    graph = read([("anna", "bob"), ("bob", "cyd")])
    assert (graph.index("bob"), graph.index(" bob ")) == (1, 1)
    with pytest.raises(ValueError, match=r"there is no node 'ana': did you mean 'anna'\?"):
        graph.index("ana")
    with pytest.raises(ValueError, match="there is no node 'qqqq': ids are such as anna, bob, cyd"):
        graph.index("qqqq")
    with pytest.raises(ValueError, match="the graph has no labels"):
        _ = graph.y


def test_ids_are_numbers_where_all_are_and_nothing_is_lost():
    assert as_ids(["1", "-2"]).tolist() == [1, -2]
    for kept in (["1", "02"], ["1", "a"], ["+1"], ["1_0"], ["1.0"], ["9" * 30], ["٣"]):
        assert as_ids(kept).tolist() == kept


def test_edges_once_and_both_ways():
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 30, (2, 400))
    w = rng.random(400)
    for directed in (False, True):
        index, weight = edges_from(s, t, w, directed, Remarks(), str)
        dense, expected = np.zeros((30, 30)), np.zeros((30, 30))
        dense[index[0], index[1]] = weight
        np.add.at(expected, (s, t), w)
        expected = expected if directed else expected + expected.T  # no two directions of these weigh the same
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(dense, expected, rtol=1e-6)
        assert index.unique(dim=1).size(1) == index.size(1) == (expected > 0).sum()


def test_labels():
    texts, said = np.array(["b", "nan", None, "?", "b", "a", "-", "NAN", "nan"], object), Remarks()
    assert known_labels(texts, "row {}".format, said).tolist() == ["b", None, None, None, "b", "a", *[None] * 3]
    assert said.mended == [  # the words that stand for nothing in a column of numbers, each said
        "row 6: '-' may be a class or say that there is none: 1 label taken for not known",
        "row 3: '?' may be a class or say that there is none: 1 label taken for not known",
        "row 7: 'NAN' may be a class or say that there is none: 1 label taken for not known",
        "row 1: 'nan' may be a class or say that there is none: 2 labels taken for not known",
    ]
    assert sorted_classes(np.array(["10", "9", None], object)) == ("9", "10")
    assert sorted_classes(np.array(["x", "9", None], object)) == ("9", "x")
    many = Remarks(strict=True)  # numbers to predict are no mistake
    look_at(np.array([str(n / 7) for n in range(50)], object), "it", many)
    assert many.guessed == ["it: 50 different labels of 50 nodes: numbers to predict, or names, rather than classes"]


def test_targets():
    pandas = pytest.importorskip("pandas")
    edges = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    graph = read(edges, pandas.DataFrame({"id": ["a", "b", "c"], "label": [0.5, None, 2.5]}))
    np.testing.assert_equal(graph.targets, [0.5, np.nan, 2.5])
    graph = read(edges, pandas.DataFrame({"id": ["a", "b", "c"], "label": ["x", "y", None]}))
    with pytest.raises(ValueError, match="nodes, row 1, column 'label': 'x' is no number, and numbers are to be pred"):
        _ = graph.targets
    assert graph.counts() == {"x": 1, "y": 1}
    assert repr(graph) == "Graph(3 nodes, 2 edges, 2 labels of 2 classes in 'label')"


def test_its_columns_are_features_and_where_there_are_none_its_edges_are():
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "age": [1.0, 2.0, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    found = read(edges, nodes).features()
    assert found.shape == (3, 3)
    assert found[1, 0] == 0  # the mean age
    assert read(edges).features().shape[0] == 3
