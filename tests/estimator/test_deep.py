import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_classes import planted
from sklearn.metrics import accuracy_score

from panconv import PANClassifier, PANRegressor
from panconv.estimator import base, deep


def test_the_deep_head():
    A, X, y, truth = planted()
    one = PANClassifier("pan", seeds=3, epochs=60).fit(X, y, graph=A)
    assert one.head_ == "pan"
    assert accuracy_score(truth[y < 0], one.predict()[y < 0]) > 0.7
    assert np.allclose(one.predict_proba(X, graph=A), one.predict_proba(), atol=1e-5)
    assert one.scores_["pan"] < np.log(3)
    counts = sp.csr_matrix(np.abs(X).round())
    sparse = PANClassifier("pan", seeds=3, epochs=5).fit(counts, y, graph=A)
    dense = PANClassifier("pan", seeds=3, epochs=5).fit(counts.toarray(), y, graph=A)
    assert np.allclose(sparse.predict_proba(), dense.predict_proba(), atol=1e-3)


def test_the_deep_head_weighs_nodes_and_classes():
    """A class that weighs a hundredth is hardly ever said, by node as by class; what weighs nothing is not learned."""
    A, X, y, truth = planted()
    light = {0: 1.0, 1: 0.01, 2: 1.0}
    by_class = PANClassifier("pan", seeds=3, epochs=60, class_weight=light).fit(X, y, graph=A)
    by_node = PANClassifier("pan", seeds=3, epochs=60).fit(X, y, np.where(y == 1, 0.01, 1.0), graph=A)
    assert np.allclose(by_class.predict_proba(), by_node.predict_proba(), atol=1e-5)
    assert (by_class.predict() == 1).sum() < 10 < (truth == 1).sum()
    weight = (np.arange(240) % 4 > 0).astype(float)
    dropped = PANClassifier("pan", seeds=3, epochs=5).fit(X, y, weight, graph=A)
    hidden = PANClassifier("pan", seeds=3, epochs=5).fit(X, np.where(weight > 0, y, -1), graph=A)
    assert np.array_equal(dropped.predict_proba(), hidden.predict_proba())


def test_the_deep_head_has_more_seeds_than_a_class_has_labels():
    A, X, y, truth = planted()
    few = np.full_like(y, -1)
    for c in range(3):
        few[np.flatnonzero(truth == c)[:3]] = c
    assert PANClassifier("pan", seeds=5, epochs=3).fit(X, few, graph=A).predict().shape == y.shape


def test_seeds_are_told_out_of_fold(monkeypatch):
    A, X, y, _ = planted()
    seen = []
    real = deep.Recipe.fit

    def watched(self, data, *given, **named):
        seen.append((data.train_mask.clone(), data.val_mask.clone()))
        return real(self, data, *given, **named)

    monkeypatch.setattr(deep.Recipe, "fit", watched)
    PANClassifier("pan", seeds=4, epochs=3).fit(X, y, graph=A)
    (train, stop), (most, judged), (all_but_one, one) = seen
    known = torch.from_numpy(y >= 0)
    told = known[:, None] & ~train & ~stop
    assert not (train & stop).any()
    assert torch.equal(told.any(1), known)
    assert stop.sum() == known.sum() <= told.sum() <= known.sum() + 8  # a label or two are left out to make parts level
    assert len(set(train.sum(0).tolist())) == len(set(most.sum(0).tolist())) == 1
    assert not (most & judged).any()
    assert (train & ~most).sum() == 0
    assert torch.equal(judged.sum(1), known.long())  # each label is told by a seed that has not learned it
    assert torch.equal(all_but_one | one, known[:, None].expand(-1, 4))
    assert one.sum(0).tolist() == [1] * 4
    assert not (all_but_one & one).any()


def test_the_deep_head_is_trained_where_it_is_asked_to_be_and_answers_on_the_cpu(monkeypatch):
    A, X, y, _ = planted(N=90)
    trained, moved, fit, cpu = [], [], deep.Recipe.fit, deep.PAN.cpu

    def watched(self, data, seeds, device, **named):
        trained.append(device)
        return fit(self, data, seeds, "cpu", **named)  # as this machine may have nothing else

    monkeypatch.setattr(deep.Recipe, "fit", watched)
    monkeypatch.setattr(deep.PAN, "cpu", lambda model: moved.append(model) or cpu(model))
    plain = PANClassifier("pan", seeds=3, epochs=2).fit(X, y, graph=A)
    assert trained == ["cpu"] * 3
    monkeypatch.setattr(base, "checked_device", lambda device: torch.device(device, 0))
    for kind in (PANClassifier, PANRegressor):
        one = kind("pan", seeds=3, epochs=2, device="cuda").fit(X, y, graph=A)
    assert trained[3:] == ["cuda:0"] * 6
    assert one._model.model is moved[-1]
    assert len(moved) == 9
    assert np.array_equal(
        PANClassifier("pan", seeds=3, epochs=2, device="cuda").fit(X, y, graph=A)._scores, plain._scores
    )


@pytest.mark.parametrize("kind", [PANClassifier, PANRegressor])
@pytest.mark.parametrize("head", ["linear", "pan"])
def test_a_device_that_is_not_here_is_refused_before_anything_is_learned(monkeypatch, kind, head):
    A, X, y, _ = planted(N=90)
    monkeypatch.setattr(base.Nodes, "of", lambda *_: pytest.fail("it reads the graph"))
    for device in ("warp", *(() if torch.cuda.is_available() else ("cuda",))):
        with pytest.raises(ValueError, match=f"device must be one that torch has here, .*, got '{device}'$"):
            kind(head, device=device).fit(X, y, graph=A)


@pytest.mark.parametrize("sign", [1, -1])
def test_how_features_are_stored_says_nothing_of_how_they_are_scaled(sign):
    """Counts as shares of their row; about their mean where some are negative, since shares of a sum say nothing."""
    random = np.random.default_rng(0)
    X = random.poisson(0.3, (50, 20)) * np.where(random.random((50, 20)) < 0.5, sign, 1.0)
    dense, sparse = deep.Scaling.of(X), deep.Scaling.of(sp.csr_matrix(X))
    assert (dense.mean is None) == (sparse.mean is None) == (sign == 1)
    assert torch.allclose(sparse(sp.csr_matrix(X)).to_dense(), dense(X))
