import warnings

import numpy as np
import pandas as pd
import pytest

from panconv import PANClassifier, load_model, read

CITIES = ("Rome", "Oslo", "Bern")


def graph(count=60, label="kind", directed=False, **columns):
    random = np.random.default_rng(0)
    ids = np.array([f"n{i}" for i in range(count)])
    found = {"id": ids, "age": random.normal(size=count) + (np.arange(count) % 2), "city": np.resize(CITIES, count)}
    found["kind"] = np.where(np.arange(count) % 3 == 0, np.array(["a", "b"])[np.arange(count) % 2], None)
    nodes = pd.DataFrame(found | columns).drop(columns=[name for name, each in columns.items() if each is None])
    edges = pd.DataFrame({"from": ids, "to": np.roll(ids, 1)})
    return read(edges, nodes, label=label, directed=directed)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    PANClassifier("linear", L=1, cv=2).fit(graph()).save(path)
    return load_model(path)


def test_columns_of_another_graph(model):
    expected = model.predict_proba(graph=graph())
    # Other columns, and the label as one of them, are not looked at.
    more = graph(label=None, size=np.arange(60))
    np.testing.assert_array_equal(model.predict_proba(graph=more), expected)
    with pytest.raises(ValueError, match="the graph has no column 'age', 'city', which the features were learned from"):
        model.predict(graph=graph(age=None, city=None))
    # An empty column stands for gaps, which get the median.
    empty = model.predict_proba(graph=graph(age=np.full(60, np.nan)))
    assert np.isfinite(empty).all()
    assert not np.allclose(empty, expected)


def test_a_category_that_is_new_is_none_of_those_that_are_known(model):
    with pytest.warns(UserWarning, match="'city' has none of the categories"):
        new = model.predict_proba(graph=graph(city=np.full(60, "Paris")))
    none = model.predict_proba(graph=graph(city=np.full(60, None)))
    np.testing.assert_array_equal(new, none)


def test_a_column_that_a_small_graph_by_itself_has_no_use_for(model):
    """Three nodes in three cities: names, as far as these nodes go, but the model knows them for categories."""
    small = graph(3, label=None)
    assert small.columns["city"].kind == "unused"
    learned = model._origin.learned
    x = learned.transform(small)
    x = x if isinstance(x, np.ndarray) else x.toarray()
    found = [
        [name for name, value in zip(learned.names, row, strict=True) if value == 1 and "city" in name] for row in x
    ]
    assert found == [[f"city = {city}"] for city in CITIES]


def test_a_class_that_is_new_is_never_right(model):
    g = graph(kind=np.where(np.arange(60) % 2, "a", "new"))
    assert model.score(g) == np.mean((model.predict(graph=g) == "a")[1::2]) / 2
    assert (model.hops_to_label(graph=g) == 0).all()


def test_a_graph_that_was_read_otherwise_is_warned_about(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(graph=graph())
    with pytest.warns(UserWarning, match="the graph is directed, but that which the model was fitted on was not"):
        model.predict(graph=graph(directed=True))
    ids = [f"n{i}" for i in range(60)]
    edges = pd.DataFrame({"from": ids, "to": np.roll(ids, 1), "weight": np.arange(60) + 1.0})
    nodes = pd.DataFrame({"id": ids, "age": 1.0, "city": "Rome"})
    with pytest.warns(UserWarning, match="the graph is weighted, but that .* was not: give the same kind of edges"):
        model.predict(graph=read(edges, nodes))


def test_features_that_were_given_are_given_again():
    g = graph()
    X = np.random.default_rng(0).normal(size=(60, 3))
    clf = PANClassifier("linear", L=1, cv=2).fit(X, g.y, graph=g)
    assert (clf.predict(X, graph=g) == clf.predict()).all()
    with pytest.raises(ValueError, match="X is missing: the estimator was fitted on features that were given beside"):
        clf.predict(graph=g)
