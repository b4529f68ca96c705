import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_classes import planted

from panconv import Adjacency, PANClassifier
from panconv.estimator.calibration import log_loss, temperature
from panconv.estimator.sure import allowed, disagreement, hops, sets


def test_a_temperature_mends_scores_that_are_too_sure():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(5000, 3, generator=generator, dtype=torch.float64)
    y = torch.multinomial(scores.softmax(1), 1, generator=generator).squeeze(1)
    targets, weight = torch.eye(3, dtype=torch.float64)[y], torch.ones(5000, dtype=torch.float64)
    assert temperature(4 * scores, targets, weight) == pytest.approx(4, rel=0.1)
    assert temperature(scores / 3, targets, weight) == pytest.approx(1 / 3, rel=0.1)
    least = min(float(log_loss(scores / t, targets, weight)) for t in np.linspace(0.5, 2, 31))
    T = temperature(scores, targets, weight)
    assert float(log_loss(scores / T, targets, weight)) == pytest.approx(least, abs=1e-4)
    assert temperature(torch.full((3, 2), torch.nan), torch.eye(3, 2), torch.ones(3)) == 1


def test_the_limit_is_the_quantile_of_conformal_prediction():
    doubts = torch.arange(1, 20) / 20.0
    assert allowed(doubts, 0.1) == pytest.approx(18 / 20)
    assert allowed(doubts, 0.5) == pytest.approx(10 / 20)
    assert allowed(doubts, 0.01) == np.inf  # too few to promise so much
    for alpha in (0, 1, "a", -0.1):
        with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
            allowed(doubts, alpha)
    p = torch.tensor([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25]])
    assert sets(p, 0.65).tolist() == [[True, False, False], [True, True, False]]
    assert sets(p, 0.1).sum(1).tolist() == [1, 1]


def test_sets_hold_the_right_class_as_often_as_asked():
    held, right = {0.1: [], 0.3: []}, []
    for seed in range(4):
        A, X, y, truth = planted(N=400, seed=seed, p_in=0.04, signal=0.3)
        one = PANClassifier("linear", L=1).fit(X, y, graph=A)
        right.append((one.predict() == truth)[y < 0].mean())
        for alpha, values in held.items():
            found = one.predict_set(alpha=alpha)
            values.append(found[np.arange(400), truth][y < 0].mean())
            assert found.any(1).all()
        assert one.predict_set(alpha=0.5).sum() <= found.sum()
    # The likeliest class is in every set, so they hold the right one at least as often as it is the right one.
    for alpha, values in held.items():
        assert np.mean(values) == pytest.approx(max(1 - alpha, np.mean(right)), abs=0.05)


def test_hops_against_networkx():
    random = np.random.default_rng(0)
    dense = random.random((40, 40)) < 0.04
    adj = Adjacency.of(sp.csr_matrix(dense.astype(float)))
    graph = nx.from_numpy_array(dense.T, create_using=nx.DiGraph)  # A[receiver, sender]
    known = nx.multi_source_dijkstra_path_length(graph, {3, 8}, weight=None)
    expected = [known.get(i, np.inf) for i in range(40)]
    assert hops(adj, np.array([3, 8])).tolist() == expected
    A, X, y, _ = planted()
    one = PANClassifier("linear", L=1).fit(X, y, graph=A)
    assert ((one.hops_to_label() == 0) == (y >= 0)).all()
    assert one.hops_to_label(nodes=[2, 1]).tolist() == one.hops_to_label()[[2, 1]].tolist()


def test_seeds_that_disagree_are_counted():
    scores = torch.tensor([[[3.0, 0], [0, 1], [0, 1]], [[0, 1], [0, 2], [0, 1]]])
    assert disagreement(scores).tolist() == pytest.approx([2 / 3, 0])
    A, X, y, _ = planted()
    one = PANClassifier("pan", seeds=3, epochs=5).fit(X, y, graph=A)
    assert one.disagreement().shape == (240,)
    assert one.disagreement(nodes=[4]).shape == (1,)
    with pytest.raises(ValueError, match="disagreement is that of seeds, but head 'linear' has none"):
        PANClassifier("linear", L=1).fit(X, y, graph=A).disagreement()
    several = PANClassifier("linear").fit(X, np.stack([y == 0, y == 1], 1).astype(int), graph=A)
    with pytest.raises(ValueError, match="predict_set goes with one class per node"):
        several.predict_set()
