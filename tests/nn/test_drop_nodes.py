import pytest
import torch
from torch import nn
from torch.testing import assert_close as close

from panconv.base import random
from panconv.compute.features import SparseRows
from panconv.nn import DropNodes, Stacked


def keyed(p, seeds):
    layer = DropNodes(p)
    layer.keys = random.keys(torch.tensor(seeds), 0, 1)
    return layer


@pytest.mark.parametrize("keys", [False, True])
def test_whole_rows_are_dropped_and_nothing_is_scaled(keys):
    x = torch.rand(2000, 5) + 0.1
    y = (keyed(0.3, 5) if keys else DropNodes(0.3))(x)
    gone = (y == 0).all(1)
    assert gone.float().mean() == pytest.approx(0.3, abs=0.04)
    assert torch.equal(y[~gone], x[~gone])


def test_afterwards_all_rows_are_multiplied():
    x = torch.rand(6, 4)
    close(DropNodes(0.3).eval()(x), 0.7 * x)
    close(DropNodes([0.3, 0.0]).eval()(x), torch.stack([0.7 * x, x], 1))
    own = torch.rand(6, 2, 4)
    close(DropNodes([0.3, 0.0]).eval()(own), own * torch.tensor([[0.7], [1.0]]))
    rows, W = SparseRows.of(x.to_sparse()), torch.rand(2, 4, 3)
    close(DropNodes(0.3).eval()(rows) @ W, 0.7 * (rows @ W))
    close(DropNodes([0.3, 0.0]).eval()(rows) @ W, (rows @ W) * torch.tensor([[0.7], [1.0]]))
    assert DropNodes(0.0)(x) is x


def test_each_trial_drops_what_it_would_alone():
    x, shares, seeds = torch.rand(30, 4) + 0.1, [0.0, 0.4, 0.7], [3, 8, 9]
    rows, W = SparseRows.of(x.to_sparse()), torch.rand(3, 4, 2)
    together, own = keyed(shares, seeds)(x), torch.rand(30, 3, 4)
    assert together.shape == (30, 3, 4)
    for s in range(3):
        alone = keyed(shares[s], seeds[s])
        assert torch.equal(together[:, s], alone(x))
        assert torch.equal(keyed(0.4, seeds)(x)[:, s], keyed(0.4, seeds[s])(x))
        assert torch.equal(keyed(shares, seeds)(own)[:, s], alone(own[:, s]))
        close((keyed(shares, seeds)(rows) @ W)[:, s], alone(x) @ W[s])
        close(keyed(shares, seeds)(rows).value[s], alone(rows).value)
    assert torch.equal(together[:, 0], x)


def test_trials_without_keys_differ():
    y = DropNodes([0.5, 0.5])(torch.ones(200, 3))
    assert y.shape == (200, 2, 3)
    assert not torch.equal(y[:, 0], y[:, 1])
    y = DropNodes(0.5)(torch.ones(200, 2, 3))
    assert ((y == 0).all(2) | (y == 1).all(2)).all()  # whole rows, of each trial
    assert not torch.equal(y[:, 0], y[:, 1])


@pytest.mark.parametrize("p", [0.5, [0.5, 0.1]])
def test_in_any_module(p):
    """Keyed by `Stacked` as `Dropout` is, and gradients go where the rows go."""
    model = Stacked(lambda: nn.Sequential(DropNodes(p), nn.Linear(4, 2, bias=False)), 4, 2, trials=2)
    model.seed([5, 6])
    model.key([5, 6], 3)
    x = torch.rand(12, 4)
    together = model(x)
    for s, share in enumerate([0.5, 0.5] if p == 0.5 else p):
        one = model.trial(s).train()
        assert one[0].p == share
        one[0].keys = random.keys(torch.tensor(5 + s), 0, 3)
        close(together[:, s], one(x))
    together.sum().backward()
    kept = (together[:, 1].detach() != 0).any(1)
    close(model.stack[0].grad[1], x[kept].sum(0).expand(2, -1))
    close(model.eval()(x)[:, 1], (1 - (0.5 if p == 0.5 else 0.1)) * model.trial(1)[1](x))


def test_bad_probability():
    with pytest.raises(ValueError, match="drop_nodes must be at least 0 and below 1, got 2"):
        DropNodes(2)
