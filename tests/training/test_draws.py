import copy
import gc
import weakref

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch import nn
from torch.testing import assert_close as close
from torch_geometric.nn import GCNConv

from panconv import MET, PAN, Adjacency
from panconv.base import random
from panconv.nn import DropNodes, Dropout, Stacked
from panconv.training.draws import drawn, one_by_one
from panconv.training.modules import Alone

ADJ, X = Adjacency.of(TRIANGLE_AND_TAIL), torch.rand(4, 5, generator=torch.Generator().manual_seed(0))
SEEDS, EPOCH, DRAWS = [3, 8], 7, 3


class Net(nn.Module):
    """A layer behind a norm that has running means, and dropout of both kinds."""

    def __init__(self, p=(0.5, 0.5)):
        super().__init__()
        self.nodes, self.drop = DropNodes(0.3), Dropout(p)
        self.norm, self.conv = nn.BatchNorm1d(5), GCNConv(5, 3)

    def forward(self, x, edge_index):
        return self.conv(self.drop(self.norm(self.nodes(x))), edge_index)


def pan(trials=2, p=(0.5, 0.2)):
    return PAN(5, 8, 3, norm="batch", jk="cat", trials=trials, dropout=list(p))


def stack(trials=2, p=(0.5, 0.2)):
    return Stacked(lambda: Net(p), 5, 3, trials=trials)


GRAPH = {pan: ADJ, stack: TRIANGLE_AND_TAIL}


def by_hand(one, s, inputs):
    """Each draw by a copy of a trial's own module, keyed for itself: scores, and the means of gradients and buffers."""
    found, grads, moved = [], [], []
    one.key([SEEDS[s]], EPOCH)
    for draw in range(DRAWS):
        twin = copy.deepcopy(one)
        for dropout in (each for each in twin.modules() if isinstance(each, Dropout)):
            dropout.keys = random.drawn(dropout.keys, DRAWS)[draw]
        found.append(twin(*inputs))
        found[-1].square().sum().backward()
        grads.append({name: p.grad for name, p in twin.named_parameters() if p.grad is not None})
        moved.append({name: each.double() for name, each in twin.named_buffers()})
    grads, moved = ({name: sum(each[name] for each in all_of) for name in all_of[0]} for all_of in (grads, moved))
    return torch.stack(found, 1).detach(), grads, {name: each / DRAWS for name, each in moved.items()}


@pytest.mark.parametrize("make", [pan, stack])
def test_draws_at_once_are_the_draws_of_each_trial(make):
    model, inputs = make(), (X, GRAPH[make])
    model.seed(SEEDS)
    model.train()
    ones = [model.trial(s) if make is pan else Alone(model.trial(s), 5, 3) for s in range(2)]
    for one, p in zip(ones, (0.5, 0.2), strict=True):
        for dropout in (each for each in one.modules() if type(each) is Dropout):
            dropout.p = p
    model.key(SEEDS, EPOCH)
    scores = drawn(model, inputs, {}, DRAWS)
    assert scores.shape == (4, 2, DRAWS, 3)
    scores.square().sum().backward()
    params = dict(zip(dict(ones[0].named_parameters()), model.parameters(), strict=True))
    buffers = dict(zip(dict(ones[0].named_buffers()), model.buffers(), strict=True))
    for s, one in enumerate(ones):
        expected, grads, moved = by_hand(one, s, inputs)
        close(scores[:, s].detach(), expected)
        assert grads
        assert moved
        for name, grad in grads.items():
            close(params[name].grad[s], grad, rtol=1e-4, atol=1e-5)
        for name, buffer in moved.items():
            close(buffers[name][s].double(), buffer)
    assert not torch.equal(scores[:, :, 0], scores[:, :, 1])


@pytest.mark.parametrize("make", [pan, stack])
def test_the_first_draw_is_the_plain_one_and_keys_stay(make):
    model, inputs = make(), (X, GRAPH[make])
    model.seed(SEEDS)
    model.key(SEEDS, EPOCH)
    plain, first = model(*inputs), drawn(model, inputs, {}, 1)
    close(first[:, :, 0], plain)
    close(model(*inputs), plain)
    model.key(None, 0)
    assert not torch.equal(drawn(model, inputs, {}, 2)[:, :, 0], drawn(model, inputs, {}, 2)[:, :, 0])
    model.eval()
    close(drawn(model, inputs, {}, 2), model(*inputs).unsqueeze(2).expand(-1, -1, 2, -1))


def test_any_module_is_called_for_each_draw():
    """Alone, without trials, and as one of many it draws the same."""
    model, inputs = stack(p=(0.5, 0.5)), (X, TRIANGLE_AND_TAIL)
    model.seed(SEEDS)
    alone = Alone(model.trial(1), 5, 3)
    model.key(SEEDS, EPOCH)
    alone.key([SEEDS[1]], EPOCH)
    many, one = drawn(model, inputs, {}, DRAWS), drawn(alone, inputs, {}, DRAWS)
    close(many[:, 1:], one)
    close(alone.module.norm.running_mean, model.running_0[1])
    assert alone.module.norm.num_batches_tracked == model.running_2[1] == 1
    single = PAN(5, 8, 3, norm="graph")  # a norm that trials cannot share
    assert drawn(single, (X, ADJ), {}, 2).shape == (4, 1, 2, 3)
    plain = nn.Sequential(Dropout(0.5))
    assert one_by_one(plain, (X,), {}, 2).shape == (4, 1, 2, 5)


def test_the_wide_model_is_made_once_and_goes_with_the_model(monkeypatch):
    model, made, repeated = pan(p=(0.5, 0.5)), [], PAN.repeated
    monkeypatch.setattr(PAN, "repeated", lambda *a: made.append(repeated(*a)) or made[-1])
    for _ in range(3):
        drawn(model, (X, ADJ), {}, 2)
    assert len(made) == 1
    wide = weakref.ref(made.pop())
    assert wide() is not None
    del model
    gc.collect()
    assert wide() is None


def test_draws_one_by_one_leave_fixed_path_weights_alone(monkeypatch):
    """To the last bit, and unchanged in the eyes of what was kept of them: M·x is found once."""
    model = PAN(5, 8, 3, weights=[0.1, 0.7, 0.3], norm="batch", inputs={"propagate": True})
    count, apply = [], MET.apply
    monkeypatch.setattr(MET, "apply", lambda M, x: (x.shape[-1] == 5 and count.append(1), apply(M, x))[1])
    k = model.convs[0].weights.k
    before, version, mean = k.clone(), k._version, model.norms[0].running_mean.clone()
    for _ in range(2):
        one_by_one(model, (X, ADJ), {}, 3)
        model.eval()(X, ADJ)
        model.train()
    assert torch.equal(k, before)
    assert k._version == version
    assert len(count) == 1
    assert not torch.equal(model.norms[0].running_mean, mean)


def test_a_buffer_that_is_no_running_mean_is_moved_by_the_module_alone():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))
            self.register_buffer("third", torch.tensor(1 / 3))

        def forward(self, x):
            self.calls += 1
            return x * self.third

    model, third = Counting(), torch.tensor(1 / 3)
    one_by_one(model, (X,), {}, 3)
    assert model.calls == 3
    assert torch.equal(model.third, third)
