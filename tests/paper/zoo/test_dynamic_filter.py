import pytest
import torch
from torch_geometric.nn import FeaStConv
from towns import built, close, learns_and_repeats, settings, towns

from panconv.paper.zoo import dynamic_filter
from panconv.paper.zoo.dynamic_filter import Steered
from panconv.paper.zoo.operator import graph


@pytest.fixture
def adj():
    return graph(towns())


@pytest.mark.parametrize("heads", [1, 3])
def test_it_is_the_layer_of_pyg(adj, heads):
    ours, theirs = Steered(5, 4, heads, adj.base("A+I")), FeaStConv(5, 4, heads)
    for p in ours.parameters():
        p.data.normal_()
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(60, 5)
    close(ours(x), theirs(x, towns().edge_index))


def test_without_steering_it_is_the_mean_of_the_neighbours_under_the_mean_filter(adj):
    layer, x = Steered(5, 4, 3, adj.base("A+I")), torch.randn(60, 5)
    mean = adj.base("A+I").to_dense()
    mean /= mean.sum(1, keepdim=True)
    filters = layer.lin.weight.T.reshape(5, 3, 4).mean(1)
    steered = layer(x)
    layer.u.weight.data.zero_()
    layer.c.data.zero_()
    close(layer(x), mean @ x @ filters + layer.bias)
    assert not torch.allclose(layer(x), steered, atol=1e-3)


def test_it_learns():
    learns_and_repeats("dynamic_filter")


def test_each_layer_that_is_trained_has_the_node_itself_among_its_neighbours(monkeypatch):
    data = towns()
    model = built(dynamic_filter, monkeypatch, data, settings("dynamic_filter", heads=3))
    for layer in (model.first, model.second):
        theirs = FeaStConv(layer.in_channels, layer.out_channels, 3, add_self_loops=True)
        theirs.load_state_dict(layer.state_dict())
        x = torch.randn(60, layer.in_channels)
        close(layer(x), theirs(x, data.edge_index))
