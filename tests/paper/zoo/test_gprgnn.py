import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import METHODS, gprgnn
from panconv.paper.zoo.operator import graph


def test_predictions_of_all_distances_are_added_with_weights_of_any_sign(monkeypatch):
    data = towns()
    model = built(gprgnn, monkeypatch, data, settings("gprgnn", K=3, alpha=0.2))
    assert model.gamma.tolist() == pytest.approx([0.2, 0.16, 0.128, 0.512])
    with torch.no_grad():
        model.gamma.copy_(torch.tensor([0.5, -1.0, 2.0, -0.25]))
    A = dense(data) + torch.eye(60)
    scale = A.sum(1) ** -0.5
    A = scale[:, None] * A * scale
    H = model.layers.second(model.layers.first(data.x).relu())
    close(model(data.x, graph(data)), 0.5 * H - A @ H + 2 * A @ A @ H - 0.25 * A @ A @ A @ H)


def test_both_inputs_are_dropped_and_the_scores_too(monkeypatch):
    data = towns()
    model = built(gprgnn, monkeypatch, data, settings("gprgnn", dropout=0.3, dropout_scores=0.3))
    names = ["layers.drop_input", "layers.drop_hidden", "drop_scores"]
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), names)
    model = built(gprgnn, monkeypatch, data, settings("gprgnn", dropout=0.3, dropout_scores=0.7))
    assert (model.layers.drop_input.p, model.drop_scores.p) == (0.3, 0.7)


def test_weight_decay_is_for_the_layers_alone(monkeypatch):
    """As in its authors' optimizer: the weights of the distances have none."""
    names = dict(built(gprgnn, monkeypatch, towns(), settings("gprgnn")).named_parameters())
    decay = METHODS["gprgnn"].settings["decay"]
    layers = [f"layers.{layer}.{part}" for layer in ("first", "second") for part in ("weight", "bias")]
    assert sorted(name for name in names if name.startswith(decay)) == sorted(layers)
    assert names.keys() == {*layers, "gamma"}


def test_it_learns():
    learns_and_repeats("gprgnn", lr=0.05)
