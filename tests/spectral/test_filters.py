"""M as a filter of frequencies: against projections of a dense solver, closed forms on regular graphs, and itself."""

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.utils import erdos_renyi_graph
from undirected import undirected, undirected_edges

from panconv import MET, METHODS, Adjacency, Walks
from panconv.spectral import band_response, filters, modes, response
from panconv.spectral.filters import Response
from panconv.testing import close

WEIGHTS = [0.5, 1.0, 0.7]


def normalised(A):
    """D^−½AD^−½, with 1 on the diagonal of a node without edges, entry by entry."""
    degree, S = A.sum(1), np.zeros(A.shape)
    for i, j in np.ndindex(*A.shape):
        if degree[i] > 0 and degree[j] > 0:
            S[i, j] = A[i, j] / np.sqrt(degree[i] * degree[j])
    return S + np.diag((degree == 0).astype(float))


@settings(max_examples=25)
@given(undirected(max_nodes=6), st.sampled_from(sorted(METHODS)))
def test_gain_and_leakage_by_projections(graph, method):
    """tr PM/m and ‖MP − ḡP‖/√m with P the projection onto an eigenspace, which no choice of basis changes."""
    M = MET(Walks(graph.adjacency(), 2), torch.tensor(WEIGHTS, dtype=torch.float64), method)
    found = response(M, modes(graph.adjacency()))
    assert int(found.states.sum()) == graph.num_nodes
    if not graph.num_nodes:
        return
    values, vectors = np.linalg.eigh(normalised(graph.dense().numpy()))
    dense = M.to_dense(torch.float64).numpy()
    for frequency, states, gain, leakage in zip(*(part.tolist() for part in found), strict=True):
        U = vectors[:, abs(1 - values - frequency) < 1e-6]
        assert U.shape[1] == states
        P = U @ U.T
        assert gain == pytest.approx(np.trace(P @ dense) / states, abs=1e-9)
        assert leakage == pytest.approx(np.linalg.norm(dense @ P - gain * P) / np.sqrt(states), abs=1e-7)


def test_one_state_by_its_definition():
    """uᵀMu and ‖Mu − u(uᵀMu)‖ where every frequency occurs once."""
    adj = Adjacency.of(undirected_edges(nx.path_graph(6)))
    basis, M = modes(adj), MET(Walks(adj, 2), WEIGHTS, 1)
    found = response(M, basis)
    for i, u in enumerate(basis.vectors.T):
        Mu = M @ u
        close(found.gain[i], u @ Mu)
        close(found.leakage[i], (Mu - u * (u @ Mu)).norm())
    assert float(found.leakage.max()) > 0.05  # M has eigenvectors of its own


@pytest.mark.parametrize("graph", [nx.petersen_graph(), nx.cycle_graph(8), nx.hypercube_graph(3)])
@pytest.mark.parametrize("method", METHODS)
def test_on_a_regular_graph_it_is_a_polynomial_and_nothing_leaks(graph, method):
    edges = undirected_edges(nx.convert_node_labels_to_integers(graph))
    d, w = dict(graph.degree)[next(iter(graph))], torch.tensor(WEIGHTS, dtype=torch.float64)
    found, n = response(MET(Walks(edges, 2), w, method), modes(edges)), torch.arange(3)
    x = 1 - found.frequency.unsqueeze(1)  # of D⁻¹A
    loops = METHODS[method].base in ("A+I", "Â")
    x, grow = ((d * x + 1) / (d + 1), d + 1) if loops else (x, d)
    counted = w * float(grow) ** n if METHODS[method].base == "A" and METHODS[method].overall else w
    total = counted.sum() if METHODS[method].overall else 1.0
    close(found.gain, (counted * x**n).sum(1) / total)
    assert float(found.leakage.max()) < 1e-7


@settings(max_examples=20)
@given(undirected(min_nodes=1, max_nodes=6), st.lists(st.floats(0.01, 2), min_size=3, max_size=3))
def test_weights_that_are_not_negative_never_pass_more_than_the_positive_state(graph, weights):
    """√Z of method 2 comes out as it went in, and no gain is above 1: Boltzmann factors make no high-pass filter."""
    M = MET(Walks(graph.adjacency(), 2), torch.tensor(weights, dtype=torch.float64), 2)
    root = M.partition.sqrt()
    close(M @ root, root)
    assert float(response(M, modes(graph.adjacency())).gain.abs().max()) <= 1 + 1e-9


def test_a_negative_weight_does():
    ring = undirected_edges(nx.cycle_graph(9))
    found = response(MET(Walks(ring, 1), [1.0, -1.0], 3), modes(ring))  # I − D⁻¹A
    close(found.gain, found.frequency)


def test_bands_by_random_vectors_are_those_of_all_states():
    N = 500
    adj = Adjacency.from_edge_index(erdos_renyi_graph(N, 6 / N), num_nodes=N)
    for method in (1, 2):
        M = MET(Walks(adj, 2), WEIGHTS, method)
        exact, found = response(M, modes(adj)).in_bands(9), band_response(M, adj, bands=9, starts=32)
        assert float(found.states.sum()) == pytest.approx(N, abs=0.5)  # zᵀz = N, less what is blurred into empty bands
        many = exact.states > 10
        torch.testing.assert_close(found.states[many], exact.states[many], rtol=0.15, atol=3)
        torch.testing.assert_close(found.gain[many], exact.gain[many], rtol=0.05, atol=0.01)
        torch.testing.assert_close(found.leakage[many], exact.leakage[many], rtol=0.15, atol=0.015)
    again = band_response(M, adj, bands=9, starts=32)
    assert torch.equal(found.gain.nan_to_num(), again.gain.nan_to_num())
    assert not torch.equal(found.gain, band_response(M, adj, bands=9, starts=32, seed=1).gain)


def test_bands_of_bands_are_bands():
    adj = Adjacency.of(undirected_edges(nx.karate_club_graph()))
    found = response(MET(Walks(adj, 2), WEIGHTS, 2), modes(adj))
    for one, other in zip(found.in_bands(25).in_bands(5), found.in_bands(5), strict=True):
        close(one, other)
    whole = found.in_bands(1)
    close(whole.gain, MET(Walks(adj, 2), WEIGHTS, 2).to_dense(torch.float64).trace().reshape(1) / 34)
    empty = Response(*(torch.tensor([value], dtype=torch.float64) for value in (0.0, 3.0, 0.5, 0.1))).in_bands(2)
    assert empty.states.tolist() == [3, 0]
    assert bool(empty.gain[1].isnan())


def test_bad_input(monkeypatch):
    M, basis = MET(Walks(TRIANGLE_AND_TAIL, 1), [1.0, 1.0], 2), modes(TRIANGLE_AND_TAIL)
    with pytest.raises(TypeError, match=r"basis must be the modes of a graph, modes\(adj\), got Tensor"):
        response(M, TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match=r"M must be an operator on the graph's 4 nodes, got shape \(3, 3\)"):
        response(torch.eye(3), basis)
    with pytest.raises(ValueError, match="is directed"):
        band_response(torch.eye(2), torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="bands must be an integer of at least 1, got 0"):
        band_response(M, TRIANGLE_AND_TAIL, bands=0)
    monkeypatch.setattr(filters, "EXACT", 3)
    with pytest.raises(ValueError, match="adj has 4 nodes, and all eigenvectors are found of at most 3: use band_resp"):
        modes(TRIANGLE_AND_TAIL)
