import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from panconv.estimator.axes import Axes
from panconv.estimator.folds import Folds, folds_of
from panconv.estimator.linear import fit_linear
from panconv.estimator.losses import LOSSES
from panconv.estimator.penalties import PENALTIES, Chosen, Task, chosen, refitted, with_ones
from panconv.estimator.scaled import PROFILES, Scaled
from panconv.estimator.solver import Problems, minimise


def drawn(n=60, F=5, C=3, L=2, seed=0):
    """Terms of rows that tell their classes in part, a block per length."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % C
    centres = random.normal(size=(L + 1, C, F))
    return [random.normal(size=(n, F)) + centres[m][y] * (0.2 + 0.5 * m) for m in range(L + 1)], y


def task_of(y, folds=None, weight=None, loss="softmax"):
    targets = torch.eye(int(y.max()) + 1, dtype=torch.float64)[torch.from_numpy(y)] if y.ndim == 1 else torch.tensor(y)
    weight = torch.ones(len(y), dtype=torch.float64) if weight is None else torch.as_tensor(weight).double()
    return Task(targets, weight, folds or folds_of(3, y, y.ndim == 1), loss)


def reference(Z, y, weight, ridge, held=slice(None)):
    """The same minimum by scikit-learn: its C is 1 over the ridge."""
    model = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000).fit(Z, y, sample_weight=weight)
    return model.coef_.T, model.intercept_


@pytest.mark.parametrize("F", [5, 60])  # fewer features than rows, and more: the axes come from either Gram matrix
def test_the_minimum_is_scikit_learns(F):
    blocks, y = drawn(F=F)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    head = fit_linear(blocks, task_of(y, weight=weight), ["even"])
    rows = Scaled.of(blocks, torch.from_numpy(weight).double())
    Z = rows.beside("even").numpy()
    coef, intercept = reference(Z, y, weight, head.chosen.penalty * weight.sum())
    scores = Z @ coef + intercept
    found = head.decision(blocks).softmax(1).numpy()
    expected = torch.from_numpy(scores).softmax(1).numpy()
    assert np.abs(found - expected).max() < 2e-3
    assert head.coefs[0].shape == (F, 3)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_solver_finds_where_the_gradient_vanishes(loss):
    generator = torch.Generator().manual_seed(0)
    Q = with_ones(torch.randn(40, 6, generator=generator, dtype=torch.float64) * torch.logspace(0, -3, 6))
    targets = torch.eye(3, dtype=torch.float64)[torch.arange(40) % 3].unsqueeze(1)
    weights = torch.rand(40, 5, generator=generator, dtype=torch.float64)
    penalty = torch.logspace(1, -6, 5, dtype=torch.float64).expand(7, 5).clone()
    penalty[-1] = 0
    problems = Problems(Q, targets, weights, penalty, LOSSES[loss], Q.square().sum(0))
    W = minimise(problems, tol=1e-14, steps=2000).requires_grad_()
    value = problems.value(problems.scores(W), W)
    (gradient,) = torch.autograd.grad(value.sum(), W)
    assert gradient.abs().max() < 1e-5
    assert torch.allclose(problems.gradient(problems.scores(W), W), gradient)
    alone = [minimise(problems.of(torch.tensor([b])), tol=1e-14, steps=2000) for b in range(5)]
    assert torch.allclose(problems.value(problems.scores(torch.cat(alone, 1)), torch.cat(alone, 1)), value, rtol=1e-8)


def test_cross_validation_against_a_loop():
    blocks, y = drawn()
    task = task_of(y)
    Z = Scaled.of(blocks, task.weight).beside("even").numpy()
    axes = Axes.of(torch.from_numpy(Z), task.weight)
    found = chosen(with_ones(axes.Q), task)
    by_penalty = {}
    for penalty, loss in found.tried.items():
        lost, out = np.zeros(len(y)), np.zeros((len(y), 3))
        for k in range(task.folds.K):
            train, test = task.folds.train[:, k].numpy(), task.folds.test[:, k].numpy()
            coef, intercept = reference(Z[train], y[train], None, penalty * len(y))
            out[test] = torch.from_numpy(Z[test] @ coef + intercept).log_softmax(1).numpy()
            lost[test] = -out[test, y[test]]
        assert lost.mean() == pytest.approx(loss, rel=2e-2)
        by_penalty[penalty] = lost
        if penalty == found.penalty:
            assert np.abs(found.scores.softmax(1).numpy() - np.exp(out)).max() < 0.05
            assert np.abs(found.lost.numpy() - lost).max() < 0.1
    least = min(by_penalty.values(), key=np.mean)
    more = {penalty: lost - least for penalty, lost in by_penalty.items()}
    fine = [penalty for penalty, each in more.items() if each.mean() <= each.std() / len(each) ** 0.5]
    assert found.penalty == max(fine) > min(fine)  # the strongest within a standard error of the best, which is weaker
    assert list(found.tried) == list(PENALTIES[: len(found.tried)])


def test_a_weight_counts_like_as_many_rows():
    blocks, y = drawn()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    fold = np.arange(len(y)) // 2 % 3
    test = torch.from_numpy(fold[:, None] == np.arange(3))
    once = fit_linear(blocks, task_of(y, Folds(~test, test), times))
    which = np.repeat(np.arange(len(y)), times)
    often = fit_linear([b[which] for b in blocks], task_of(y[which], Folds(~test[which], test[which])))
    assert often.chosen.penalty == once.chosen.penalty
    assert often.chosen.loss == pytest.approx(once.chosen.loss, rel=1e-3)
    assert torch.allclose(often.decision(blocks), once.decision(blocks), atol=2e-3)


def test_a_length_that_tells_nothing_is_left_out_where_that_is_sure():
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise = random.normal(size=(200, 40))
    signal = random.normal(size=(200, 40)) + 0.35 * y[:, None]
    assert fit_linear([noise, signal], task_of(y)).profile in ("neighbours", "far")
    assert fit_linear([signal, noise], task_of(y)).profile in ("own", "near")
    head = fit_linear([signal, noise], task_of(y))
    assert set(head.compared) == set(PROFILES)
    assert head.lengths[0] > 0.9


def test_several_labels_are_several_models():
    blocks, y = drawn(C=3)
    labels = np.stack([y == 0, (y == 1) | (np.arange(len(y)) % 5 == 0)], 1).astype(float)
    task = task_of(labels, loss="logistic")
    head = fit_linear(blocks, task, ["even"])
    Z = Scaled.of(blocks, task.weight).beside("even").numpy()
    for k in range(2):
        coef, intercept = reference(Z, labels[:, k].astype(int), None, head.chosen.penalty * len(y))
        assert np.abs(head.decision(blocks)[:, k].numpy() - (Z @ coef + intercept)[:, 0]).max() < 1e-2


@pytest.mark.parametrize("F", [5, 60])
def test_numbers_against_ridge(F):
    blocks, y = drawn(F=F)
    random = np.random.default_rng(0)
    values = blocks[1] @ random.normal(size=(F, 2)) + random.normal(size=(len(y), 2))
    weight = random.random(len(y)) + 0.5
    task = task_of(values, weight=weight, loss="squared")
    head = fit_linear(blocks, task, ["even"])
    Z = Scaled.of(blocks, task.weight).beside("even").numpy()
    model = Ridge(head.chosen.penalty * weight.sum()).fit(Z, values, sample_weight=weight)
    assert np.allclose(head.decision(blocks), model.predict(Z), atol=1e-6)
    for penalty, loss in head.chosen.tried.items():
        lost = 0.0
        for k in range(3):
            train, test = task.folds.train[:, k].numpy(), task.folds.test[:, k].numpy()
            one = Ridge(penalty * weight.sum()).fit(Z[train], values[train], sample_weight=weight[train])
            lost += (weight[test, None] * (one.predict(Z[test]) - values[test]) ** 2).sum()
        assert lost / weight.sum() == pytest.approx(loss, rel=1e-4)


def test_scores_are_sums_over_lengths_of_the_terms_as_they_are():
    blocks, y = drawn()
    head = fit_linear([b + 7 for b in blocks], task_of(y))
    by_hand = sum(torch.from_numpy(b + 7) @ c for b, c in zip(blocks, head.coefs, strict=True)) + head.intercept
    assert torch.allclose(head.decision(iter([b + 7 for b in blocks])), by_hand)


def test_more_rows_than_profiles_are_compared_on():
    blocks, y = drawn(n=900, F=3)
    head = fit_linear(blocks, task_of(y))
    assert head.chosen.lost.isfinite().all()  # of all rows
    assert len(head.compared) == 5


def test_what_cannot_be_held_out_is_learned_from():
    blocks, y = drawn(n=12)
    y[:] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2]
    task = task_of(y)
    assert task.folds.train[-1].all()
    assert not task.folds.test[-1].any()
    assert fit_linear(blocks, task).decision(blocks).isfinite().all()
    alone = fit_linear([b[:3] for b in drawn(n=3)[0]], task_of(np.arange(3)))
    assert alone.chosen.loss != alone.chosen.loss  # nothing to choose by
    assert alone.chosen.penalty == 1e-2
    assert isinstance(alone.chosen, Chosen)
    assert refitted(with_ones(torch.zeros(3, 1)), task_of(np.arange(3)), alone.chosen).abs().max() < 1e-6


def test_constant_terms_weigh_nothing():
    blocks, y = drawn()
    head = fit_linear([np.ones((60, 2)), blocks[2]], task_of(y))
    assert head.coefs[0].abs().max() == 0
    flat = fit_linear([np.ones((60, 2), np.float32)], task_of(np.arange(60) % 3 // 2))
    shares = flat.decision([np.ones((1, 2))]).softmax(1)
    assert torch.allclose(shares, torch.tensor([[2 / 3, 1 / 3]], dtype=torch.float64), atol=1e-3)
