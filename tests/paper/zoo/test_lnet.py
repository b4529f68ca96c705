"""LNet: its long scales are the powers of Â that Lanczos makes cheap, filtered by a trained network."""

import pytest
import torch
from rings import two_rings
from torch import nn
from torch.nn import functional as F
from towns import built, towns
from zoo_graph import check_dropouts, classes

from panconv import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo import METHODS, lnet, trainer
from panconv.paper.zoo.lnet import LanczosLayer
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.symmetric import Symmetric, start, symmetric
from panconv.spectral import ritz

HOW = {"short": (1, 3), "long": (5, 8), "filter": 16}


def small(N=12):
    edges = torch.randint(N, (2, 3 * N))
    M = symmetric(Adjacency.of(torch.cat([edges, edges.flip(0)], dim=1), None, N), "Â")
    return CSR(M.crow, M.col, M.value.float()), Symmetric(M) @ torch.eye(N, dtype=torch.float64)


def test_with_all_ritz_pairs_and_no_network_it_is_the_powers_themselves():
    M, dense = small()
    layer = LanczosLayer(4, 3, M, ritz(dense, start(12, dense.device).double(), 12), HOW)
    layer.filter = nn.Identity()
    x = torch.randn(12, 4)
    powers = [torch.linalg.matrix_power(dense, n).float() for n in (*HOW["short"], *HOW["long"])]
    concatenated = torch.cat([power @ x for power in powers], dim=1)
    assert torch.allclose(layer(x), concatenated @ layer.scales.weight.flatten(0, 1), atol=1e-5)


def test_the_network_filters_ritz_values_one_by_one():
    M, dense = small()
    pairs = ritz(dense, start(12, dense.device).double(), 6)
    layer, x = LanczosLayer(4, 3, M, pairs, HOW), torch.randn(12, 4)
    with torch.no_grad():
        layer.scales.weight[:2] = 0  # the long scales alone
        out, V = layer(x) - layer.scales.bias, pairs.vectors.float()
        assert torch.allclose(V @ (V.T @ out), out, atol=1e-5)  # they stay in the Krylov space
        expected = sum(
            V @ (layer.filter(layer.powers)[:, i, None] * (V.T @ x)) @ layer.scales.weight[2 + i] for i in range(2)
        )
    assert torch.allclose(out, expected, atol=1e-5)
    layer(x).sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in layer.filter.parameters())


@pytest.mark.parametrize("name", ["lnet", "adalnet"])
@pytest.mark.parametrize("normalize", [True, False])
def test_training_uses_the_graph_and_follows_the_seed(name, normalize):
    data = two_rings()
    if not normalize:
        data.edge_weight = torch.rand(data.edge_index.size(1)) + 5  # an operator with a spectrum of its own
    how = {**METHODS[name].settings, "normalize": normalize, "epochs": 15, "hidden": 8, "filter": 16, "steps": 6}
    how["weight_decay"] = 5e-4
    both = classes(trainer(name)(data, how, [3, 4]))
    assert both.shape == (2, 40)
    assert (both == data.truth)[:, data.y < 0].float().mean() > 0.8
    assert torch.equal(classes(trainer(name)(data, how, [4]))[0], both[1])


def test_the_network_of_the_ritz_values_has_a_relu_and_no_bias():
    M, dense = small()
    layer = LanczosLayer(4, 3, M, ritz(dense, start(12, dense.device).double(), 6), HOW)
    powers, (first, second) = torch.randn(9, 2), layer.filter.parameters()  # two matrices, and nothing else
    assert torch.allclose(layer.filter(powers), F.linear(F.linear(powers, first).relu(), second), atol=1e-6)
    assert not layer.filter(torch.zeros(1, 2)).any()  # what the powers forget stays forgotten


def test_two_layers_with_a_relu_between_and_dropout_before_each(monkeypatch):
    data = towns()
    model = built(lnet, monkeypatch, data, {**METHODS["lnet"].settings, "hidden": 6, "steps": 6, "dropout": 0.3})
    x, adj = torch.randn(60, 12), graph(data)
    hidden = model.first(x)
    assert hidden.min() < 0
    assert torch.allclose(model(x, adj), model.second(hidden.clamp(min=0)), atol=1e-6)
    check_dropouts(model, 0.3, lambda model: model(x, adj), ["drop_input", "drop_hidden"])
