import torch
import torch.nn.functional as F

from panconv.paper.zoo.logistic import classified


def clouds(S=3, n=40, d=5):
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(n) % 3
    return torch.randn(S, n, d, generator=generator) + 1.5 * F.one_hot(y, d), y


def test_a_trial_does_not_feel_the_others():
    z, y = clouds()
    train = torch.arange(40) < 20
    together = classified(z, y, train, ~train)
    assert torch.equal(together[1:2], classified(z[1:2], y, train, ~train))
    assert (together == y).float().mean() > 0.7


def test_the_strength_is_chosen_on_validation_nodes_and_no_others_are_looked_at():
    z, y = clouds()
    train, val = torch.arange(40) < 12, (torch.arange(40) >= 12) & (torch.arange(40) < 30)
    strengths = [0.001, 0.1, 100.0]
    each = torch.stack([classified(z, y, train, val, [C]) for C in strengths], 1)  # (S, G, N)
    best = (each == y)[:, :, val].sum(-1).argmax(1)
    assert len(best.unique()) > 1
    hidden = torch.where(train | val, y, -1)
    assert torch.equal(classified(z, hidden, train, val, strengths), each[torch.arange(3), best])
