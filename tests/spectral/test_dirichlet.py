import pytest
import torch
from graphs import graphs
from hypothesis import given

from panconv import PAN, Adjacency
from panconv.spectral import dirichlet, dirichlet_energy
from panconv.testing import close


def by_hand(A, h):
    g = h / (1 + A.sum(1)).sqrt().unsqueeze(1)
    return sum(A[i, j] * (g[i] - g[j]).square().sum() for i in range(len(A)) for j in range(len(A))) / 2


@given(graphs(max_nodes=6, min_nodes=1))
def test_the_sum_over_all_pairs(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    h = torch.randn(graph.num_nodes, 2, 3)
    expected = torch.stack([torch.as_tensor(by_hand(graph.dense(), h[:, s].double())) for s in range(2)])
    close(dirichlet_energy(adj, h), expected)
    close(dirichlet_energy(adj, h[:, 1]), expected[1])
    close(dirichlet_energy(adj, h, relative=True), expected / h.double().square().sum((0, 2)))


def test_some_edges_at_a_time_and_no_features(monkeypatch):
    edges, h = torch.randint(0, 20, (2, 60)), torch.randn(20, 3)
    at_once = dirichlet_energy(edges, h)
    monkeypatch.setattr(dirichlet, "_AT_ONCE", 21)
    close(dirichlet_energy(edges, h), at_once)
    assert dirichlet_energy(edges, torch.zeros(20, 3), relative=True) == 0


def test_it_is_exact_where_all_is_nearly_smooth():
    edges = torch.tensor([[0, 1], [1, 0]])
    h = torch.tensor([[1.0], [1.0 + 1e-9]], dtype=torch.float64)
    close(dirichlet_energy(edges, h), (h[1, 0] - h[0, 0]) ** 2 / 2)


def test_smoothing_layers_lose_it():
    """Of a model without weights that keeps a share of nothing, layer by layer."""
    ring = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])
    edges = torch.cat([ring, ring.flip(0)], 1)
    model = PAN(3, 4, 2, 6, L=1, weights=[0.0, 1.0], residual={"kind": "input", "share": 0.0, "identity": 0.0})
    model.seed([0])
    x = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    energies = [float(dirichlet_energy(edges, h, relative=True)) for h in model.hidden(x, edges)]
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] < 0.5 * energies[0]
    assert model.training


@pytest.mark.parametrize("h", [torch.ones(3), None, torch.ones(2, 2), torch.ones(3, 2, dtype=torch.long)])
def test_what_are_no_features_is_refused(h):
    with pytest.raises((TypeError, ValueError), match=r"\w+ must|nodes"):
        dirichlet_energy(torch.tensor([[0, 1, 2], [1, 2, 0]]), h)
