import importlib

import pytest
import torch
from graphs import graphs, undirected
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.utils import erdos_renyi_graph

from panconv import MET, METHODS, Adjacency, Boltzmann, Fixed, Walks
from panconv.met import columns as blocks
from panconv.spectral import HighTemperature, Laplacian, diagonal
from panconv.testing import assert_gradients, close

room = importlib.import_module("panconv.spectral.diagonal")
TWO = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])  # two components, 0–1 and 2–3–4


@settings(max_examples=15)
@given(graphs(), st.sampled_from(sorted(METHODS)), st.integers(0, 3))
def test_exact_is_the_dense_diagonal(graph, method, L):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    M = MET(Walks(adj, L), torch.rand(L + 1, dtype=torch.float64) + 0.1, method)
    for operator in (M, M.T):
        for how in ("exact", "auto"):
            value, error = diagonal(operator, how)
            close(value, M.to_dense(torch.float64).diagonal())
            assert not bool(error.any())


@settings(max_examples=10)
@given(graphs(min_nodes=1).map(undirected))
def test_any_operator(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    dense = torch.randn(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    for M in (Laplacian(adj), HighTemperature(adj), dense, dense.to_sparse()):
        expected = (M if isinstance(M, torch.Tensor) else M.to_dense(torch.float64)).to_dense().diagonal()
        close(diagonal(M, "exact").value, expected)
        value, error = diagonal(M, "hutchinson", probes=200)
        assert bool(((value - expected).abs() <= 6 * error + 1e-9).all())


def test_many_columns_are_taken_some_at_a_time(monkeypatch):
    M, widths = MET(Walks(TWO, 2), [1.0, 1.0, 1.0], 2), []
    monkeypatch.setattr(blocks, "_BLOCK", 2 * 5 * 3)
    found = blocks.columns

    def watched(*args):
        for block in found(*args):
            widths.append(block.unit.size(1))
            yield block

    monkeypatch.setattr("panconv.met.entries.columns", watched)
    close(diagonal(M, "exact").value, M.to_dense(torch.float64).diagonal())
    assert widths == [2, 1]


@pytest.mark.parametrize("method", [1, 5])
def test_the_error_of_an_estimate_is_what_it_says(method):
    adj = Adjacency.from_edge_index(erdos_renyi_graph(800, 0.005), num_nodes=800)
    M = MET(Walks(adj, 2), [1.0, 0.5, 0.5], method)
    exact, dense = diagonal(M, "exact").value, M.to_dense(torch.float64)
    others = dense - torch.diag(exact)
    found = [diagonal(M, "hutchinson", probes=64, seed=seed) for seed in range(4)]
    for value, error in found:
        known = error > 0
        assert bool((value == exact)[~known].all() or (value - exact)[~known].abs().max() < 1e-15)
        away = ((value - exact) / error)[known]
        assert 0.9 < float(away.square().mean()) < 1.15  # 1, and (P − 1)/(P − 3) were they normal
        assert float((away.abs() < 2).double().mean()) == pytest.approx(0.95, abs=0.02)
        # The variance in closed form, Σ_{j≠i} Mᵢⱼ²/P.
        torch.testing.assert_close(error.square().sum(), others.square().sum() / 64, rtol=0.05, atol=0)
    mean = torch.stack([value for value, _ in found]).mean(0)
    assert float((mean - exact).norm()) < 0.6 * float((found[0].value - exact).norm())  # ½ by four times the signs


def test_signs_are_those_of_the_seed_in_blocks_too(monkeypatch):
    M = MET(Walks(TWO, 2), [1.0, 1.0, 1.0], 1)
    first = diagonal(M, "hutchinson", probes=50, seed=3)
    assert not torch.equal(first.value, diagonal(M, "hutchinson", probes=50, seed=4).value)
    monkeypatch.setattr(room, "_AT_ONCE", 5 * 7)
    for a, b in zip(first, diagonal(M, "hutchinson", probes=50, seed=3), strict=True):
        close(a, b)


def test_an_isolated_node_has_no_error():
    M = MET(Walks(Adjacency.from_edge_index(TWO, num_nodes=7), 2), [1.0, 1.0, 1.0], 2)
    value, error = diagonal(M, "hutchinson")
    assert value[5:].tolist() == [1, 1]
    assert error[5:].tolist() == [0, 0]
    assert bool((error[:5] > 0).all())


@pytest.mark.parametrize("how", ["auto", "exact", "hutchinson"])
def test_a_graph_is_the_same_alone_and_in_a_batch(how, monkeypatch):
    monkeypatch.setattr(room, "LARGEST", 3)
    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    small, large = TWO, torch.cat([ring, ring.flip(0)], 1)
    edges = torch.cat([small, large + 5, small + 11], 1)
    batch = torch.tensor([0] * 5 + [1] * 6 + [2] * 5)
    together = diagonal(MET(Walks(edges, 2), None, 2), how)
    alone = [diagonal(MET(Walks(graph, 2), None, 2), how) for graph in (small, large, small)]
    for a, *parts in zip(together, *alone, strict=True):
        close(a, torch.cat(parts))
    assert bool((together.error[5:11] > 0).all()) == (how != "exact")
    assert bool((together.error[:5] > 0).all()) == (how == "hutchinson")
    for a, b in zip(together, diagonal(MET(Walks(edges, 2), None, 2), how, groups=batch), strict=True):
        close(a, b)


def test_groups_that_are_known_save_a_look(monkeypatch):
    M = MET(Walks(TWO, 2), None, 2)
    expected = diagonal(M).value
    monkeypatch.setattr(MET, "components", property(lambda self: pytest.fail("looked for")))
    close(diagonal(M, groups=torch.tensor([0, 0, 4, 4, 4])).value, expected)


def test_trials():
    w = torch.rand(3, 2, dtype=torch.float64)
    M = MET(Walks(TWO, 2), Fixed(w), 2)
    for how in ("exact", "hutchinson"):
        found = diagonal(M, how)
        for s in range(2):
            alone = diagonal(MET(Walks(TWO, 2), w[:, s], 2), how)
            close(found.value[:, s], alone.value)
            close(found.error[:, s], alone.error)


@pytest.mark.parametrize("how", ["exact", "hutchinson"])
@pytest.mark.parametrize("method", [1, 2, 7])
def test_gradients(how, method):
    weights = Boltzmann(torch.rand(3, dtype=torch.float64))
    value = torch.rand(6, dtype=torch.float64) + 0.5

    def found():
        return diagonal(MET(Walks(Adjacency.from_edge_index(TWO, value), 2), weights, method), how, probes=8).value

    assert_gradients(found, weights.energies)
    value.requires_grad_()
    assert_gradients(found, value)
    assert not diagonal(MET(Walks(TWO, 2), weights, method), how).error.requires_grad


def test_no_nodes():
    for how in ("auto", "exact", "hutchinson"):
        value, error = diagonal(MET(Walks(torch.empty(2, 0, dtype=torch.long), 2), None, 5), how)
        assert value.shape == error.shape == (0,)


def test_bad_input():
    M = MET(Walks(TWO, 2), None, 5)
    with pytest.raises(ValueError, match=r"how must be one of auto, exact, hutchinson, got 'exakt': did you mean"):
        diagonal(M, "exakt")
    with pytest.raises(ValueError, match="probes must be an integer of at least 2"):
        diagonal(M, probes=1)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0"):
        diagonal(M, seed=-1)
    with pytest.raises(ValueError, match=r"groups must have shape \(5,\)"):
        diagonal(M, groups=torch.zeros(4, dtype=torch.long))
    with pytest.raises(TypeError, match="M must be an operator"):
        diagonal([1.0])
