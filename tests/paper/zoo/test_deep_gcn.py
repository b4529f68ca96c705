import pytest
from torch_geometric.nn import GCNConv
from towns import built, close, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import deep_gcn
from panconv.paper.zoo.operator import graph


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_it_is_so_many_layers_of_pyg(layers, monkeypatch):
    data = towns()
    model = built(deep_gcn, monkeypatch, data, settings("deep_gcn", layers=layers, hidden=8))
    x = data.x
    for i, ours in enumerate([model.first, *model.others]):
        layer = GCNConv(*ours.lin.weight.T.shape)
        layer.load_state_dict(ours.state_dict())
        x = layer(x if i == 0 else x.relu(), data.edge_index)
    assert 1 + len(model.others) == layers
    close(model(data.x, graph(data)), x)


def test_the_inputs_of_all_layers_are_dropped(monkeypatch):
    data = towns()
    model = built(deep_gcn, monkeypatch, data, settings("deep_gcn", layers=3, dropout=0.3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drops.0", "drops.1", "drops.2"])


def test_it_learns():
    learns_and_repeats("deep_gcn", layers=3, lr=0.02)
