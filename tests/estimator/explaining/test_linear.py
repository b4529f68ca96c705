from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from enumerated_paths import apart, assert_best, dense_terms
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import METHODS, Adjacency, Walks
from panconv.estimator.base import LinearModel
from panconv.estimator.explaining.linear import LinearAt
from panconv.estimator.linear import LinearHead
from panconv.estimator.nodes import Nodes
from panconv.estimator.terms import Paths

KINDS = ("walks", "shortest", "self_avoiding")
F, C = 3, 2


def head_of(L, random):
    coefs = [torch.from_numpy(random.normal(size=(F, C))) for _ in range(L + 1)]
    return LinearHead(coefs, torch.from_numpy(random.normal(size=C)), "even", None, {})


def nodes_of(graph, random):
    x = random.normal(size=(graph.num_nodes, F)) * (random.random((graph.num_nodes, F)) < 0.7)
    x[:, 0] = 1  # a column that says nothing of itself
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    return Nodes(adj, x, None, ["a", "b", "c"])


@settings(max_examples=60)
@given(graphs(min_nodes=1, max_nodes=5), st.sampled_from(list(product(METHODS, KINDS))), st.integers(0, 3), st.data())
def test_every_part_is_that_of_the_dense_reference(graph, how, L, data):
    (method, kind), row = how, data.draw(st.integers(0, graph.num_nodes - 1))
    random = np.random.default_rng(graph.num_nodes)
    nodes, head, paths = nodes_of(graph, random), head_of(L, random), Paths(L, method, kind)
    at = LinearAt(head, paths, nodes, row)
    scores = LinearModel(head, paths).decision(nodes)[row]
    np.testing.assert_allclose(at.scores, scores, atol=1e-9)
    parts, A = at.parts(1, 4), graph.dense()
    sent = np.stack([nodes.x @ coef[:, 1].numpy() for coef in head.coefs])  # (L+1, N)
    every = dense_terms(A, torch.ones(L + 1), method, kind)[:, row]  # (L+1, N)
    np.testing.assert_allclose(parts.lengths, (every * sent).sum(1), atol=1e-9)
    ends = np.zeros(graph.num_nodes)
    ends[parts.nodes] = parts.ends
    np.testing.assert_allclose(ends, (every * sent).sum(0), atol=1e-9)
    by_hand = sum((x @ nodes.x) * coef[:, 1].numpy() for x, coef in zip(every, head.coefs, strict=True))
    np.testing.assert_allclose(parts.features, by_hand, atol=1e-9)
    for part in (parts.lengths, parts.ends, parts.features):
        assert parts.bias + part.sum() == pytest.approx(float(scores[1]), abs=1e-9)
    single = apart(A, row, torch.ones(L + 1), method, kind, sent)
    assert_best(parts.paths, single, 4)
    everything = at.parts(1, 10**4).paths
    assert_best(everything, single, 10**4)
    assert parts.bias + sum(value for _, value in everything) == pytest.approx(float(scores[1]), abs=1e-9)


def ring(N=7):
    nodes = torch.arange(N)
    both = torch.stack([torch.cat([nodes, (nodes + 1) % N]), torch.cat([(nodes + 1) % N, nodes])])
    return Adjacency.from_edge_index(both)


def test_sparse_features_and_another_node():
    random = np.random.default_rng(0)
    x = random.normal(size=(7, F)) * (random.random((7, F)) < 0.5)
    head, paths = head_of(2, random), Paths(2, 3)
    dense, sparse = (LinearAt(head, paths, Nodes(ring(), each, None, []), 4) for each in (x, sp.csr_matrix(x)))
    np.testing.assert_allclose(dense.scores, sparse.scores)
    one, other = dense.parts(0, 3), sparse.parts(0, 3)
    assert one.paths == other.paths
    np.testing.assert_allclose(one.ends, other.ends)
    np.testing.assert_allclose(one.features, other.features)


def test_negative_weights_that_cancel_are_paths_nonetheless():
    edges, weight = torch.tensor([[1, 2, 3, 3], [0, 0, 1, 2]]), torch.tensor([1.0, 1.0, 0.5, -0.5])
    nodes = Nodes(Adjacency.from_edge_index(edges, weight), np.ones((4, 1)), None, ["a"])
    coefs = [torch.full((1, 1), float(n == 2), dtype=torch.float64) for n in range(3)]
    head = LinearHead(coefs, torch.zeros(1, dtype=torch.float64), "even", None, {})
    parts = LinearAt(head, Paths(2, 1), nodes, 0).parts(0, 9)
    assert dict(parts.paths) == pytest.approx({(0, 1, 3): 1 / 6, (0, 2, 3): -1 / 6})  # Z is 3
    assert parts.ends.tolist() == [0, 0, 0, 0]


def test_paths_beyond_floating_point():
    # On 300 steps of a complete graph D_n is beyond 10^300, and a path a share of it that float64 does not hold.
    N, L = 40, 300
    complete = Adjacency.of(sp.csr_matrix(1.0 - np.eye(N)))
    coefs = [torch.zeros(1, 1, dtype=torch.float64)] * L + [torch.ones(1, 1, dtype=torch.float64)]
    head = LinearHead(coefs, torch.zeros(1, dtype=torch.float64), "even", None, {})
    at = LinearAt(head, Paths(L, 3), Nodes(complete, np.ones((N, 1)), None, []), 0)
    parts = at.parts(0, 1)
    assert at.scores == pytest.approx(1)
    assert parts.lengths[-1] == pytest.approx(1)
    ((path, value),) = parts.paths
    assert len(path) == L + 1
    assert value == 0 or np.log(value) == pytest.approx(-L * np.log(N - 1))


def test_paths_of_a_family_of_ones_own_are_not_known():
    class Own(Walks):
        def on(self, base):
            return Own(self.adj.base(base), self.L)

    random = np.random.default_rng(0)
    head, nodes = head_of(2, random), Nodes(ring(), random.normal(size=(7, F)), None, [])
    own, walks = (LinearAt(head, Paths(2, 5, kind), nodes, 0) for kind in (Own, "walks"))
    assert own.parts(0, 5).paths == []
    np.testing.assert_allclose(own.parts(0, 5).lengths, walks.parts(0, 5).lengths)
