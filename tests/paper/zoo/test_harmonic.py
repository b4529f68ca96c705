import numpy as np
import pytest
import scipy.sparse as sp
import torch
from citations import accuracy, citations
from torch_geometric.data import Data

from panconv import METTransform
from panconv.paper.zoo import harmonic as module
from panconv.paper.zoo.harmonic import classes, harmonic, train

HOW = {"cmn": True}


def random_graph(seed, N=40, p=0.08):
    """Undirected and weighted, with self-loops, isolated nodes and components that have no label."""
    draw = np.random.default_rng(seed)
    W = draw.random((N, N)) * (draw.random((N, N)) < p)
    W = W + W.T
    W[:3] = W[:, :3] = 0
    nodes = draw.choice(N, 5, replace=False)
    hot = np.zeros((N, 3))
    hot[nodes, draw.integers(0, 3, 5)] = 1
    return W, nodes, hot


@pytest.mark.parametrize("seed", range(8))
def test_the_closed_form_on_the_nodes_that_a_label_reaches(seed):
    W, nodes, hot = random_graph(seed)
    f, reached = harmonic(sp.csr_matrix(W), hot, nodes)
    near = np.linalg.matrix_power(np.eye(len(W)) + (W > 0), len(W))[:, nodes].any(1)  # by brute force
    assert np.array_equal(reached, near)
    assert not f[~reached].any()
    assert np.array_equal(f[nodes], hot[nodes])
    u = np.setdiff1d(np.flatnonzero(near), nodes)
    D = np.diag(W.sum(1))
    dense = np.linalg.solve((D - W)[np.ix_(u, u)], W[np.ix_(u, nodes)] @ hot[nodes])
    assert np.allclose(f[u], dense, atol=1e-8)
    assert np.allclose(f[u].sum(1), 1)


def test_an_edge_of_no_weight_carries_nothing():
    W = sp.csr_matrix((np.array([1.0, 1.0, 0.0, 0.0]), ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    _, reached = harmonic(W, np.array([[1.0], [0], [0]]), np.array([0]))
    assert reached.tolist() == [True, True, False]


def test_class_mass_normalisation_by_hand():
    """Class 0 has a mass of 2.1 and class 1 of 0.9 among three nodes; labels stand 1 : 2."""
    hot = np.array([[1.0, 0], [0, 1], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]])
    f = np.array([[1.0, 0], [0, 1], [0, 1], [0.9, 0.1], [0.7, 0.3], [0.5, 0.5], [0, 0]])
    nodes, reached = np.arange(3), np.arange(7) < 6
    assert classes(f, reached, hot, nodes, cmn=False).tolist() == [0, 1, 1, 0, 0, 0, 1]
    # 0.9/2.1 · 1 against 0.1/0.9 · 2; 0.7/2.1 against 0.3/0.9 · 2; 0.5/2.1 against 0.5/0.9 · 2
    assert classes(f, reached, hot, nodes, cmn=True).tolist() == [0, 1, 1, 0, 1, 1, 1]


def test_unreached_nodes_get_the_largest_class_of_the_labels_and_of_equals_the_commonest():
    f = np.array([[1.0, 0], [0, 1], [0.2, 0.8], [0.4, 0.6], [0.0, 0.0]])
    hot, reached = np.eye(5, 2), np.array([True] * 4 + [False])
    assert classes(f, reached, hot, np.arange(2), cmn=False)[4] == 1
    hot[4] = f[4] = [1, 0]  # now most labels are of class 0, and every node that is not reached gets it
    f, hot, reached = (np.concatenate([part, part[4:] * 0]) for part in (f, hot, reached))
    assert classes(f, reached, hot, np.array([0, 1, 4]), cmn=False)[5] == 0


def test_without_an_edge_all_get_the_commonest_class_of_the_labels():
    data = citations()
    data.edge_index = torch.empty(2, 0, dtype=torch.long)
    found = train(data, HOW, [0])[0]
    assert torch.equal(found[data.train_mask], data.truth[data.train_mask])
    assert len(found[~data.train_mask].unique()) == 1


@pytest.mark.parametrize("cmn", [True, False])
def test_it_finds_communities_also_on_m(cmn):
    data = citations()
    for each in (data, METTransform(2, 5, [0, 0.5, 0.5], ("top_k", 8))(data.clone())):
        predicted = train(each, {"cmn": cmn}, [0, 1])
        assert predicted.shape == (2, 90)
        assert torch.equal(predicted[0], predicted[1])
        assert accuracy(predicted, data) > 0.9


def test_a_directed_graph_is_taken_without_directions(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "harmonic", lambda W, *rest: seen.append(W) or harmonic(W, *rest))
    known = torch.tensor([True, False, False])
    edges, weight = torch.tensor([[0, 2, 0], [1, 1, 1]]), torch.tensor([1.0, 4.0, 2.0])
    data = Data(torch.eye(3), edges, edge_weight=weight, y=torch.tensor([0, 0, -1]), train_mask=known, val_mask=~known)
    train(data, HOW, [0])
    assert np.array_equal(seen[0].toarray(), [[0, 1.5, 0], [1.5, 0, 2], [0, 2, 0]])


def test_negative_weights_are_refused():
    data = citations()
    data.edge_weight = -torch.ones(data.num_edges)
    with pytest.raises(ValueError, match="edge_weight must be at least 0 for a harmonic function, got -1"):
        train(data, HOW, [0])
