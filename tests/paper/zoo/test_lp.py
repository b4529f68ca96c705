import numpy as np
import torch
from citations import accuracy, citations
from torch_geometric.data import Data

from panconv.paper.zoo import METHODS, lp
from panconv.paper.zoo.classical import labels, operator
from panconv.paper.zoo.lp import propagated, train

HOW = METHODS["lp"].settings


def test_the_limit_is_harmonic_and_the_known_labels_stay():
    data = citations()
    P, (nodes, hot) = operator(data, "D⁻¹A"), labels(data)
    scores = propagated(P, hot, nodes, 2000, 1.0)
    others = np.flatnonzero(~hot.any(1))
    assert np.array_equal(scores[nodes], hot[nodes])
    assert np.allclose(scores[others], (P @ scores)[others])  # each is the mean of its neighbours
    assert np.allclose(scores.sum(1), 1)  # what the classes share is conserved
    dense = P.toarray()
    inside = np.eye(len(others)) - dense[np.ix_(others, others)]
    assert np.allclose(scores[others], np.linalg.solve(inside, dense[np.ix_(others, nodes)] @ hot[nodes]))


def test_labels_go_as_far_as_there_are_steps_and_alpha_damps_them():
    data = citations(between=0.0)
    data.edge_index = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])  # a line from node 0
    P, (_, hot) = operator(data, "D⁻¹A"), labels(data)
    one = np.zeros_like(hot)
    one[0] = hot[0]
    for steps in range(4):
        assert np.array_equal(propagated(P, one, np.array([0]), steps, 1.0).any(1).nonzero()[0], np.arange(steps + 1))
    assert propagated(P, one, np.array([0]), 100, 0.5).max(1)[3] < propagated(P, one, np.array([0]), 100, 1.0).max(1)[3]


def test_it_finds_communities():
    data = citations()
    predicted = train(data, HOW, [0, 1])
    assert predicted.shape == (2, 90)
    assert torch.equal(predicted[0], predicted[1])
    assert accuracy(predicted, data) > 0.9


def test_without_normalizing_the_weights_are_the_operator_as_they_stand(monkeypatch):
    """Node 3 hears of class 0 from node 0 and, by way of node 2, of class 1: the walk forgets how loud node 1 was."""
    edges = torch.tensor([[0, 1, 2, 3], [3, 2, 3, 2]])
    known = torch.tensor([True, True, False, False])
    data = Data(x=torch.eye(4), edge_index=edges, edge_weight=torch.tensor([3.0, 4.0, 2.0, 1.0]))
    data.y, data.train_mask, data.val_mask = torch.tensor([0, 1, -1, -1]), known, ~known
    A = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 4, 0, 1], [3, 0, 2, 0]], dtype=float)
    how = {**HOW, "steps": 2, "alpha": 0.5}
    seen, classes = [], lp.classes
    monkeypatch.setattr(lp, "classes", lambda scores, trials: seen.append(scores) or classes(scores, trials))
    predicted = [train(data, {**how, "normalize": normalize}, [0])[0].tolist() for normalize in (True, False)]
    hot = np.eye(4, 2)
    for scores, P in zip(seen, (A / np.maximum(A.sum(1, keepdims=True), 1), A), strict=True):
        once = 0.5 * P @ hot  # of the nodes that are not known; the others are held
        once[:2] = hot[:2]
        twice = 0.5 * P @ once
        twice[:2] = hot[:2]
        assert np.allclose(scores, twice)
    assert predicted == [[0, 1, 1, 0], [0, 1, 1, 1]]
