"""Effective length: against the enumeration of every walk with its own length."""

import math
from itertools import pairwise, product

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, Adjacency, Boltzmann, EffectiveWalks, PANConv, PowerLaw, Walks
from panconv.testing import assert_gradients, assert_operator, close


def law(L, alpha, T, **options):
    return PowerLaw(L, alpha, torch.tensor(T, dtype=torch.float64), **options)


def enumerated(A, L, alpha, T):
    """Every walk by itself: the sums of exp(−l^α/T), and of l times it."""
    N = len(A)
    S, l_S = torch.zeros_like(A), torch.zeros_like(A)
    for n in range(L + 1):
        for walk in product(range(N), repeat=n + 1):
            steps = [float(A[i, j]) for i, j in pairwise(walk)]
            if all(steps):
                length = sum(1 / w for w in steps)
                factor = torch.tensor(-(length**alpha) / T, dtype=torch.float64).exp()
                S[walk[0], walk[-1]] += factor
                l_S[walk[0], walk[-1]] += length * factor
    return S, l_S


weighted = graphs(max_nodes=4, weighted=True, zeros=False)
laws = st.tuples(st.sampled_from([1.0, 1.5, 2.0]), st.floats(0.3, 5))


@settings(max_examples=60)
@given(weighted, st.integers(0, 3), laws, st.sampled_from([1, 2]))
def test_every_walk_counts_with_its_own_length(graph, L, law_of, method):
    alpha, T = law_of
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    S, l_S = enumerated(graph.dense(), L, alpha, T)
    Z = S.sum(1)
    M = MET(EffectiveWalks(adj, L), law(L, alpha, T), method)
    power = 1.0 if method == 1 else 0.5
    expected = Z[:, None] ** -power * S * (1 if method == 1 else Z[None, :] ** -0.5)
    torch.testing.assert_close(M.to_dense(torch.float64), expected, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(M.partition, Z, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(M.mean_path_length, l_S.sum(1) / Z, rtol=1e-6, atol=1e-9)


@settings(max_examples=15)
@given(weighted, st.integers(0, 2), st.sampled_from([1.0, 2.0]))
def test_the_laws_of_an_operator(graph, L, alpha):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    assert_operator(MET(EffectiveWalks(adj, L), law(L, alpha, 1.5, trained=False), 1))


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_on_an_unweighted_graph_lengths_are_steps(alpha):
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    close(
        MET(EffectiveWalks(adj, 3), law(3, alpha, 2.0), 2).to_dense(torch.float64),
        MET(Walks(adj, 3), law(3, alpha, 2.0), 2).to_dense(torch.float64),
    )


def test_gradients_to_the_temperature_and_to_the_weights():
    weight = (torch.rand(8, dtype=torch.float64) + 0.5).requires_grad_()
    x = torch.randn(4, 2, dtype=torch.float64)
    cold = law(3, 1.0, 0.7)
    for method in (1, 2):

        def apply(method=method):
            adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight)
            return MET(EffectiveWalks(adj, 3), cold, method) @ x

        assert_gradients(apply, weight, cold.log_temperature)
    steep = law(3, 2.0, 0.7)
    fixed = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight.detach())
    assert_gradients(lambda: MET(EffectiveWalks(fixed, 3, width=0.25), steep, 1) @ x, steep.log_temperature)


@pytest.mark.parametrize("method", [1, 2])
def test_a_trained_exponent(method):
    """From α = 1 too, where the walks of a fixed one are those on another graph."""
    weight, x = torch.rand(8, dtype=torch.float64) + 0.5, torch.rand(4, 2, dtype=torch.float64)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight)
    for alpha in (1.0, 1.5):
        trained = law(3, alpha, 0.7, trained="both")
        M, fixed = (MET(EffectiveWalks(adj, 3), each, method) for each in (trained, law(3, alpha, 0.7)))
        for name in ("partition", "mean_path_length", "path_entropy", "free_energy"):
            close(getattr(M, name).detach(), getattr(fixed, name).detach())
        assert_gradients(lambda M=M: M @ x, trained.log_temperature, trained.log_alpha)
    tracked = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight.requires_grad_())
    with pytest.raises(ValueError, match="where alpha > 1 or is trained"):
        _ = MET(EffectiveWalks(tracked, 3), law(3, 1.0, 0.7, trained="alpha"), method) @ x


@settings(max_examples=60)
@given(weighted, st.integers(1, 3), st.floats(0.01, 0.4), st.floats(0.5, 4), st.sampled_from([2.0, 1.0, 0.5]))
def test_the_grid_is_within_its_bound(graph, L, width, T, alpha):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    walks, power = EffectiveWalks(adj, L, width=width), law(L, max(alpha, 1.0), T, trained="both")
    power.log_alpha.data.fill_(math.log(alpha))  # as training may leave it
    exact = MET(EffectiveWalks(adj, L), power, 1).to_dense(torch.float64)
    bound = float(walks.error_bound(power))
    on_grid = MET(walks, power, 1).to_dense(torch.float64)
    joined = exact > 0
    assert bool((on_grid[~joined] == 0).all())
    assert bool(((on_grid[joined] / exact[joined]).log().abs() <= 2 * bound + 1e-9).all())
    assert bound > 0  # and it shrinks with the width
    assert float(EffectiveWalks(adj, L, width=width / 4).error_bound(power)) < bound


def test_too_many_lengths_ask_for_a_grid():
    torch.manual_seed(0)
    edges = torch.randint(0, 60, (2, 400))
    adj = Adjacency.from_edge_index(edges, torch.rand(400) + 0.5)
    with pytest.raises(ValueError, match=r"more than 2048 distinct effective lengths, .* counts: set width, such as"):
        _ = MET(EffectiveWalks(adj, 3), PowerLaw(3, 2.0), 1).partition
    assert bool((MET(EffectiveWalks(adj, 3, width=0.1), PowerLaw(3, 2.0), 1).partition >= 1).all())
    with pytest.raises(ValueError, match="raise width, now 1e-05"):
        _ = MET(EffectiveWalks(adj, 3, width=1e-5), PowerLaw(3, 2.0), 1).partition


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_weights_that_are_no_lengths(bad):
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.tensor([1.0] * 7 + [bad]))
    with pytest.raises(ValueError, match=f"edge_weight must be positive where it stands for a length 1/w, got {bad:g}"):
        EffectiveWalks(adj, 2)


def test_what_has_no_meaning_is_refused():
    walks = EffectiveWalks(Adjacency.of(TRIANGLE_AND_TAIL), 2)
    with pytest.raises(ValueError, match="use method 1 or 2"):
        MET(walks, method=5)
    with pytest.raises(ValueError, match="effective lengths need a law for every length, PowerLaw"):
        _ = MET(walks, Boltzmann([0.0, 0.0, 0.0]), method=1).partition
    with pytest.raises(ValueError, match="one temperature at a time"):
        _ = MET(walks, PowerLaw(2, temperature=[1.0, 2.0]), method=1).partition
    with pytest.raises(ValueError, match="width must be positive"):
        EffectiveWalks(Adjacency.of(TRIANGLE_AND_TAIL), 2, width=0.0)


def test_the_layer_takes_it_and_trains_the_temperature():
    conv = PANConv(3, 2, L=2, method=1, paths="effective")
    assert isinstance(conv.weights, PowerLaw)
    weight = torch.rand(8) + 0.5
    conv(torch.randn(4, 3), TRIANGLE_AND_TAIL, weight).sum().backward()
    assert float(conv.weights.log_temperature.grad.abs()) > 0
    conv(torch.randn(4, 3), TRIANGLE_AND_TAIL, weight).sum().backward()  # a second step


def test_long_walks_do_not_underflow():
    """100 steps of length 10 at T = 1: factors of e^−1000, which only logarithms hold."""
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.full((8,), 0.1, dtype=torch.float64))
    M = MET(EffectiveWalks(adj, 100), law(100, 1.0, 1.0), 1)
    assert not M.paths.summands(M.weights)[0].counts().held_by(torch.float32)
    close(M.to_dense(torch.float64).sum(1), torch.ones(4, dtype=torch.float64))


def test_one_very_weak_edge_does_not_spoil_the_others():
    w = torch.tensor([1, 1, 1e-10, 1e-10], dtype=torch.float64)
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), w)
    Z = MET(EffectiveWalks(adj, 2), law(2, 2.0, 1.0), 1).partition
    close(Z[:2], torch.tensor([1 + math.exp(-1) + math.exp(-4)] * 2, dtype=torch.float64))


def test_thermodynamics_of_long_walks():
    """A triangle: 2ⁿ walks of n steps, each of length n, so everything has a closed form."""
    triangle = Adjacency.of(torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]))
    for L in (10, 3000):
        exact = MET(Walks(triangle, L), law(L, 1.0, 100.0), 1)
        found = MET(EffectiveWalks(triangle, L), law(L, 1.0, 100.0), 1)
        for name in ("log_partition", "mean_path_length", "path_entropy", "free_energy"):
            torch.testing.assert_close(getattr(found, name), getattr(exact, name), rtol=1e-9, atol=1e-9)


def test_counts_beyond_float32_by_levels():
    ten = torch.combinations(torch.arange(10)).T
    adj = Adjacency.of(torch.cat([ten, ten.flip(0)], 1))
    for L in (5, 40):
        M = MET(EffectiveWalks(adj, L), law(L, 2.0, 100.0), 1)
        close(M.to_dense(torch.float64), MET(Walks(adj, L), law(L, 2.0, 100.0), 1).to_dense(torch.float64))
    assert_operator(MET(EffectiveWalks(adj, 40), law(40, 2.0, 100.0, trained=False), 1))
    with pytest.raises(ValueError, match="L = 400 is too long to count the walks by effective length"):
        _ = MET(EffectiveWalks(adj, 400), law(400, 2.0, 1e6), 1).log_partition


def test_what_a_layer_refuses_when_it_is_made():
    with pytest.raises(ValueError, match="one temperature at a time"):
        PANConv(4, 3, method=1, paths="effective", trials=3)
    with pytest.raises(ValueError, match="effective lengths do not tell apart"):
        PANConv(4, 3, method=1, paths="effective", concat=True)
    weight = (torch.rand(8) + 0.5).requires_grad_()
    steep = PANConv(4, 3, method=1, paths="effective", weights=PowerLaw(2, 2.0))
    with pytest.raises(ValueError, match="have none where alpha > 1"):
        steep(torch.randn(4, 4), TRIANGLE_AND_TAIL, weight)


def test_under_compile():
    conv = PANConv(4, 3, L=2, method=1, paths="effective")
    adj, x = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.rand(8) + 0.5), torch.randn(4, 4)
    torch.testing.assert_close(torch.compile(conv, fullgraph=True, backend="aot_eager")(x, adj), conv(x, adj))
