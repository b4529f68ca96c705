"""Features of the edges alone, beside NetworkX and dense matrices."""

import networkx as nx
import numpy as np
import pytest

from panconv import read
from panconv.data.features import Features
from panconv.data.positions import COLUMNS
from panconv.data.structure import core_numbers, structural


@pytest.mark.parametrize("seed", range(5))
def test_core_numbers_are_those_of_networkx(seed):
    graph = nx.gnm_random_graph(60, 30 * (seed + 1), seed=seed)
    ends = np.array(graph.edges).reshape(-1, 2).T
    expected = nx.core_number(graph)
    assert core_numbers(ends, 60).tolist() == [expected[node] for node in range(60)]
    assert core_numbers(np.concatenate([ends, ends[::-1]], 1), 60).tolist() == [expected[node] for node in range(60)]


def test_a_long_path_takes_no_long_time():
    ends = np.stack([np.arange(20_000), np.arange(1, 20_001)])
    assert (core_numbers(ends, 20_001) == 1).all()
    assert core_numbers(np.empty((2, 0), np.int64), 3).tolist() == [0, 0, 0]


def test_walks():
    karate = nx.karate_club_graph()
    graph = read(nx.Graph(karate.edges))
    order = graph.ids.tolist()
    a = nx.to_numpy_array(karate, nodelist=order, weight=None)
    p = a / a.sum(1, keepdims=True)
    found = structural(graph)
    np.testing.assert_allclose(found["return after 2 steps"], np.diag(p @ p))
    np.testing.assert_allclose(found["log degree"], np.log1p(a.sum(1)))
    z = sum(np.exp(-n) * np.linalg.matrix_power(a, n).sum(1) for n in range(5))
    np.testing.assert_allclose(found["log Z, L = 4"], np.log(z), rtol=1e-5)


def test_a_graph_without_features_gets_them():
    graph = read([("hub", leaf) for leaf in "abcdef"] + [("a", "b")], directed=True)
    features = Features.fit(graph)
    assert [name for name, _, _ in features.rows()] == [*structural(graph), "position"]
    x = features.transform(graph)
    assert np.isfinite(x).all()
    assert x.shape == (7, 8 + COLUMNS)
    np.testing.assert_allclose(x.mean(0), 0, atol=1e-6)
