import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_classes import planted
from sklearn.metrics import accuracy_score

from panconv import Adjacency, PANClassifier, read
from panconv.estimator import report
from panconv.estimator.folds import folds_of
from panconv.estimator.penalties import Task
from panconv.estimator.report import means, propagated


def task_of(y, K=3):
    weight = torch.ones(len(y), dtype=torch.float64)
    return Task(torch.eye(int(y.max()) + 1, dtype=torch.float64)[y], weight, folds_of(K, y, True), "softmax")


def test_label_propagation_against_a_loop_that_hides_a_fold():
    A, _, y, _ = planted(N=60)
    rows = np.flatnonzero(y >= 0)
    task = task_of(y[rows])
    found = propagated(Adjacency.of(A), torch.from_numpy(rows), task)
    degree = A.toarray().sum(1)
    P = np.divide(A.toarray(), degree[:, None], where=degree[:, None] > 0, out=np.zeros(A.shape))
    for k in range(task.folds.K):
        Y = np.zeros((60, 3))
        train = task.folds.train[:, k].numpy()
        Y[rows[train], y[rows[train]]] = 1
        total = sum(0.9**n * np.linalg.matrix_power(P, n) @ Y for n in range(21))
        held = task.folds.test[:, k].numpy()
        assert np.allclose(found[held].numpy(), total[rows[held]], atol=1e-6)


def test_the_mean_is_that_of_the_other_folds():
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    task = task_of(y)
    for i, found in enumerate(means(task)):
        others = y[task.folds.train[:, int(task.folds.test[i].int().argmax())].numpy()]
        assert found.tolist() == pytest.approx(np.bincount(others, minlength=2) / len(others))


def test_weights_that_cancel_are_propagated_by_their_size():
    """Every row of this graph sums to 0, by which D⁻¹A would divide."""
    _, X, y, _ = planted(N=60)
    i = np.arange(60)
    ring = sp.csr_matrix((np.r_[np.full(60, 0.5), np.full(60, -0.5)], (np.r_[i, i], np.r_[(i + 1) % 60, (i - 1) % 60])))
    task = task_of(y[y >= 0])
    rows = torch.from_numpy(np.flatnonzero(y >= 0))
    assert torch.allclose(
        propagated(Adjacency.of(ring), rows, task), propagated(Adjacency.of(abs(ring)), rows, task), equal_nan=True
    )
    one = PANClassifier("linear", method=5).fit(X, y, graph=ring)
    assert "graph alone" in one.report_.accuracy


def test_labels_are_propagated_a_few_classes_at_a_time(monkeypatch):
    A, _, y, _ = planted(N=60)
    rows, task = torch.from_numpy(np.flatnonzero(y >= 0)), task_of(y[y >= 0])
    whole = propagated(Adjacency.of(A), rows, task)
    widths, product = [], report.MET.__matmul__
    monkeypatch.setattr(report.MET, "__matmul__", lambda M, Y: widths.append(Y.size(1)) or product(M, Y))
    monkeypatch.setattr(report, "_AT_ONCE", 2 * 60)
    assert torch.equal(propagated(Adjacency.of(A), rows, task), whole)
    assert widths == [2, 1] * task.folds.K


def test_what_would_take_long_is_left_out_and_said(monkeypatch):
    A, X, y, _ = planted()
    adj = Adjacency.of(A)
    monkeypatch.setattr(report, "_PRODUCTS", report.products(adj, task_of(y[y >= 0], K=5)) - 1)
    one = PANClassifier("linear").fit(X, y, graph=A)
    assert list(one.report_.accuracy) == ["head 'linear'", "features alone", "majority class"]
    assert "graph alone          not tried" in one.summary()


def test_it_says_whether_the_graph_helps():
    A, X, y, truth = planted()
    one = PANClassifier("linear").fit(X, y, graph=A)
    text = one.summary()
    assert "The graph helps: +" in text
    assert f"{(y >= 0).sum()} labels" in text
    told = one.report_.accuracy
    assert list(told) == ["head 'linear'", "features alone", "graph alone", "majority class"]
    assert told["head 'linear'"] > told["features alone"] > told["majority class"]
    # What is said of labels that were held out comes true for those that were never given.
    assert abs(told["head 'linear'"] - accuracy_score(truth[y < 0], one.predict()[y < 0])) < 0.15
    noise = planted(p_in=0.02, p_out=0.02, signal=2.0)
    unclear = PANClassifier("linear").fit(noise[1], noise[2], graph=noise[0])
    assert "The graph helps" not in unclear.summary()


def test_what_is_made_of_edges_is_not_called_features():
    A, _, y, _ = planted(N=120)
    graph = read(A)
    one = PANClassifier("linear", L=1).fit(graph, y)
    assert list(one.feature_names_in_) == list(graph.learned_features().names)
    text = one.summary()
    assert "node structure alone" in text
    assert "over node structure alone" in text
    assert "features" not in text
    assert "features alone" in one.report_.accuracy  # whose names are the same for all graphs


def test_where_nothing_can_be_said():
    A, X, y, _ = planted()
    alone = np.full(240, -1)
    alone[[np.flatnonzero(y == c)[0] for c in range(3)]] = range(3)
    one = PANClassifier("linear").fit(X, alone, graph=A)
    assert one.report_ is None
    assert "nothing can be said" in one.summary()
    with pytest.raises(ValueError, match="summary is of a graph, but the estimator was fitted without one"):
        PANClassifier().fit(X, y).summary()
