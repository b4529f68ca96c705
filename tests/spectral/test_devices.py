"""What is computed on a GPU is what is computed on the CPU."""

import pytest
import torch

from panconv import MET, Adjacency, Walks, eigs, lanczos, load
from panconv.nn import HighTemperatureConv, LanczosConv, SpectralConv
from panconv.spectral import density, perron
from panconv.testing import close

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")


@pytest.fixture(scope="module")
def both():
    data = load("cora", sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    return adj, adj.to("cuda")


def test_perron(both):
    here, there = (perron(adj) for adj in both)
    torch.testing.assert_close(there.vector.cpu(), here.vector, rtol=1e-6, atol=1e-12)
    close(there.value.cpu(), here.value)


@pytest.mark.parametrize("method", [1, 2, 3])
def test_eigs(both, method):
    operators = [MET(Walks(adj, 2), torch.ones(3, device=adj.device), method) for adj in both]
    here, there = (eigs(M, 90) for M in operators)
    assert there.vectors.is_cuda
    close(there.values.cpu(), here.values)
    close(operators[1] @ there.vectors, there.vectors * there.values)


def test_lanczos_and_density(both):
    x = torch.randn(2708, 2, dtype=torch.float64)
    here, there = (
        lanczos(MET(Walks(adj, 2), torch.ones(3, device=adj.device), 2), x.to(adj.device), 15) for adj in both
    )
    torch.testing.assert_close(there.tridiagonal().cpu(), here.tridiagonal(), rtol=1e-7, atol=1e-9)
    found = density(MET(Walks(both[1], 2), torch.ones(3, device="cuda"), 2), steps=20, starts=8)
    close(found.weights.sum().cpu(), torch.ones((), dtype=torch.float64))


@pytest.mark.parametrize("layer", [HighTemperatureConv, SpectralConv, LanczosConv])
def test_layers(both, layer):
    conv, x = layer(8, 3).double(), torch.randn(2708, 8, dtype=torch.float64)
    here = conv(x, both[0])
    there = conv.to("cuda")(x.to("cuda"), both[1])
    torch.testing.assert_close(there.cpu(), here, rtol=1e-6, atol=1e-8)
    there.sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in conv.parameters())
