import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import high_temperature
from panconv.paper.zoo.operator import graph


def expected(model, A, x):
    """Two layers on I + ψψᵀ, ψ from LAPACK: of a graph in one piece."""
    psi = torch.linalg.eigh(A.double()).eigenvectors[:, -1]
    M = torch.eye(len(A)) + torch.outer(psi, psi).float()
    hidden = (M @ x @ model.first.lin.weight.detach() + model.first.bias).relu()
    return M @ hidden @ model.second.lin.weight.detach() + model.second.bias


@pytest.mark.parametrize("weighted", [False, True])
def test_two_layers_of_the_prototype(weighted, monkeypatch):
    data = towns(weighted=weighted)
    model = built(high_temperature, monkeypatch, data, settings("high_temperature"))
    for bias in (model.first.bias, model.second.bias):
        torch.nn.init.normal_(bias)
    close(model(data.x, graph(data)), expected(model, dense(data), data.x))


def test_a_directed_graph_is_taken_without_directions(monkeypatch):
    data = towns()
    once = data.edge_index[0] < data.edge_index[1]
    A = (dense(data)) / 2  # (A + Aᵀ)/2 of the edges in one direction: half of both
    data.edge_index = data.edge_index[:, once]
    model = built(high_temperature, monkeypatch, data, settings("high_temperature"))
    close(model(data.x, graph(data)), expected(model, A, data.x))


def test_components_know_nothing_of_each_other(monkeypatch):
    data = towns()
    town = data.towns
    data.edge_index = data.edge_index[:, town[data.edge_index[0]] == town[data.edge_index[1]]]
    model = built(high_temperature, monkeypatch, data, settings("high_temperature"))
    before = model(data.x, graph(data))
    data.x[town == 0] *= 2
    moved = (model(data.x, graph(data)) - before).abs().amax(1) > 1e-6
    assert torch.equal(moved, town == 0)


def test_both_inputs_are_dropped_and_the_first_layer_decays(monkeypatch):
    data = towns()
    model = built(high_temperature, monkeypatch, data, settings("high_temperature", dropout=0.3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drop_input", "drop_hidden"])
    decay = settings("high_temperature")["decay"]
    assert {name for name, _ in model.named_parameters() if name.startswith(decay)} == {
        "first.lin.weight",
        "first.bias",
    }


def test_it_learns_and_each_trial_is_its_own():
    learns_and_repeats("high_temperature", better_than=0.7, lr=0.1)
