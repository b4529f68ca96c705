"""The bound on what a cutoff leaves out, against sums of hundreds of terms."""

import math

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from hypothesis import given, settings
from hypothesis import strategies as st
from undirected import components, dense_perron, undirected

from panconv import MET, METHODS, Adjacency, Boltzmann, PowerLaw, ShortestPaths, Walks, load
from panconv.spectral import cutoff, sufficient_length
from panconv.testing import close

LONG = 300
DIRECTED = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 1]])


def long_shares(B, alpha, T, last=LONG):
    """What the paths beyond L have of Z summed up to `last`, (last + 1, N), by wₙDₙ = (wₙ/wₙ₋₁) B wₙ₋₁Dₙ₋₁."""
    terms = [torch.ones(len(B), dtype=torch.float64)]
    for n in range(1, last + 1):
        terms.append(math.exp(((n - 1) ** alpha - n**alpha) / T) * (B @ terms[-1]))
    beyond = torch.stack(terms).flip(0).cumsum(0).flip(0)  # from n on
    return torch.cat([beyond[1:], torch.zeros_like(beyond[:1])]) / beyond[0]


def operator(adj, L, alpha, T, method):
    return MET(Walks(adj, L), PowerLaw(L, alpha, T), method)


@settings(max_examples=20)
@given(undirected(min_nodes=1), st.integers(0, 5), st.sampled_from([1.0, 1.3, 2.0]), st.sampled_from([0.3, 0.6, 0.9]))
def test_the_tail_lies_between_the_bounds_and_they_between_a_known_factor(graph, L, alpha, heat):
    A = graph.dense()
    psi, value = dense_perron(A)
    for method in (1, 7, 10, 11):
        B = graph.adjacency().base(METHODS[method].base).to_dense(torch.float64)
        log_growth = max(float(value.max().clamp(min=1e-9).log()), 0.1) if method == 1 else 0.3
        T = heat / log_growth
        found = cutoff(operator(graph.adjacency(), L, alpha, T, method))
        truth = float(long_shares(B, alpha, T)[L].max())
        assert found.least * (1 - 1e-9) - 1e-12 <= truth <= found.bound * (1 + 1e-9) + 1e-12
        if method == 1 and truth > 1e-9:
            # D_L/ψ at most over at least: what a count can be more than the least that it could be.
            ratio = torch.linalg.matrix_power(A, L).sum(1) / psi
            apart = max(float(ratio[c].max() / ratio[c].min()) for c in components(A) if len(c) > 1 or value[c[0]] > 0)
            assert found.bound / (1 - found.bound) <= 1.0001 * apart * truth / (1 - truth)


@settings(max_examples=6)
@given(undirected(min_nodes=1, edges=True), st.sampled_from([1.0, 2.0]), st.sampled_from([0.1, 1e-4]))
def test_the_smallest_length_for_a_tolerance(graph, alpha, tolerance):
    A = graph.dense()
    T = 0.8 / max(float(dense_perron(A)[1].max().log()), 0.1)
    L = sufficient_length(operator(graph.adjacency(), 0, alpha, T, 1), tolerance)
    assert cutoff(operator(graph.adjacency(), L, alpha, T, 1)).bound <= tolerance
    assert L == 0 or cutoff(operator(graph.adjacency(), L - 1, alpha, T, 1)).bound > tolerance
    assert float(long_shares(A, alpha, T)[L].max()) <= tolerance


@settings(max_examples=15)
@given(undirected(min_nodes=1, max_nodes=5, edges=True), st.integers(0, 3), st.sampled_from([3, 4, 5, 6, 8, 9]))
def test_without_z_the_norm_of_what_is_left_out(graph, L, method):
    found = cutoff(operator(graph.adjacency(), L, 1.0, 3.0, method))
    w = torch.exp(-torch.arange(91, dtype=torch.float64) / 3.0)
    w[: L + 1] = 0
    rest = MET(Walks(graph.adjacency(), 90), w, method).to_dense(torch.float64)
    norm = rest.abs().sum(1).max() if method in (3, 4, 8) else torch.linalg.matrix_norm(rest, 2)
    close(torch.tensor(found.bound), torch.tensor(math.exp(-(L + 1) / 3) / (1 - math.exp(-1 / 3))))
    assert found.least <= float(norm) * (1 + 1e-9)
    assert float(norm) <= found.bound * (1 + 1e-9)
    assert (found.least == 0) == (method == 6)
    assert found.of == ("in the row sums of M" if method in (3, 4, 8) else "in the norm of M")


@pytest.mark.parametrize("L", [0, 1, 3])
def test_what_a_share_of_z_means_for_m(L):
    adj, T = Adjacency.of(TRIANGLE_AND_TAIL), 0.9
    for method, times, norm in (
        (1, 2, lambda M: M.abs().sum(1).max()),
        (7, 2, lambda M: M.abs().sum(1).max()),
        (2, 3, lambda M: torch.linalg.matrix_norm(M, 2)),
    ):
        apart, whole = (operator(adj, n, 1.0, T, method).to_dense(torch.float64).detach() for n in (L, LONG))
        moved, t = float(norm(apart - whole)), cutoff(operator(adj, L, 1.0, T, method)).bound
        assert 0.05 * t < moved <= times * t


@pytest.mark.parametrize("method", [1, 7, 10])  # method 11 has them equal from the start
def test_once_the_counts_follow_the_perron_vector_the_bounds_meet(method):
    short, long = (cutoff(operator(Adjacency.of(TRIANGLE_AND_TAIL), L, 1.0, 1.2, method)) for L in (2, 60))
    assert short.bound / short.least > 1.001
    assert 1 <= long.bound / long.least < 1 + 1e-6
    assert long.prefactor == "Perron"


def test_cora_by_sums_of_hundreds_of_lengths():
    """The bound is at most 16 times too large, and right to a tenth once L has seen the whole graph."""
    data = load("cora", sparse=True)
    adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
    truth = long_shares(adj.to_dense(torch.float64).to_sparse_csr(), 1.0, 0.3, 300).amax(1)
    for L, factor in ((5, 16), (15, 16), (40, 1.1)):
        found = cutoff(operator(adj, L, 1.0, 0.3, 1))
        assert found.growth == pytest.approx(14.3909, rel=1e-5)
        assert found.least <= float(truth[L]) <= found.bound <= factor * float(truth[L])
    enough = sufficient_length(operator(adj, 5, 1.0, 0.3, 1))
    exact = int((truth > 1e-3).sum())
    assert exact <= enough <= exact + 4


def test_each_component_has_a_growth_of_its_own():
    # A triangle (λ = 2), a pair (λ = 1), a node alone: where the triangle is too hot, nothing is said of the whole.
    edges = torch.tensor([[0, 1, 1, 2, 2, 0, 3, 4], [1, 0, 2, 1, 0, 2, 4, 3]])
    adj = Adjacency.from_edge_index(edges, num_nodes=6)
    q = 2 * math.exp(-1 / 1.2)
    assert cutoff(operator(adj, 3, 1.0, 1.2, 1)).bound == pytest.approx(q**4, rel=1e-9)
    with pytest.raises(ValueError, match=r"T = 1.5 it needs T < 1/ln λ₁ = 1.443, as λ₁ = 2: take a lower temperature"):
        cutoff(operator(adj, 3, 1.0, 1.5, 1))
    pair = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]))  # ln λ₁ = 0: no temperature is too hot
    assert cutoff(operator(pair, 3, 1.0, 100.0, 1)).bound == pytest.approx(math.exp(-0.04), rel=1e-9)


def test_nothing_is_left_out_where_there_are_no_edges():
    for N in (0, 1, 3):
        adj = Adjacency.from_edge_index(torch.zeros(2, 0, dtype=torch.long), num_nodes=N)
        for method in (1, 2, 3, 6, 8, 9, 10, 11):
            assert cutoff(operator(adj, 2, 1.0, 50.0, method)).bound == 0
            assert sufficient_length(operator(adj, 2, 1.0, 50.0, method)) == 0
    assert cutoff(operator(adj, 0, 1.0, 1.0, 7)).bound == pytest.approx(math.exp(-1))  # the loops of A+I


def test_a_tail_that_is_out_of_sight():
    M = operator(Adjacency.of(TRIANGLE_AND_TAIL), 2, 1.0, 50.0, 5)
    assert sufficient_length(M, longest=100) is None
    assert sufficient_length(M, longest=600) == math.ceil(-50 * math.log(1e-3 * (1 - math.exp(-0.02)))) - 1


@pytest.mark.parametrize("method", [3, 4, 8])
@pytest.mark.parametrize("edges", [DIRECTED, torch.tensor([[0, 1], [1, 2]])])
def test_rows_of_sum_one_need_no_undirected_graph(method, edges):
    found = cutoff(operator(Adjacency.of(edges), 2, 1.0, 1.0, method))
    w = torch.exp(-torch.arange(60, dtype=torch.float64)) * (torch.arange(60) > 2)
    norm = float(MET(Walks(edges, 59), w, method).to_dense(torch.float64).abs().sum(1).max())
    assert found.least * (1 - 1e-12) <= norm <= found.bound * (1 + 1e-12)


def test_what_the_bound_does_not_cover():
    walks, weight = Walks(TRIANGLE_AND_TAIL, 2), torch.ones(8, dtype=torch.float64)
    tracked = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight.requires_grad_())
    signed = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.tensor([1.0, 1, -0.1, -0.1, 1, 1, 1, 1]))
    law = PowerLaw(2, 1.0, 0.2)
    slow = PowerLaw(2, 1.0, 0.2, trained="alpha")
    assert cutoff(MET(walks, slow, 1)) == cutoff(MET(walks, law, 1))
    slow.log_alpha.data.fill_(math.log(0.9))
    for M, kind, words in (
        (walks, TypeError, "M must be a MET, such as"),
        (MET(walks, Boltzmann([0.0, 1.0, 2.0]), 1), TypeError, "weights must be a PowerLaw, .* got Boltzmann"),
        (MET(walks, PowerLaw(2, 1.0, [0.2, 0.3]), 1), ValueError, "weights must be those of one trial"),
        (MET(ShortestPaths(TRIANGLE_AND_TAIL, 2), law, 1), TypeError, "paths must be Walks, .* got ShortestPaths"),
        (MET(Walks(DIRECTED, 2), law, 1), ValueError, "adj is directed, where λ₁ does not bound the paths of method 1"),
        (MET(Walks(DIRECTED, 2), law, 6), ValueError, "use method 3, 4 or 8"),
        (MET(Walks(signed, 2), law, 8), ValueError, "edge_weight is negative somewhere"),
        (MET(Walks(tracked, 2), law, 1), ValueError, "edge_weight asks for a gradient"),
        (MET(walks, PowerLaw(2, 1.001, 5.0), 1), ValueError, "the terms grow beyond n = 1,048,578"),
        (MET(walks, slow, 1), ValueError, "alpha must be at least 1 for a bound, got 0.9: take a law"),
    ):
        with pytest.raises(kind, match=words):
            cutoff(M)
    for tolerance in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="tolerance must be positive and finite"):
            sufficient_length(MET(walks, law, 1), tolerance)
