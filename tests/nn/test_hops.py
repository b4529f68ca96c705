"""How far a node looks through a model: its k-hop subgraph gives the same output, and one hop less does not."""

import math

import pytest
import torch
from torch import nn
from torch_geometric.nn import APPNP, ARMAConv, ChebConv, GCNConv, MixHopConv, SAGEConv, TAGConv
from torch_geometric.nn import PANConv as PANConvOfPyG

from panconv import METHODS, PAN, PANConv
from panconv.nn import (
    HighTemperatureConv,
    LanczosConv,
    PANAttention,
    PANEdgeAttention,
    SpectralConv,
    Stacked,
    num_hops,
)

N = 14
PATH = torch.stack([torch.arange(N - 1), torch.arange(1, N)])
X = torch.randn(N, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def seen(model: nn.Module, hops: int, edges: torch.Tensor = PATH) -> torch.Tensor:
    """What node 0 of a path gives where everything more than some hops away is another."""
    edges = torch.cat([edges, edges.flip(0)], 1)
    near = (edges <= hops).all(0)
    x = X.clone()
    x[hops + 1 :] += 1
    return model(x, edges[:, near])[0].detach()


def assert_exact(model: nn.Module, hops: int) -> None:
    """Nothing beyond so many hops changes node 0, and something at the last of them does."""
    model = model.double().eval()
    torch.testing.assert_close(seen(model, hops), seen(model, N), rtol=1e-12, atol=1e-12)
    assert (seen(model, hops - 1) - seen(model, N)).abs().max() > 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_layers", [1, 3])
def test_a_stack_looks_once_beyond_its_steps(method, num_layers):
    torch.manual_seed(0)
    model = PAN(3, 16, 5, num_layers, L=2, method=method)
    beyond = 2 if method in (2, 6) else method in (5, 7, 9, 10)
    assert model.num_hops == num_hops(model) == 2 * num_layers + beyond
    assert isinstance(model.num_hops, int)
    assert model.layers()[0].num_hops == 2 + beyond
    assert num_hops(model, stored=True) == 2 * num_layers
    assert_exact(model, model.num_hops)


@pytest.mark.parametrize(
    ("layer", "hops"),
    [
        (PANAttention(3, 4, L=2, method=6), 4),
        (PANAttention(3, 4, L=2, method=3, rank=2), 2),
        (PANEdgeAttention(3, 4, L=3), 3),
        (PANConv(3, 4, L=3, paths="shortest", method=2), 6),
        (GCNConv(3, 4), 2),
        (TAGConv(3, 4, K=3), 4),
        (APPNP(K=3, alpha=0.1), 4),
        (MixHopConv(3, 4, powers=[0, 1, 3]), 4),
    ],
)
def test_layers_count_their_own(layer, hops):
    assert num_hops(layer) == hops
    assert_exact(layer, hops)


def test_a_pyg_layer_counts_one_hop_for_degrees_it_may_not_need():
    assert num_hops(SAGEConv(3, 4)) == 2
    assert num_hops(ChebConv(3, 4, K=4)) == 4
    assert num_hops(ARMAConv(3, 4, num_layers=3)) == 4
    assert num_hops(PANConvOfPyG(3, 4, filter_size=3)) == 6


@pytest.mark.parametrize("order", [1, -1])
def test_layers_of_different_kinds_are_never_counted_too_few(order):
    torch.manual_seed(0)
    layers = [(1, 1), (3, 2), (2, 5)][::order]  # L and method

    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList(PANConv(3, 3, L=L, method=method) for L, method in layers)

        def forward(self, x, edge_index):
            for conv in self.convs:
                x = conv(x, edge_index)
            return x

    model = Mixed().double()
    assert num_hops(model) == 1 + 3 + 2 + 3
    torch.testing.assert_close(seen(model, 9), seen(model, N), rtol=1e-12, atol=1e-12)


def test_what_depends_on_the_whole_graph():
    for layer in (SpectralConv(3, 2), LanczosConv(3, 2), HighTemperatureConv(3, 2)):
        assert layer.num_hops == num_hops(nn.Sequential(layer, PANConv(2, 2))) == math.inf


def test_trials_and_models_without_a_graph():
    assert num_hops(Stacked(lambda: PANConv(3, 2, L=3), 3, 2, trials=4)) == 4
    assert num_hops(PAN(3, 4, 2, trials=2)) == 5
    assert num_hops(nn.Linear(3, 2)) == 0
    with pytest.raises(TypeError, match=r"model must be a torch\.nn\.Module, got 'PAN'"):
        num_hops("PAN")
