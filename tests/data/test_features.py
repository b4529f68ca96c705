"""Columns become numbers by their kind, learned from the nodes given and from no others."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from panconv import load, read
from panconv.data.encoders import Categories, Counts, Numbers, Words
from panconv.data.features import Features
from panconv.data.learned_blocks import KINDS

N = 60


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame(
        {
            "id": [f"n{i}" for i in range(N)],
            "age": np.where(rng.random(N) < 0.2, np.nan, rng.normal(40, 10, N)),
            "clicks": np.where(rng.random(N) < 0.9, 0, rng.integers(1, 9, N)),
            "city": rng.choice(["Rome", "Oslo", "Bern"], N),
            "since": pd.date_range("2020-01-01", periods=N, freq="17D").strftime("%Y-%m-%d"),
            "about": [f"the node number {i} of many" for i in range(N)],
            "code": [f"c{i}" for i in range(N)],
        }
    )
    nodes.loc[3, "city"] = None
    edges = pd.DataFrame({"source": nodes["id"], "target": np.roll(nodes["id"], 1)})
    return read(edges, nodes)


def dense(x):
    return x.toarray() if sp.issparse(x) else x


def test_each_kind_of_column(graph):
    features = Features.fit(graph)
    x = dense(features.transform(graph))
    assert x.dtype == np.float32
    assert x.shape == (N, len(features.names))
    assert np.isfinite(x).all()
    column = dict(zip(features.names, x.T, strict=True))
    age = graph.columns["age"].values
    filled = np.where(np.isnan(age), np.nanmedian(age), age)
    np.testing.assert_allclose(column["age"], StandardScaler().fit_transform(filled[:, None])[:, 0], rtol=1e-5)
    np.testing.assert_array_equal(column["age is missing"], np.isnan(age))
    np.testing.assert_allclose(column["clicks"], graph.columns["clicks"].values / 8, rtol=1e-6)
    assert [column[f"city = {name}"][3] for name in ("Bern", "Oslo", "Rome")] == [0, 0, 0]
    assert column["city = Oslo"].tolist() == [each == "Oslo" for each in graph.columns["city"].values]
    assert {"since", "since, sin of the season", "since, cos of the season"} <= set(column)
    words = TfidfVectorizer(sublinear_tf=True, strip_accents="unicode").fit(graph.columns["about"].values)
    expected = words.transform(graph.columns["about"].values).toarray()
    found = x[:, [name.startswith("about: ") for name in features.names]]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_table(graph):
    features = Features.fit(graph)
    rows = {name: (what, count) for name, what, count in features.rows()}
    assert rows["age"] == ("number, scaled, gaps by the median and told", 2)
    assert rows["city"] == ("category: 3 columns of 0 and 1", 3)
    assert rows["clicks"] == ("number, mostly 0, divided by the largest", 1)
    assert rows["since"] == ("date: days, and the season, scaled", 3)
    assert rows["code"][1] == 0
    assert rows["code"][0].startswith("not used: 60 different values")
    assert sum(count for _, count in rows.values()) == len(features.names)
    assert str(features).count("\n") == len(rows) - 1


def test_other_nodes_are_not_looked_at(graph):
    some = np.arange(N) < 40
    first = Features.fit(graph, some)
    graph.columns["age"].values[~some] = 1e6
    graph.columns["city"].values[~some] = "Paris"
    graph.columns["about"].values[~some] = "other words"
    again = Features.fit(graph, np.flatnonzero(some))
    assert first == again
    x = dense(first.transform(graph))
    cities = [name.startswith("city = ") for name in first.names]
    assert not x[~some][:, cities].any()  # a category that was not there is 0 in all columns
    assert x[~some][:, first.names.index("age")].min() > 1000
    with pytest.raises(ValueError, match="nodes must be some of the graph's, got none"):
        Features.fit(graph, np.zeros(N, bool))


def test_they_are_kept_as_json(graph, tmp_path):
    features = Features.fit(graph)
    features.save(tmp_path / "features.json")
    again = Features.load(tmp_path / "features.json")
    assert (again.names, again.rows()) == (features.names, features.rows())
    np.testing.assert_array_equal(dense(again.transform(graph)), dense(features.transform(graph)))
    content = json.loads((tmp_path / "features.json").read_text())
    for change in ({"version": 99}, {"blocks": [{"source": "columns"}]}, {"blocks": 3}, {"format": "other"}):
        (tmp_path / "wrong.json").write_text(json.dumps(content | change))
        with pytest.raises(ValueError, match=r"wrong.json holds no features that panconv wrote"):
            Features.load(tmp_path / "wrong.json")
    content["blocks"][0]["learned"]["means"].append(0.0)
    (tmp_path / "wrong.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="its lists differ in length"):
        Features.load(tmp_path / "wrong.json")


def test_another_graph(graph):
    features = Features.fit(graph)
    nodes = pd.DataFrame({"id": ["a", "b"], "age": ["n/a", "31"], "clicks": [0, 2], "city": ["Bern", 8], "since": None})
    nodes["about"] = "a node"
    other = read(pd.DataFrame({"source": ["a"], "target": ["b"]}), nodes)
    x = dict(zip(features.names, dense(features.transform(other)).T, strict=True))
    assert x["age is missing"].tolist() == [1, 0]
    assert x["city = Oslo"].tolist() == [0, 0]
    assert x["since"][0] == x["since"][1]
    with pytest.raises(ValueError, match="the graph has no column 'age', 'clicks', 'since', 'city', 'about', which"):
        features.transform(read([("a", "b")]))


def test_a_matrix():
    data = load("cora", sparse=True, normalize=False)
    graph = read(data)
    x = Features.fit(graph).transform(graph)
    np.testing.assert_array_equal(x.toarray(), data.x.to_dense())
    signed = read(sp.csr_matrix(np.ones((5, 5)) - np.eye(5)), np.random.default_rng(0).normal(5, 3, (5, 2)))
    found = Features.fit(signed).transform(signed)
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(found.std(0), 1, rtol=1e-5)


def test_numbers_beyond_float32_stay_finite():
    nodes = pd.DataFrame({"id": list("abcd"), "n": [1e308, -1e308, 1.0, 2.0], "same": 5.0})
    graph = read(pd.DataFrame({"source": list("abc"), "target": list("bcd")}), nodes)
    for some in (None, [2, 3]):
        x = Features.fit(graph, some).transform(graph)
        assert np.isfinite(x).all()
        assert x[0, 0] > x[2, 0] > x[1, 0]


def test_every_encoder_has_scales_and_gaps():
    texts, numbers = np.array(["a b", "b"], dtype=object), np.array([[0.0, 2.0], [1.0, np.nan]])
    found = [Numbers.fit(numbers), Counts.fit(sp.csr_matrix(numbers[:, :1])), Categories.fit(texts), Words.fit(texts)]
    assert {type(each) for each in found} == {*KINDS.values()}
    assert [(len(each.scales), [*each.gaps]) for each in found] == [(2, [1]), (1, []), (0, []), (0, [])]
