"""Figures of labels that were held out, against scikit-learn's and against counting."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, precision_score, r2_score, recall_score

from panconv import PANClassifier, PANRegressor
from panconv.estimator import worth_of_numbers as numbers
from panconv.estimator.figure import Figure, wilson
from panconv.estimator.worth import worth
from panconv.estimator.worth_of_numbers import worth_of_numbers


def ring(N=90, seed=0):
    """Nodes on a ring, three classes in a row, noisy features."""
    rng = np.random.default_rng(seed)
    y, i = np.arange(N) * 3 // N, np.arange(N)
    edges = np.stack([np.concatenate([i, (i + 1) % N]), np.concatenate([(i + 1) % N, i])])
    return np.eye(3)[y] + 1.5 * rng.normal(size=(N, 3)), y, edges


@pytest.fixture(scope="module")
def fitted():
    x, y, edges = ring()
    return PANClassifier("linear").fit(x, np.where(np.arange(90) % 3, y, -1), graph=edges)


def test_classes(fitted):
    found, told = worth(fitted), fitted.held_out_.told
    true, p = told.targets.argmax(1), np.exp(told.scores / fitted.temperature_)
    p /= p.sum(1, keepdims=True)
    said = p.argmax(1)
    assert found.labels == 60
    assert 0.5 < found.accuracy["head 'linear'"].value == accuracy_score(true, said) < 1
    assert np.array_equal(found.confusion, confusion_matrix(true, said))
    assert found.log_loss == pytest.approx(log_loss(true, p))
    precision, recall = precision_score(true, said, average=None), recall_score(true, said, average=None)
    for c, one in enumerate(found.classes):
        assert (one.name, one.labels) == (str(c), 20)
        assert (one.precision.value, one.recall.value) == pytest.approx((precision[c], recall[c]))
        assert one.recall[1:] == wilson(recall[c], 20)
    share, mean = calibration_curve(said == true, p.max(1), n_bins=10)
    assert [one.right.value for one in found.bins] == pytest.approx(share)
    assert [one.said for one in found.bins] == pytest.approx(mean)
    error = sum(one.nodes * abs(one.said - one.right.value) for one in found.bins) / 60
    assert found.calibration_error == pytest.approx(error)
    assert sum(one.nodes for one in found.bins) == 60


def test_a_class_that_is_never_predicted_has_no_precision(fitted):
    held = fitted.held_out_
    never = np.where(np.arange(3) == 2, -1e9, held.scores)
    other = PANClassifier("linear")
    other.__dict__ |= fitted.__dict__ | {"held_out_": held._replace(scores=never)}
    last = worth(other).classes[2]
    assert last.precision is None
    assert last.recall.value == 0


def test_nothing_was_held_out():
    x, y, edges = ring()
    few = np.full(90, -1)
    few[[0, 40]] = y[[0, 40]]
    assert worth(PANClassifier("linear").fit(x, few, graph=edges)) is None
    one = np.full(90, np.nan)
    one[3] = 1.0
    assert worth_of_numbers(PANRegressor("linear").fit(x, one, graph=edges)) is None


def test_numbers():
    x, _, edges = ring()
    hidden = x[:, 0] + x[np.roll(np.arange(90), 1), 1] + x[np.roll(np.arange(90), -1), 1]
    y = np.where(np.arange(90) % 3, hidden + np.random.default_rng(1).normal(size=90), np.nan)
    reg = PANRegressor("linear", method=3, L=1).fit(x, y, graph=edges)
    found = worth_of_numbers(reg)
    head = found.fits["head 'linear'"]
    assert head.r2.value == pytest.approx(r2_score(found.true, found.said))
    assert head.r2.low < head.r2.value < head.r2.high <= 1
    assert head.mae.value == pytest.approx(np.abs(np.subtract(found.true, found.said)).mean())
    assert found.fits["the mean"].r2.value < 0  # the mean of the others, without the number itself
    assert found.fits["features alone"].r2.value < head.r2.value
    assert found.gain.value == pytest.approx(found.fits["features alone"].mae.value - head.mae.value)
    assert found.verdict.startswith("The graph helps: -")
    assert np.allclose(found.true, y[reg.held_out_.rows])


def test_where_the_graph_adds_nothing():
    x, _, edges = ring()
    reg = PANRegressor("linear", L=0).fit(x, np.where(np.arange(90) % 3, x @ [3.0, 1.0, 2.0], np.nan), graph=edges)
    found = worth_of_numbers(reg)
    assert found.gain.value == pytest.approx(0, abs=1e-9)
    assert found.verdict.startswith("The graph adds nothing: the head says the same as the features alone (60 nodes, ")
    even = numbers._verdict(Figure(0.0, -0.5, 0.5), np.arange(3.0), np.array([0, 1.0, 3]), np.array([0, 1.0, 1]))
    assert "helps: +0 of mean absolute error against the features alone (95 % interval -0.5 to +0.5, 3 nodes" in even


def test_numbers_that_are_all_the_same():
    x, _, edges = ring()
    reg = PANRegressor("linear").fit(x, np.where(np.arange(90) % 3, 0.1, np.nan), graph=edges)
    found = worth_of_numbers(reg)
    assert np.isnan([one.r2 for one in found.fits.values()]).all()
    assert found.verdict == "The 60 numbers that are known are all 0.1: they tell nothing apart."


def test_weights_and_folds_of_ones_own():
    """What stands beside the head learns from the same rows, with the same weights and folds, as the head."""
    x, _, edges = ring()
    y, weight = np.random.default_rng(1).normal(size=90) + x[:, 0], np.arange(90) % 4 + 0.0
    pairs = [(np.arange(40), np.arange(40, 90)), (np.arange(40, 90), np.arange(40))]
    found = worth_of_numbers(PANRegressor("linear", cv=pairs).fit(x, y, weight, graph=edges))
    alone = PANRegressor("linear", cv=pairs).fit(x, y, weight).held_out_
    told = np.isfinite(alone.scores[:, 0])
    error = abs(alone.scores - alone.targets)[told, 0]
    assert found.labels == len(error) == (weight > 0).sum()
    assert found.fits["features alone"].mae.value == pytest.approx(error.mean())
    mean = [np.average(y[learned], weights=weight[learned]) for learned, _ in pairs]
    away = abs(y - np.where(np.arange(90) < 40, mean[1], mean[0]))[weight > 0]
    assert found.fits["the mean"].mae.value == pytest.approx(away.mean())


def test_the_bootstrap_draws_a_part_at_a_time(monkeypatch):
    true, said = np.random.default_rng(0).normal(size=(2, 50))
    whole = numbers._r2(true, said)
    monkeypatch.setattr(numbers, "_AT_ONCE", 120)
    assert numbers._r2(true, said) == pytest.approx(whole)
