from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from planted_classes import planted

from panconv import PANClassifier, PANRegressor
from panconv.graph import Adjacency

IDS = np.array([f"node-{i}" for i in range(240)], dtype=object)


@lru_cache(maxsize=1)
def named():
    """A planted graph with ids and class names, and a linear head on it."""
    A, X, y, _ = planted()
    graph = SimpleNamespace(
        adjacency=Adjacency.of(A), y=y, ids=IDS, features=lambda: X, classes=("red", "green", "blue")
    )
    return graph, PANClassifier("linear", L=2, cv=3).fit(graph)


def assert_adds_up(one, score):
    assert one.score == pytest.approx(score, abs=1e-9)
    for parts in (one.lengths, [value for _, value in one.ends], [value for _, value in one.features]):
        assert one.bias + sum(parts) == pytest.approx(score, abs=1e-9)


def test_the_predicted_class_by_the_id_of_a_node():
    _, clf = named()
    one, at = clf.explain("node-17"), clf.predict(nodes=["node-17"])
    assert (one.node, one.label) == ("node-17", at[0])
    c = list(clf.classes_).index(one.label)
    assert_adds_up(one, clf.decision_function(nodes=["node-17"])[0, c])
    assert one.probability == pytest.approx(clf.predict_proba(nodes=["node-17"])[0, c])
    assert len(one.paths) == 5
    assert all(path.nodes[0] == "node-17" for path in one.paths)
    sizes = [abs(value) for _, value in one.ends]
    assert sizes == sorted(sizes, reverse=True)
    assert str(one).startswith(f"node-17: {one.label}, probability 0.")


def test_another_class_and_more_paths():
    _, clf = named()
    one = clf.explain("node-3", label="green", top=40)
    assert one.label == "green"
    assert_adds_up(one, clf.decision_function(nodes=["node-3"])[0, list(clf.classes_).index("green")])
    assert len(one.paths) == 40
    assert clf.explain("node-3", top=0).paths == ()


def test_another_graph():
    _, clf = named()
    _, X, _, _ = planted()
    fewer = sp.csr_matrix((240, 240))
    other = SimpleNamespace(adjacency=Adjacency.of(fewer), ids=IDS, features=lambda: X)
    one = clf.explain("node-8", graph=other)
    assert_adds_up(one, clf.decision_function(graph=other, nodes=["node-8"]).max())
    assert [part.name for part in one.ends] == ["node-8"]
    assert clf.explain(8, X=X, graph=fewer).lengths == one.lengths


def test_what_is_refused():
    graph, clf = named()
    with pytest.raises(ValueError, match="label must be one of the 3 classes, got 'gren': did you mean 'green'"):
        clf.explain("node-1", label="gren")
    with pytest.raises(ValueError, match="they are red, green, blue"):
        clf.explain("node-1", label="x")
    with pytest.raises(ValueError, match="names 'node-999'"):
        clf.explain("node-999")
    with pytest.raises(TypeError, match="node must be one id"):
        clf.explain(["node-1", "node-2"])
    with pytest.raises(ValueError, match="top must be an integer of at least 0"):
        clf.explain("node-1", top=-1)
    with pytest.raises(ValueError, match="graph is missing"):
        clf.explain("node-1", X=graph.features())
    _, X, _, truth = planted()
    with pytest.raises(ValueError, match="explain is of a graph"):
        PANClassifier("linear", cv=3).fit(X, truth).explain(3)


def test_numbers():
    A, X, _, truth = planted()
    two = np.stack([truth + X[:, 0], X[:, 1]], 1)
    one, both = (PANRegressor("linear", L=1, cv=3).fit(X, y, graph=A) for y in (two[:, 0], two))
    assert_adds_up(one.explain(5), one.predict(nodes=[5])[0])
    assert np.isnan(one.explain(5).probability)
    assert one.explain(5).label is None
    second = both.explain(5, label=1)
    assert_adds_up(second, both.predict(nodes=[5])[0, 1])
    assert second.label == 1
    with pytest.raises(ValueError, match=r"label must be a column number of y, 0 … 1, got None"):
        both.explain(5)


def test_several_labels_of_a_node():
    A, X, _, truth = planted()
    y = np.stack([truth == 0, (truth == 1) | (X[:, 0] > 1)], 1).astype(float)
    clf = PANClassifier("linear", L=1, cv=3).fit(X, y, graph=A)
    one = clf.explain(4, label=1)
    assert_adds_up(one, clf.decision_function(nodes=[4])[0, 1])
    assert one.probability == pytest.approx(clf.predict_proba(nodes=[4])[0, 1])


def test_class_numbers_may_be_written_as_text():
    A, X, y, _ = planted()
    clf = PANClassifier("linear", L=1, cv=3).fit(X, y, graph=A)
    assert clf.explain(4, label="2") == clf.explain(4, label=2) == clf.explain(4, label=np.int64(2))
    assert type(clf.explain(4).label) is int
