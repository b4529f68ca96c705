import copy

import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv import METTransform
from panconv.paper.zoo import gcn, ngcn
from panconv.paper.zoo.operator import graph, renormalized


def expected(model, P, x, K, r):
    """[Pᵏ·ReLU(Pᵏ·X·W₀ + b₀)·W₁ + b₁] side by side, times W, instance by instance, with powers that are formed."""
    said = []
    for i in range(K * r):
        power = torch.linalg.matrix_power(P, i // r)
        hidden = (power @ x @ model.first.weight[i] + model.first.bias[i]).relu()
        said.append(power @ hidden @ model.second.weight[i] + model.second.bias[i])
    return torch.cat(said, 1) @ model.join


@pytest.mark.parametrize(("K", "r"), [(1, 1), (2, 3), (4, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_instance_has_its_power_and_a_layer_joins_them(K, r, weighted, monkeypatch):
    data = towns(weighted=weighted)
    model = built(ngcn, monkeypatch, data, settings("ngcn", K=K, r=r))
    for p in (model.join, model.first.bias, model.second.bias):
        torch.nn.init.normal_(p)
    A = dense(data) + torch.eye(60)
    root = A.sum(1).rsqrt()
    close(model(data.x, graph(data)), expected(model, root[:, None] * A * root, data.x, K, r))


def test_with_m_as_the_operator(monkeypatch):
    data = METTransform(2, 5, [0, 1, 1])(copy.copy(towns()))
    model = built(ngcn, monkeypatch, data, settings("ngcn", K=3, r=1, normalize=False))
    close(model(data.x, graph(data)), expected(model, dense(data), data.x, 3, 1))


def test_one_instance_of_the_first_power_alone_is_gcn(monkeypatch):
    """With all trust in it: the same matrices give the same scores."""
    data = towns()
    model = built(ngcn, monkeypatch, data, settings("ngcn", K=2, r=1))
    model.join.data = torch.cat([torch.zeros(3, 3), torch.eye(3)])
    theirs = gcn.network(settings("gcn", hidden=10), 12, 3, *renormalized(data, {})).eval()
    theirs.first.lin.weight.data, theirs.second.lin.weight.data = model.first.weight[1].T, model.second.weight[1].T
    close(model(data.x, graph(data)), theirs(data.x, graph(data)))


def test_it_starts_as_the_mean_of_gcns(monkeypatch):
    data = towns()
    model = built(ngcn, monkeypatch, data, settings("ngcn"))
    alone = super(ngcn.Network, model).forward(data.x, graph(data))
    close(model(data.x, graph(data)), alone.mean(1))
    for weight, widths in ((model.first.weight, (12, 10)), (model.second.weight, (10, 3))):
        assert weight.shape == (24, *widths)
        bound = (6 / sum(widths)) ** 0.5
        assert 0.9 * bound < float(weight.detach().abs().max()) <= bound


def test_both_inputs_are_dropped_and_the_first_layer_decays(monkeypatch):
    data = towns()
    model = built(ngcn, monkeypatch, data, settings("ngcn", dropout=0.3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drop_input", "drop_hidden"])
    decays = [name for name, _ in model.named_parameters() if name.startswith(settings("ngcn")["decay"])]
    assert decays == ["first.weight", "first.bias"]


def test_it_learns():
    learns_and_repeats("ngcn", lr=0.1, K=3)
