"""Where nodes stand in a graph, beside a dense matrix; and that a class can be learned from it alone."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from panconv import PANClassifier, read
from panconv.data.planted import planted
from panconv.data.positions import STEPS, _signs, positions

N = 60


@pytest.fixture(scope="module")
def graph():
    """Undirected, in two parts, with a node that has no edge."""
    A = sp.random(N, N, 0.08, random_state=0, data_rvs=np.ones).tolil()
    A.setdiag(0)
    A[: N // 2, N // 2 :] = A[N // 2 :, : N // 2] = A[5] = A[:, 5] = 0
    return read(((A + A.T) > 0).astype(float).tocsr())


def test_they_are_the_dense_power_of_the_signs_less_the_first_eigenvector(graph):
    A = graph.adjacency.to_dense().double().numpy() + np.eye(N)
    degree = A.sum(1)
    power = np.linalg.matrix_power(A / np.sqrt(np.outer(degree, degree)), STEPS)
    first = np.sqrt(degree / degree.sum())
    expected = (np.eye(N) - np.outer(first, first)) @ power @ _signs(graph.ids)
    np.testing.assert_allclose(positions(graph), expected, atol=1e-5)


def test_signs_belong_to_ids_and_not_to_rows():
    whole, some = _signs(np.array([7, 8, 9])), _signs(np.array([9, 7]))
    np.testing.assert_array_equal(some, whole[[2, 0]])
    np.testing.assert_array_equal(_signs(np.array(["7"], dtype=object)), whole[:1])
    many = _signs(np.arange(2000))
    assert abs(many.mean()) < 0.01
    assert np.abs(many.T @ many / 2000 - np.eye(64)).max() < 0.12


def test_a_node_keeps_its_position_when_others_come():
    ring = [(f"a{i}", f"a{(i + step) % 40}") for i in range(40) for step in (1, 2)]
    before = [*ring, *((f"a{i}", f"a{i + 20}") for i in range(0, 20, 4))]
    one, other = read(before), read([*before, ("new", "a3")])
    place = [other.ids.tolist().index(each) for each in one.ids]
    similarity = [float(np.corrcoef(a, b)[0, 1]) for a, b in zip(positions(one), positions(other)[place], strict=True)]
    assert min(similarity) > 0.9


def test_an_edge_counts_both_ways():
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("e", "a")]
    one, other = read(pairs), read(pairs, directed=True)
    np.testing.assert_allclose(positions(one), positions(other), atol=1e-6)


def test_classes_are_learned_from_edges_alone():
    data = planted(400, classes=2, degree=8, features=0, share=0.7)
    A = sp.csr_matrix((np.ones(data.num_edges), data.edge_index.numpy()), shape=(400, 400))
    y = data.y.numpy()
    seen = np.where(np.arange(400) % 10 == 0, y, -1)
    found = PANClassifier(head="linear").fit(None, seen, graph=read(A)).predict()
    assert (found == y)[seen < 0].mean() > 0.85


def test_a_graph_of_no_edges_has_positions_that_are_its_signs():
    graph = read(sp.csr_matrix((3, 3)))
    found = positions(graph)
    np.testing.assert_allclose(found, _signs(graph.ids) - _signs(graph.ids).mean(0), atol=1e-6)
    assert torch.isfinite(torch.from_numpy(found)).all()
