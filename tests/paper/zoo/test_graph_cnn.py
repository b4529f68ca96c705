import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns, walk

from panconv.paper.zoo import graph_cnn
from panconv.paper.zoo.graph_cnn import VertexFilter, train
from panconv.paper.zoo.operator import graph


def test_a_layer_is_a_filter_of_the_vertices_for_each_pair_of_features():
    adj = graph(towns())
    A, x = adj.to_dense(), torch.randn(60, 4)
    layer = VertexFilter(4, 3, adj.operands(torch.float32))
    layer.bias.data.normal_()
    h0, h1 = layer.taps.chunk(2, dim=1)  # (F, O) each
    for o in range(3):
        filtered = sum((h0[c, o] * torch.eye(60) + h1[c, o] * A) @ x[:, c] for c in range(4))
        close(layer(x)[:, o], filtered + layer.bias[o])


def test_without_the_tap_of_the_neighbours_no_edge_is_seen():
    layer = VertexFilter(4, 3, graph(towns()).operands(torch.float32))
    x = torch.randn(60, 4)
    other = x.clone()
    other[1:] = torch.randn(59, 4)
    assert not torch.allclose(layer(x)[0], layer(other)[0])
    layer.taps.data[:, 3:] = 0
    close(layer(x)[0], layer(other)[0])


def test_it_learns():
    learns_and_repeats("graph_cnn")


def test_an_operator_takes_the_place_of_its_own():
    """The identity for an operator: what remains is a map of each node's own features."""
    data, how = towns(), settings("graph_cnn", normalize=False, epochs=5)
    loops = torch.arange(60).repeat(2, 1)
    data.edge_index, data.edge_weight = loops, torch.ones(60)
    data.x[5] = data.x[50]
    assert torch.equal(*train(data, how, [0])[0][[5, 50]])


@pytest.mark.parametrize(("base", "matrix"), [("A", dense), ("D⁻¹A", walk)])
def test_the_base_is_the_one_that_was_asked_for(monkeypatch, base, matrix):
    data = towns()
    model = built(graph_cnn, monkeypatch, data, settings("graph_cnn", base=base))
    for layer in (model.first, model.second):
        x = torch.randn(60, len(layer.taps))
        h0, h1 = layer.taps.chunk(2, dim=1)
        close(layer(x), x @ h0 + matrix(data) @ x @ h1)
