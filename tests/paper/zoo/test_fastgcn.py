import pytest
import torch
from towns import close, learns_and_repeats, settings, towns

from panconv.base import random
from panconv.paper.zoo import fastgcn
from panconv.paper.zoo.fastgcn import LayerSampler, Model, train
from panconv.paper.zoo.operator import operator
from panconv.training.adam import adam


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def matrix(request):
    return operator(towns(weighted=request.param), {"normalize": True}, "Â")


def test_nodes_are_drawn_by_the_squared_norm_of_their_columns(matrix):
    sampler = LayerSampler(matrix, samples=50)
    q = matrix.to_dense(torch.float64).square().sum(0)
    q /= q.sum()
    close(sampler.q, q)
    u = sampler.draw(random.keys(torch.arange(2000)))
    assert u.shape == (50, 2000)
    share = u.flatten().bincount(minlength=60) / u.numel()
    assert bool(((share - q).abs() < 5 * (q / u.numel()).sqrt()).all())


def test_the_estimate_averages_to_the_product_of_gcn(matrix):
    sampler, S = LayerSampler(matrix, samples=20), 20_000
    h, v = torch.randn(60, 3), torch.arange(0, 60, 7)
    u = sampler.draw(random.keys(torch.arange(S)))  # (t, S)
    estimate = sampler.estimate(v.unsqueeze(1).expand(-1, S), u, h[u])  # (B, S, O)
    exact = (matrix.to_dense() @ h)[v]
    error = estimate.std(1) / S**0.5
    assert bool(((estimate.mean(1) - exact).abs() < 5 * error).all())
    assert float(estimate.std(1).mean()) > 0.1  # it is an estimate


def test_the_exact_scores_are_those_of_a_gcn(matrix):
    model, x = Model(12, 5, 3, trials=2, p=0.5).eval(), towns().x
    A = matrix.to_dense()
    scores = model(A @ x, matrix)  # (N, S, C)
    for s in range(2):
        W0, W1 = model.first.weight[s], model.second.weight[s]
        close(scores[:, s], A @ torch.relu(A @ x @ W0) @ W1)


@pytest.mark.parametrize("batch", [256, 5])
def test_it_learns(batch):
    learns_and_repeats("fastgcn", samples=30, batch=batch)


def test_every_step_is_a_batch_with_a_sample_of_its_own(monkeypatch):
    seen, estimate = [], LayerSampler.estimate

    def watched(self, v, u, h):
        seen.append((v, u))
        return estimate(self, v, u, h)

    monkeypatch.setattr(LayerSampler, "estimate", watched)
    data = towns()  # with 12 training nodes
    train(data, settings("fastgcn", samples=7, batch=8, epochs=3), [0, 1])
    assert [(len(v), len(u)) for v, u in seen] == [(8, 7), (4, 7)] * 3
    for (v, _), (rest, _) in zip(seen[::2], seen[1::2], strict=True):
        every = torch.cat([v, rest]).sort(dim=0).values
        assert torch.equal(every, data.train_mask.nonzero().expand(-1, 2))
    assert len({tuple(u.flatten().tolist()) for _, u in seen}) == 6
    assert not torch.equal(*seen[0][1].T)


def test_it_is_the_estimate_that_is_trained_on(monkeypatch):
    """The gradient that comes back to an estimate is that of its cross entropy: softmax less the label, over B."""
    data, seen, estimate = towns(), [], LayerSampler.estimate

    def watched(self, v, u, h):
        out = estimate(self, v, u, h)
        out.register_hook(lambda gradient: seen.append((v, out.detach(), gradient)))
        return out

    monkeypatch.setattr(LayerSampler, "estimate", watched)
    train(data, settings("fastgcn", samples=7, batch=8, epochs=2), [0, 1])
    assert len(seen) == 4
    for v, out, gradient in seen:
        close(gradient, (out.softmax(-1) - torch.eye(3)[data.y[v]]) / len(v))


def test_an_operator_that_carries_nothing_is_legal():
    data, how = towns(), settings("fastgcn", normalize=False, samples=7, epochs=3)
    data.edge_weight = torch.zeros(data.edge_index.size(1))
    assert torch.equal(train(data, how, [0]), torch.zeros(1, 60, dtype=torch.long))  # of scores that are all 0
    del data.edge_weight
    data.edge_index = data.edge_index[:, :0]
    assert torch.equal(train(data, how, [0]), torch.zeros(1, 60, dtype=torch.long))
    matrix = operator(data, how, "Â")
    sampler = LayerSampler(matrix, samples=7)
    u = sampler.draw(random.keys(torch.arange(2)))
    assert not sampler.estimate(torch.arange(5).unsqueeze(1).expand(-1, 2), u, torch.randn(7, 2, 3)).any()


def test_features_in_double_precision_are_read_as_single():
    data, wide, how = towns(), towns(), settings("fastgcn", samples=30, epochs=3)
    wide.x = wide.x.double()
    assert torch.equal(train(data, how, [0]), train(wide, how, [0]))


@pytest.mark.parametrize(("decay", "decays"), [("first.", ["first.weight"]), ("", ["first.weight", "second.weight"])])
def test_the_weights_that_the_settings_name_decay(monkeypatch, decay, decays):
    seen = []
    monkeypatch.setattr(fastgcn, "adam", lambda model, *others: seen.append(model) or adam(model, *others))
    train(towns(), settings("fastgcn", samples=7, epochs=1, decay=decay), [0])
    (model,) = seen
    assert [id(p) for p in model.decayed()] == [id(dict(model.named_parameters())[name]) for name in decays]
