import numpy as np
import torch
from citations import accuracy, citations

from panconv.zoo import METHODS
from panconv.zoo.classical import labels, operator
from panconv.zoo.lp import propagated, train

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


def test_it_finds_communities_and_another_operator_takes_the_place_of_the_walk():
    data = citations()
    predicted = train(data, HOW, [0, 1])
    assert predicted.shape == (2, 90)
    assert torch.equal(predicted[0], predicted[1])
    assert accuracy(predicted, data) > 0.9
    data.edge_weight = torch.zeros(data.edge_index.size(1))
    nothing = train(data, {**HOW, "normalize": False}, [0])  # an operator that carries nothing
    assert accuracy(nothing, data) < 0.5
