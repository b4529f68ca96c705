import pytest
import torch
from torch import nn
from torch.testing import assert_close as close
from torch_geometric.nn import AGNNConv, ChebConv, GATConv, GCNConv, SGConv

from panconv.base import random
from panconv.nn import Dropout, Stacked

EDGES = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3, 4], [1, 0, 2, 1, 0, 2, 3, 2, 4]])
X = torch.rand(5, 6, generator=torch.Generator().manual_seed(0))


class Net(nn.Module):
    """A layer between two dropouts."""

    def __init__(self, p=0.5):
        super().__init__()
        self.first, self.second = GCNConv(6, 4), GCNConv(4, 3)
        self.drop, self.drop_hidden = Dropout(p), Dropout(p)

    def forward(self, x, edge_index):
        x = self.first(self.drop(x), edge_index).relu()
        return self.second(self.drop_hidden(x), edge_index)


def stacked(make=Net, trials=3, seeds=(5, 6, 7), **options):
    model = Stacked(make, 6, 3, trials=trials, **options)
    model.seed(seeds)
    return model


def fresh(seed, make=Net):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


@pytest.mark.parametrize(
    "make",
    [
        Net,
        lambda: GCNConv(6, 3, cached=True),
        lambda: ChebConv(6, 3, K=3),
        lambda: SGConv(6, 3, K=2, cached=True),
        lambda: GATConv(6, 3, heads=2, concat=False),
        lambda: AGNNConv(),
    ],
)
def test_trials_are_the_modules_run_alone(make):
    model = stacked(make).eval()
    scores = model(X, EDGES)
    ones = [fresh(seed, make).eval()(X, EDGES) for seed in (5, 6, 7)]
    close(scores, torch.stack(ones, 1))
    scores.pow(2).sum().backward()
    one = fresh(6, make).eval()
    one(X, EDGES).pow(2).sum().backward()
    for (name, p), ours in zip(one.named_parameters(), model.stack, strict=True):
        torch.testing.assert_close(ours.grad[1], p.grad, rtol=1e-4, atol=1e-6, msg=name)


def test_seeds_decide_the_start():
    a, b, c = stacked(), stacked(seeds=(6, 5, 7)), stacked(trials=1, seeds=(6,))
    for p, q, r in zip(a.stack, b.stack, c.stack, strict=True):
        close(p[[1, 0, 2]], q)
        close(p[1], r[0])
    assert not torch.equal(a.stack[1][0], a.stack[1][1])
    before = torch.get_rng_state()
    stacked().seed([1, 2, 3])
    a.seed([1, 2, 3])
    state = torch.get_rng_state()
    a.seed([3, 4, 5])
    assert torch.equal(state, torch.get_rng_state())  # seeding draws nothing from torch's own generator
    torch.set_rng_state(before)
    with pytest.raises(ValueError, match="seeds must be 3, one per trial, got 2"):
        a.seed([1, 2])


def test_dropout_is_keyed_by_seed_and_epoch():
    model = stacked()
    model.key([5, 6, 7], 4)
    together = model(X, EDGES)
    close(together, model(X, EDGES))
    alone = stacked(trials=1, seeds=(6,))
    alone.key([6], 4)
    close(together[:, 1], alone(X, EDGES)[:, 0])
    # by hand: each dropout has a stream of its own
    one = fresh(6)
    for i, dropout in enumerate((one.drop, one.drop_hidden)):
        dropout.keys = random.keys(torch.tensor(6), i, 4)
    close(together[:, 1], one(X, EDGES))
    model.key([5, 6, 7], 5)
    assert not torch.allclose(together, model(X, EDGES))
    model.key(None, 0)
    assert not torch.equal(model(X, EDGES), model(X, EDGES))  # torch's generator again, and
    assert all(dropout.keys is None for dropout in model._dropouts)


def test_at_rest_nothing_is_dropped():
    model = stacked()
    model.key([5, 6, 7], 4)
    kept = model.eval()(X, EDGES)
    close(kept, stacked(lambda: Net(0.0))(X, EDGES))
    assert not torch.allclose(model.train()(X, EDGES), kept)


@pytest.mark.parametrize(("decay", "count"), [("first.", 2), ("", 4), ("second.lin", 1), ("none", 0)])
def test_what_decays_is_said_by_name(decay, count):
    model = stacked(decay=decay)
    names = [name for name, _ in Net().named_parameters()]
    expected = [p for name, p in zip(names, model.stack, strict=True) if name.startswith(decay)]
    assert list(map(id, model.decayed())) == list(map(id, expected))
    assert len(expected) == count


def test_a_trial_on_its_own():
    model = stacked().eval()
    scores = model(X, EDGES)
    one = model.trial(2)
    assert isinstance(one, Net)
    assert not one.training
    close(one(X, EDGES), scores[:, 2])
    one.first.bias.data += 1  # a copy: the others know nothing of it
    close(model(X, EDGES), scores)
    for s in (-1, 3):
        with pytest.raises(ValueError, match=f"trial must be one of 0 … 2, got {s}"):
            model.trial(s)


def test_what_is_no_parameter_goes_along():
    """Buffers of the module, and the dtype."""
    model = stacked(lambda: nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3).eval())).double().eval()
    assert model(X.double()).dtype == torch.float64
    assert model.trial(0)(X.double()).dtype == torch.float64
    assert [p.shape[0] for p in model.parameters()] == [3] * 4


def test_each_trial_drops_with_its_own_probability():
    shares = [0.0, 0.4, 0.7]
    model = stacked(lambda: Net(shares))
    model.float()  # which rounds no probability
    model.key([5, 6, 7], 4)
    together = model(X, EDGES)
    for s, share in enumerate(shares):
        alone = stacked(lambda share=share: Net(share), trials=1, seeds=(5 + s,))
        alone.key([5 + s], 4)
        close(together[:, s], alone(X, EDGES)[:, 0])
        assert model.trial(s).drop.p == share
    few = model.narrowed([2, 0])
    few.key([7, 5], 4)
    close(few(X, EDGES), together[:, [2, 0]])
    assert few.trial(0).drop_hidden.p == 0.7
    assert model._shares.dtype == torch.float64
    with pytest.raises(ValueError, match="dropout must be a number, or 2 numbers, one per trial, got 3 of them"):
        stacked(lambda: Net(shares), trials=2)


def test_own_probabilities_by_torchs_generator():
    model = stacked(lambda: nn.Sequential(Dropout([0.0, 0.5, 0.9]), nn.Identity()), trials=3)
    y = model(torch.ones(400, 6))
    assert (y == 0).float().mean((0, 2)).tolist() == pytest.approx([0, 0.5, 0.9], abs=0.05)


def test_some_trials_by_themselves():
    model = stacked(lambda: nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3)), decay="0.")
    model.train()(X)
    few = model.narrowed([2, 0])
    assert few.trials == 2
    assert [p.requires_grad for p in few.stack] == [p.requires_grad for p in model.stack]
    for a, b in zip(few.state_dict().values(), model.state_dict().values(), strict=True):
        assert torch.equal(a, b[[2, 0]])
    close(few.eval()(X), model.eval()(X)[:, [2, 0]])
    assert [id(p) for p in few.decayed()] == [id(p) for p in few.stack[:2]]
    few.train()(X)  # what they learn now is their own
    assert not torch.equal(few.running_0, model.running_0[[2, 0]])
    close(few.trial(1).eval()(X), few.eval()(X)[:, 1])
    few.seed([5, 7])
    close(few.stack[0][0], stacked(lambda: nn.Linear(6, 3)).stack[0][0])
    with pytest.raises(ValueError, match="trial must be one of 0 … 2, got 3"):
        model.narrowed([0, 3])
