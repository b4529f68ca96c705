"""The thermodynamics of a graph against enumeration, its identities, and the limits of the temperature."""

import math
from itertools import pairwise, product

import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_base, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, Boltzmann, EffectiveWalks, Fixed, PowerLaw, ShortestPaths, Walks, load
from panconv.testing import close


def law(L, alpha, T):
    return PowerLaw(L, alpha, torch.tensor(T, dtype=torch.float64))


@settings(max_examples=40)
@given(graphs(min_nodes=1, max_nodes=4, weighted=False), st.integers(0, 3), st.floats(1, 2), st.floats(0.3, 5))
def test_every_quantity_against_the_single_paths(graph, L, alpha, T):
    adj = Adjacency.from_edge_index(graph.edge_index, None, graph.num_nodes)
    A, N = graph.dense(), graph.num_nodes
    M = MET(Walks(adj, L), law(L, alpha, T), method=1)
    for i in range(N):
        walks = [s for n in range(L + 1) for s in product(range(N), repeat=n + 1) if s[0] == i]
        lengths = torch.tensor([float(len(s) - 1) for s in walks if all(A[a, b] for a, b in pairwise(s))]).double()
        factor = (-(lengths**alpha) / T).exp()
        p = factor / factor.sum()
        close(M.partition[i], factor.sum())
        close(M.mean_path_length[i], (p * lengths).sum())
        close(M.path_entropy[i], -(p * p.log()).sum())
        close(M.free_energy[i], -T * factor.sum().log())


@settings(max_examples=30)
@given(graphs(min_nodes=1, max_nodes=4, zeros=False), st.integers(0, 3), st.sampled_from(sorted(METHODS)))
def test_entropy_of_single_paths_on_every_base(graph, L, method):
    """−Σ p log p, where a path's probability is w times the product of the base's entries, by Z."""
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    B, N = dense_base(graph.dense(), METHODS[method].base), graph.num_nodes
    M = MET(Walks(adj, L), law(L, 1.0, 1.7), method)
    for i in range(N):
        walks = [s for n in range(L + 1) for s in product(range(N), repeat=n + 1) if s[0] == i]
        weights = [math.exp(-(len(s) - 1) / 1.7) * math.prod(float(B[a, b]) for a, b in pairwise(s)) for s in walks]
        p = torch.tensor([w for w in weights if w > 0], dtype=torch.float64)
        p = p / p.sum()
        close(M.path_entropy[i], -(p * p.log()).sum())


def test_formed_paths_have_an_entropy_where_they_weigh_alike():
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    S = MET(ShortestPaths(adj, 2), torch.ones(3, dtype=torch.float64), 1).path_entropy
    close(S.exp(), torch.tensor([4.0] * 4, dtype=torch.float64))  # a shortest path to every node of four
    with pytest.raises(ValueError, match="paths that weigh alike"):
        _ = MET(ShortestPaths(adj, 2), torch.ones(3), 7).path_entropy


def test_no_other_weights_of_the_paths_have_more_entropy_at_the_same_mean_energy():
    """Over the single paths to a node, p = exp(−E/T)/Z is the widest distribution of its mean energy (eq. 1)."""
    A, L, T = Adjacency.of(TRIANGLE_AND_TAIL).to_dense(torch.float64), 4, 1.3
    S = MET(Walks(TRIANGLE_AND_TAIL, L), law(L, 1.0, T), 1).path_entropy.detach()
    for i in range(4):
        paths = [s for n in range(L + 1) for s in product(range(4), repeat=n + 1) if s[0] == i]
        E = torch.tensor([float(len(s) - 1) for s in paths if all(A[a, b] for a, b in pairwise(s))]).double()
        p = (-E / T).exp() / (-E / T).exp().sum()
        most = -float((p * p.log()).sum())
        assert float(S[i]) == pytest.approx(most, rel=1e-9)
        fixed = torch.linalg.qr(torch.stack([torch.ones_like(E), E], 1))[0]  # Σp and ⟨E⟩ stay
        for _ in range(20):
            move = torch.randn_like(E)
            move = move - fixed @ (fixed.T @ move)
            q = p + move * 0.5 * float((p / move.abs()).min())
            assert float((q * E).sum()) == pytest.approx(float((p * E).sum()), rel=1e-9)
            assert -float((q * q.log()).sum()) < most


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_free_energy_is_energy_less_heat_and_its_slope_the_entropy(weighted, alpha):
    """F = ⟨E⟩ − TS and S = −∂F/∂T, on walks and on effective lengths."""
    w = torch.tensor([1.0, 1.0, 0.5, 0.5, 2.0, 2.0, 1.0, 1.0], dtype=torch.float64)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, w if weighted else None)
    family = EffectiveWalks(adj, 3) if weighted else Walks(adj, 3)
    T = torch.tensor(1.3, dtype=torch.float64)

    def free_energy(T):
        return MET(family, law(3, alpha, float(T)), 1).free_energy

    M = MET(family, law(3, alpha, 1.3), 1)
    close(M.free_energy, T * M.paths.mean_energy(M.weights, M.shares()) - T * M.path_entropy)
    step = 1e-5
    slope = (free_energy(T + step) - free_energy(T - step)) / (2 * step)
    torch.testing.assert_close(M.path_entropy, -slope, rtol=1e-6, atol=1e-6)


def test_long_paths_stay_finite_on_cora():
    data = load("cora")
    M = MET(Walks(data.edge_index, L=200), Boltzmann([0.0] * 201), method=2)
    for quantity in (M.log_partition, M.mean_path_length, M.path_entropy, M.free_energy):
        assert quantity.shape == (2708,)
        assert bool(quantity.isfinite().all())
    # All paths weigh alike, so the entropy is that of a uniform choice among Z paths.
    torch.testing.assert_close(M.path_entropy, M.log_partition)


def test_trials_have_a_column_each():
    walks = Walks(TRIANGLE_AND_TAIL, 2)
    both = MET(walks, PowerLaw(2, 1.0, [0.5, 2.0]), 1)
    for s, T in enumerate([0.5, 2.0]):
        one = MET(walks, PowerLaw(2, 1.0, T), 1)
        for name in ("mean_path_length", "path_entropy", "free_energy"):
            torch.testing.assert_close(getattr(both, name)[:, s], getattr(one, name))


def test_negative_weights_have_no_entropy():
    with pytest.raises(ValueError, match="not negative"):
        _ = MET(Walks(TRIANGLE_AND_TAIL, 1), Fixed([2.0, -0.1]), 1).path_entropy


# ---------------------------------------------------------------------- the limits of the temperature

connected = nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=1)
EDGES = torch.tensor([*connected.edges, *[(b, a) for a, b in connected.edges]]).T
ADJ = Adjacency.of(EDGES)


@pytest.mark.parametrize("method", METHODS)
def test_a_cold_operator_is_the_identity(method):
    """T → 0: only the path of length 0 is left, an MLP."""
    for T in (1e-2, 1e-30):
        for family in (Walks(ADJ, 4), *([EffectiveWalks(ADJ, 4)] if method in (1, 2) else [])):
            close(MET(family, law(4, 1.0, T), method).to_dense(torch.float64), torch.eye(12, dtype=torch.float64))


def limits(adj):
    """What the operators tend to for T → ∞ and L → ∞ (docs/temperature.md), from dense eigenvectors."""
    A = adj.to_dense(torch.float64)
    psi = torch.linalg.eigh(A)[1][:, -1].abs()
    v = (A.sum(1) + 1).sqrt()
    d = A.sum(1)
    rows, ones = psi / psi.sum(), torch.ones(len(A), dtype=torch.float64)
    roots = psi.sqrt() / psi.sum().sqrt()
    return {
        1: torch.outer(ones, rows),
        2: torch.outer(roots, roots),
        3: torch.outer(ones, rows),
        4: torch.outer(ones, rows),
        5: torch.outer(v, v) / v.square().sum(),
        6: torch.outer(roots, roots),
        7: torch.outer(ones, v / v.sum()),
        8: torch.outer(ones, d / d.sum()),
        9: torch.outer(d.sqrt(), d.sqrt()) / d.sum(),
        10: torch.outer(ones, d.sqrt() / d.sqrt().sum()),
        11: torch.outer(ones, d / d.sum()),
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_hot_operator_of_long_paths_is_of_rank_one(method):
    """1 and 2 come there exponentially; where every length counts alike (all others), the error falls like 1/L."""

    def error(L):
        w = torch.ones(L + 1, dtype=torch.float64) / (1 if METHODS[method].overall else L + 1)
        return float((MET(Walks(ADJ, L), w, method).to_dense(torch.float64) - limits(ADJ)[method]).abs().max())

    if method in (1, 2):
        assert error(60) < 1e-6
        assert error(30) < 1e-2 * error(15)
    else:
        L = 100 if method == 6 else 200  # of method 6 the number of products grows like L²
        assert error(2 * L) == pytest.approx(error(L) / 2, rel=0.05)


def test_method_5_diverges_where_its_weights_do_not_add_up_to_one():
    for L in (50, 100):
        M = MET(Walks(ADJ, L), torch.ones(L + 1, dtype=torch.float64), 5).to_dense(torch.float64)
        assert torch.linalg.eigvalsh(M)[-1] == pytest.approx(L + 1)


def test_on_a_bipartite_graph_the_parity_of_the_length_stays():
    """The square: walks of odd length change sides, so A⁻ⁿ·Aⁿ has no limit, but Â and A+I forget the side."""
    square = Adjacency.of(torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]]))
    flat = torch.full((4, 4), 0.25, dtype=torch.float64)

    def hot(method, L):
        return MET(Walks(square, L), torch.eye(L + 1, dtype=torch.float64)[L], method).to_dense(torch.float64)

    assert float((hot(3, 60) - hot(3, 61)).abs().min()) == 0.5
    ones = [torch.ones(L + 1, dtype=torch.float64) for L in (60, 61)]
    even, odd = (MET(Walks(square, len(w) - 1), w, 1).to_dense(torch.float64) for w in ones)
    assert float((even - odd).abs().min()) > 0.1
    assert [int(torch.linalg.matrix_rank(M, rtol=1e-9)) for M in (even, odd)] == [2, 2]
    assert float((hot(4, 60) - flat).abs().max()) < 1e-12
    assert float((hot(5, 60) - flat).abs().max()) < 1e-12


@given(graphs(min_nodes=1), st.sampled_from([1.0, 2.0]))
def test_the_hotter_the_further(graph, alpha):
    """∂⟨n⟩/∂T is the covariance of n and E(n) over T², of two that grow together: the mean path length never falls."""
    walks = Walks(Adjacency.of(graph.edge_index, None, graph.num_nodes), L=4)
    lengths = [MET(walks, PowerLaw(4, alpha, T), 1).mean_path_length for T in (0.2, 0.7, 2.0, 9.0)]
    assert all(bool((cold <= hot + 1e-9).all()) for cold, hot in pairwise(lengths))
    reached = walks.counts().value[1:].any(0)
    assert bool((lengths[0] < lengths[-1])[reached].all())
