import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import gprgnn
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
    H = model.second(model.first(data.x).relu())
    close(model(data.x, graph(data)), 0.5 * H - A @ H + 2 * A @ A @ H - 0.25 * A @ A @ A @ H)


def test_both_inputs_are_dropped(monkeypatch):
    data = towns()
    model = built(gprgnn, monkeypatch, data, settings("gprgnn", dropout=0.3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drop_input", "drop_hidden"])


def test_it_learns():
    learns_and_repeats("gprgnn", lr=0.05)
