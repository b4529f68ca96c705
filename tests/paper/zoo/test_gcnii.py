import math

import torch
from torch_geometric.nn import GCN2Conv
from towns import built, close, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import METHODS, gcnii
from panconv.paper.zoo.operator import graph

HOW = settings("gcnii", hidden=8, layers=5, share=0.2, identity=0.7, dropout=0.3)


def test_it_is_pyg_s_layers_between_two_linear_maps(monkeypatch):
    data = towns()
    model = built(gcnii, monkeypatch, data, HOW)
    h = start = model.first(data.x).relu()
    for i, conv in enumerate(model.convs, 1):
        layer = GCN2Conv(8, alpha=0.2, theta=0.7, layer=i)
        with torch.no_grad():
            layer.weight1.copy_(conv.weight.T)
        h = layer(h, start, data.edge_index).relu()
        assert model.betas[i - 1] == math.log(0.7 / i + 1) == layer.beta
    close(model(data.x, graph(data)), model.last(h))


def test_all_inputs_are_dropped_and_the_layers_matrices_decay_as_they_are_told(monkeypatch):
    data = towns()
    model = built(gcnii, monkeypatch, data, HOW)
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), [f"drops.{i}" for i in range(7)])
    decays = [name for name, _ in model.named_parameters() if name.startswith(HOW["decay"])]
    assert decays == [f"convs.{i}.weight" for i in range(5)]


def test_the_settings_of_its_paper():
    method = METHODS["gcnii"]
    assert (method.on("cora")["layers"], method.on("citeseer")["layers"], method.on("pubmed")["layers"]) == (64, 32, 16)
    assert method.on("pubmed")["decay_others"] == method.on("pubmed")["weight_decay"] == 5e-4


def test_it_learns():
    learns_and_repeats("gcnii", layers=8, hidden=16, dropout=0.2, decay_others=0.0)
