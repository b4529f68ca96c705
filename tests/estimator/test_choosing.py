import pytest
from planted_classes import planted

from panconv import PANClassifier
from panconv.estimator import choosing
from panconv.estimator.lost import least
from panconv.estimator.weighed import ALONE, OTHERS


def test_auto_takes_what_loses_less_out_of_fold(monkeypatch):
    seen = []
    monkeypatch.setattr(choosing, "least", lambda lost: seen.append(lost) or least(lost))
    A, X, y, _ = planted()
    spread = PANClassifier(seeds=3, epochs=2).fit(X, y, graph=A)  # in two epochs the deep head learns next to nothing
    A, X, *_ = planted(N=120, F=2, p_in=0.01, signal=0.0)
    # Whether two numbers have the same sign, no linear head can tell.
    curved = PANClassifier(seeds=3, epochs=40, L=1).fit(X, X[:, 0] * X[:, 1] > 0, graph=A)
    for one, lost, head in zip((spread, curved), seen, ("linear", "pan"), strict=True):
        linear, deep = lost  # the best of the linear ones, and the deep one
        assert set(one.scores_) == {"linear", *ALONE, *OTHERS, "pan"}
        assert deep == "pan"
        assert {name: one.scores_[name] for name in lost} == {name: each.mean for name, each in lost.items()}
        assert one.choice_ == least(lost) == {"linear": linear, "pan": deep}[head]
        assert one.head_ == head
    assert spread.scores_[spread.choice_] < spread.scores_["linear, no edges"]


def test_a_budget_ends_the_training():
    A, X, y, _ = planted()
    one = PANClassifier("pan", seeds=3, budget="1s").fit(X, y, graph=A)
    assert one.seconds_ < 1.15 * 1 + 1  # a second more for a machine that is busy
    assert one._model.epochs < 1500
    short = PANClassifier(seeds=3, budget=1e-6).fit(X, y, graph=A)
    assert short.head_ == "linear"
    assert "pan" not in short.scores_
    with pytest.raises(ValueError, match="budget must be a time above 0, such as 90s, 10m or 1h, got '5 minutes'"):
        PANClassifier(budget="5 minutes").fit(X, y, graph=A)
