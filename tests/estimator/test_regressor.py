import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from planted_classes import planted
from sklearn.linear_model import RidgeCV
from sklearn.utils.estimator_checks import check_estimator

from panconv import Adjacency, PANRegressor, PathFeatures


def test_scikit_learns_contract_without_a_graph():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(PANRegressor(), on_skip=None)
    assert {each["status"] for each in found} <= {"passed", "skipped"}


def test_numbers_that_spread_over_the_graph_are_found():
    A, X, _, _ = planted()
    terms = PathFeatures(A, X, L=2, scale=False).fit_transform(range(240)).reshape(240, 3, 8)
    truth = terms[:, 2] @ np.random.default_rng(0).normal(size=8) + 5
    y = np.where(np.arange(240) % 4 == 0, truth, np.nan)
    one = PANRegressor("linear", L=3).fit(X, y, graph=A)
    assert one.score(y=truth) > 0.95
    assert one.predict().shape == (240,)
    assert np.allclose(one.predict(X, graph=A), one.predict())
    some = np.arange(0, 240, 6)  # of which every other number is known
    graph = SimpleNamespace(adjacency=Adjacency.of(A), y=y, features=lambda: X)
    assert one.score(graph, nodes=some) == pytest.approx(one.score(y=y[some], nodes=some))
    with pytest.raises(ValueError, match="y must have 40 rows, one per node that is asked for, got 240"):
        one.score(y=y, nodes=some)
    alone = RidgeCV().fit(X[::4], truth[::4])
    assert alone.score(X, truth) < 0.6
    both = PANRegressor("linear").fit(X, np.stack([y, -y], 1), graph=A)
    assert both.predict().shape == (240, 2)
    assert both.score(y=np.stack([truth, -truth], 1)) > 0.95


def test_the_deep_head_answers_in_the_units_of_the_user():
    A, X, _, truth = planted(signal=2.0)
    known = np.arange(240) % 3 == 0
    number = 1e6 + 1e3 * np.array([0.0, 5.0, 9.0])[truth]
    y = np.where(known, number, np.nan)
    one = PANRegressor("pan", seeds=3, epochs=80).fit(X, y, graph=A)
    assert one.head_ == "pan"
    assert one.score(y=np.where(known, np.nan, number)) > 0.7
    each = ((one.held_out_.scores - one.held_out_.targets) ** 2).mean() / one.held_out_.targets.var()
    assert each / 2 < one.scores_["pan"] < each  # of one seed each; together they lose less
    both = PANRegressor("pan", seeds=3, epochs=80).fit(X, np.stack([y, 5 - y / 1e6], 1), graph=A)
    found = both.predict()
    assert np.corrcoef(found.T)[0, 1] < -0.9
    assert abs(found[:, 1] - 4).max() < 0.1
    assert np.allclose(both.predict(X, graph=A), found, rtol=1e-6)


def test_bad_input_is_refused_in_a_line():
    A, X, _, _ = planted()
    with pytest.raises(ValueError, match="y has no numbers"):
        PANRegressor().fit(X, np.full(240, np.nan), graph=A)
    with pytest.raises(ValueError, match="y must have a row per node, 240, got 3"):
        PANRegressor().fit(X, [1.0, 2.0, 3.0], graph=A)
    with pytest.raises(ValueError, match="y holds infinite numbers"):
        PANRegressor().fit(X, np.full(240, np.inf), graph=A)
    with pytest.raises(ValueError, match="requires y to be passed"):
        PANRegressor().fit(X, graph=A)
    assert PANRegressor("linear").fit(X, torch.arange(240.0), graph=A).score(y=torch.arange(240.0)) < 1
