"""Logistic regression side by side: the penalties are tried apart, and validation nodes choose."""

import torch

from panconv.zoo.logistic import logistic


def problem(N=200, D=8):
    x = torch.randn(3, N, D)
    y = (x[0, :, 0] + 0.5 * x[0, :, 1] > 0).long()
    x[1], x[2] = x[0] @ torch.linalg.qr(torch.randn(D, D))[0], torch.randn(N, D)  # turned; of no use
    train, val = torch.arange(N) < 60, (torch.arange(N) >= 60) & (torch.arange(N) < 120)
    return x, y, train, val


def test_it_learns_what_there_is_to_learn():
    x, y, train, val = problem()
    right = (logistic(x, y, train, val, (0.0, 0.01), 300) == y)[:, 120:].float().mean(1)
    assert right[:2].min() > 0.9
    assert right[2] < 0.75


def test_a_trial_is_the_same_alone_and_test_labels_are_not_looked_at():
    x, y, train, val = problem()
    together = logistic(x, y, train, val, (0.0, 0.1), 100)
    hidden = y.where(train | val, -1)
    assert torch.equal(logistic(x[1:2], hidden, train, val, (0.0, 0.1), 100)[0], together[1])


def test_validation_nodes_choose_the_penalty():
    x, y, train, val = problem()
    chosen = logistic(x[:1], y, train, val, (1e4, 0.0), 300)  # the first allows nothing
    assert torch.equal(chosen, logistic(x[:1], y, train, val, (0.0,), 300))
