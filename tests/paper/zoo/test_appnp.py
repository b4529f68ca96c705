import copy

import pytest
import torch
from torch_geometric.nn import APPNP
from towns import built, close, dense, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv import METTransform
from panconv.paper.zoo import appnp
from panconv.paper.zoo.operator import graph


def predicted(model, x):
    return model.second(model.first(x).relu())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("K", "alpha"), [(1, 0.5), (3, 0.2), (10, 0.1)])
def test_predictions_are_propagated_as_by_pyg(K, alpha, weighted, monkeypatch):
    data = towns(weighted=weighted)
    model = built(appnp, monkeypatch, data, settings("appnp", K=K, alpha=alpha))
    weight = data.edge_weight if weighted else None
    theirs = APPNP(K, alpha)(predicted(model, data.x), data.edge_index, weight)
    close(model(data.x, graph(data)), theirs)


def test_the_formula_with_the_weights_as_the_operator(monkeypatch):
    data = towns(weighted=True)
    model = built(appnp, monkeypatch, data, settings("appnp", normalize=False, K=2, alpha=0.3))
    M, H = dense(data), predicted(model, data.x)
    once = 0.7 * M @ H + 0.3 * H
    close(model(data.x, graph(data)), 0.7 * M @ once + 0.3 * H)


@pytest.mark.parametrize(("method", "same"), [(5, False), (7, True)])
def test_taking_m_as_it_stands_makes_a_difference(method, same, monkeypatch):
    """Only where a normalisation would change it: not for method 7, whose rows sum to 1."""
    data = METTransform(2, method, [1, 1, 1], ("top_k", 60))(copy.copy(towns()))
    scores = []
    for normalize in (True, False):
        torch.manual_seed(0)
        model = built(appnp, monkeypatch, data, settings("appnp", normalize=normalize))
        scores.append(model(data.x, graph(data)))
    assert torch.allclose(*scores, atol=1e-5) == same


def test_both_inputs_are_dropped_and_the_first_layer_decays(monkeypatch):
    data = towns()
    model = built(appnp, monkeypatch, data, settings("appnp", dropout=0.3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drop_input", "drop_hidden"])
    decays = [name for name, _ in model.named_parameters() if name.startswith(settings("appnp")["decay"])]
    assert decays == ["first.weight", "first.bias"]


def test_it_learns():
    learns_and_repeats("appnp", lr=0.05)
