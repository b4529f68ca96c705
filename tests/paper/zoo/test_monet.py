import pytest
import torch
from towns import built, close, dense, learns_and_repeats, settings, towns

from panconv.paper.zoo import monet
from panconv.paper.zoo.monet import Mixture, Patches
from panconv.paper.zoo.operator import graph


def test_a_place_is_the_degrees_of_both_ends():
    for weighted in (False, True):
        adj = graph(towns(weighted=weighted)).base("A+I")
        A = adj.to_dense()
        root = A.sum(1) ** -0.5
        patches = Patches.of(adj, mean=False)
        source, target = patches.edge_index
        close(patches.place, torch.stack([root[target], root[source]], dim=1))
        close(patches.weight, A[target, source])
        assert patches.edge_index.size(1) == int((A != 0).sum())


def test_a_layer_is_a_mixture_of_gaussians_in_the_places():
    adj = graph(towns(weighted=True)).base("A+I")
    patches = Patches.of(adj, mean=False)
    layer, x = Mixture(5, 4, 3, patches), torch.randn(60, 5)
    for p in layer.parameters():
        p.data.normal_()
    source, target = patches.edge_index
    u = torch.tanh(patches.place @ layer.coordinates.weight.T + layer.coordinates.bias)
    out = layer.bias.expand(60, 4)
    for k in range(3):
        gaussian = torch.exp(-0.5 * ((u - layer.mu[k]) / layer.sigma[k]).square().sum(1))
        B = torch.zeros(60, 60).index_put((target, source), gaussian * patches.weight)
        out = out + B @ x @ layer.g[:, 4 * k : 4 * k + 4]
    close(layer(x), out)


def test_with_gaussians_that_are_flat_it_is_the_mean_of_the_neighbours():
    adj = graph(towns()).base("A+I")
    layer, x = Mixture(5, 4, 3, Patches.of(adj, mean=True)), torch.randn(60, 5)
    narrow = layer(x)
    layer.sigma.data.fill_(1e4)
    mean = adj.to_dense()
    mean /= mean.sum(1, keepdim=True)
    close(layer(x), mean @ x @ layer.g.reshape(5, 3, 4).sum(1))
    assert not torch.allclose(layer(x), narrow, atol=1e-3)


def test_it_learns():
    learns_and_repeats("monet")


@pytest.mark.parametrize(("mean", "normalize"), [(True, True), (False, True), (True, False)])
def test_each_layer_is_on_the_neighbours_and_the_node_itself_by_their_mean_if_asked(monkeypatch, mean, normalize):
    """With Gaussians that are flat, what is left of a layer is its matrix; another operator is taken as it stands."""
    data = towns(weighted=True)
    A = dense(data) + torch.eye(60) * normalize
    if mean and normalize:
        A /= A.sum(1, keepdim=True)
    model = built(monet, monkeypatch, data, settings("monet", mean=mean, normalize=normalize))
    for layer in (model.first, model.second):
        layer.sigma.data.fill_(1e4)
        x = torch.randn(60, layer.in_channels)
        close(layer(x), A @ x @ layer.g.unflatten(1, (3, -1)).sum(1))
