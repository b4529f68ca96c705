import numpy as np
import pytest
from planted_classes import planted
from sklearn.metrics import accuracy_score, r2_score

from panconv import PANClassifier, PANRegressor


def test_scores_of_labelled_nodes_out_of_fold_are_kept():
    A, X, y, truth = planted(N=90)
    clf = PANClassifier("linear").fit(X, y, graph=A)
    rows, scores, targets = clf.held_out_
    assert rows.tolist() == np.flatnonzero(y >= 0).tolist()
    assert targets.argmax(1).tolist() == truth[rows].tolist()
    said = clf.report_.accuracy["head 'linear'"]
    assert accuracy_score(truth[rows], scores.argmax(1)) == pytest.approx(said)


def test_a_class_of_one_node_is_never_held_out():
    A, X, y, _ = planted(N=90)
    y[np.flatnonzero(y == 2)[1:]] = -1
    found = PANClassifier("linear").fit(X, y, graph=A).held_out_
    assert found.rows.tolist() == np.flatnonzero(y >= 0).tolist()
    assert found.told.rows.tolist() == np.flatnonzero(np.isin(y, (0, 1))).tolist()


def test_numbers_out_of_fold():
    A, X, _, _ = planted(N=90)
    y = X @ np.arange(8.0) + np.random.default_rng(0).normal(size=90)
    y[::2] = np.nan
    rows, found, true = PANRegressor("linear").fit(X, y, graph=A).held_out_
    assert true[:, 0].tolist() == y[1::2].tolist()
    assert rows.tolist() == list(range(1, 90, 2))
    assert 0.9 < r2_score(true, found) < 1
