from itertools import product

import numpy as np
import pytest
import torch
from enumerated_paths import all_paths, assert_best
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency
from panconv.estimator.explaining.best_paths import Search


def sizes(sent):
    with np.errstate(divide="ignore"):
        return np.log(np.abs(sent)), np.sign(sent)


@given(graphs(min_nodes=1, max_nodes=6), st.sampled_from(["walks", "shortest", "self_avoiding"]), st.data())
def test_the_best_are_those_of_all(graph, kind, data):
    L, row = data.draw(st.integers(0, 3)), data.draw(st.integers(0, graph.num_nodes - 1))
    numbers = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])  # few, so that many paths add the same
    sent = np.array(
        data.draw(st.lists(numbers, min_size=(L + 1) * graph.num_nodes, max_size=(L + 1) * graph.num_nodes))
    ).reshape(L + 1, -1)
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    products = all_paths(graph.dense(), row, L, 1, kind)
    every = {path: weight * sent[len(path) - 1, path[-1]] for path, weight in products.items()}
    every = {path: value for path, value in every.items() if value}
    search = Search(adj, row, L, kind)
    for top in (1, 3, 10**5):
        assert_best(search.best(*sizes(sent), top), every, top)


def test_signs_multiply_along_a_path():
    edges, weight = torch.tensor([[1, 2, 2], [0, 1, 0]]), torch.tensor([-2.0, -3.0, 1.0])
    search = Search(Adjacency.from_edge_index(edges, weight), 0, 2, "walks")
    sent = np.array([[1.0, 0, 0], [0, 1.0, 1.0], [0, 0, -1.0]])
    found = dict(search.best(*sizes(sent), 9))
    assert found == pytest.approx({(0,): 1.0, (0, 1): -2.0, (0, 2): 1.0, (0, 1, 2): -6.0})


def test_a_search_looks_at_few_nodes(monkeypatch):
    # Of the 16^6 walks on a complete graph with loops, six nodes a path are looked at.
    N, L, top = 16, 6, 5
    index = np.array(list(product(range(N), range(N)))).T
    adj = Adjacency.from_edge_index(torch.from_numpy(index), torch.rand(N * N))
    search, looked = Search(adj, 0, L, "walks"), []
    one = search._before
    monkeypatch.setattr(search, "_before", lambda *given: looked.append(1) or one(*given))
    assert len(search.best(*sizes(np.eye(L + 1)[[L]].T * np.ones(N)), top)) == top
    assert len(looked) <= L * top
