import numpy as np
import pytest
import torch
from planted_classes import planted

from panconv import PANClassifier
from panconv.data.planted import planted as blocks_of
from panconv.estimator import linear, weighed
from panconv.estimator.folds import folds_of
from panconv.estimator.lost import least
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.terms import Paths


def given(A, X, y):
    rows = np.flatnonzero(y >= 0)
    targets = torch.eye(int(y.max()) + 1, dtype=torch.float64)[torch.from_numpy(y[rows])]
    task = Task(targets, torch.ones(len(rows), dtype=torch.float64), folds_of(5, y[rows], True), "softmax")
    return Nodes.of(A, X), rows, task


def test_each_is_the_head_that_its_paths_alone_give(monkeypatch):
    seen = []
    monkeypatch.setattr(weighed, "least", lambda lost: seen.append(lost) or least(lost))
    nodes, rows, task = given(*planted()[:3])
    found = weighed.best_linear(Paths(3), nodes, rows, task)
    assert list(found.losses) == ["linear, no edges", "linear", "linear, method 9, L = 5", "linear, L = 10"]
    paths = {"linear": Paths(3), **weighed.ALONE, **weighed.OTHERS}[found.name]
    alone = weighed.linear_head(paths, nodes, rows, task)
    assert found.model.paths == paths
    assert torch.allclose(found.model.decision(nodes), alone.model.decision(nodes), atol=1e-4)
    lost, *by_fold = seen
    assert len(by_fold) == 5  # of which each chooses by the rows of the others
    assert found.losses == {name: each.mean for name, each in lost.items()}
    assert found.name == least(lost)


def test_what_is_found_suits_the_graph():
    for how, each, names in (
        ({"prefers": "next", "signal": 2.0}, 3, {"linear, method 9, L = 5"}),
        ({"signal": 0.5}, 12, set(weighed.OTHERS)),  # few labels, weak features: paths longer than 3
    ):
        data = blocks_of(num_nodes=300, features=6, **how)
        y = np.where(np.arange(300) % each == 0, data.y.numpy(), -1)
        assert weighed.best_linear(Paths(3), *given(data.edge_index, data.x.numpy(), y)).name in names


def test_many_rows_are_compared_on_some_and_fitted_all(monkeypatch):
    nodes, rows, task = given(*planted()[:3])
    whole = weighed.best_linear(Paths(3), nodes, rows, task)
    monkeypatch.setattr(linear, "_ROWS", 40)
    monkeypatch.setattr(linear, "_VALUES", 0)
    some = weighed.best_linear(Paths(3), nodes, rows, task)
    assert bool(some.scores.isfinite().all())
    assert len(some.scores) == len(rows) > 40
    assert some.losses != whole.losses


@pytest.mark.parametrize("how", [{"paths": "self_avoiding", "L": 2}, {"signed": True}])
def test_paths_that_may_not_be_possible_are_not_tried(how):
    A, X, y, _ = planted(N=60)
    if how.pop("signed", False):
        A = A.copy()
        A.data[:1] = -0.01
        how["method"] = 6
    one = PANClassifier(cv=[(np.arange(5, 15), np.arange(5))], **how).fit(X, y, graph=A)
    assert set(one.scores_) == {"linear", "linear, no edges"}


def test_paths_by_their_options_are_weighed_as_those_by_their_name():
    nodes, rows, task = given(*planted(N=90)[:3])
    named, by_options = (
        weighed.best_linear(Paths(2, kind=kind), nodes, rows, task).losses
        for kind in ("self_avoiding", {"kind": "self_avoiding"})
    )
    assert list(named) == ["linear, no edges", "linear"]
    assert by_options == pytest.approx(named)
