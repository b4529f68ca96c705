from fractions import Fraction
from itertools import pairwise, product

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_base, graphs
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency, Walks, load
from panconv.graph import BASES
from panconv.testing import assert_gradients, close


def walks_of(graph, L, base="A"):
    return Walks(Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes), L).on(base)


@given(graphs(max_nodes=4), st.integers(0, 3))
def test_terms_count_every_walk(graph, L):
    """Eq. 5 against an enumeration of all node sequences."""
    A, N = graph.dense(), graph.num_nodes
    for n, G in enumerate(walks_of(graph, L).terms(torch.eye(N, dtype=torch.float64))):
        counted = torch.zeros_like(A)
        for sequence in product(range(N), repeat=n + 1):
            weight = 1.0
            for receiver, sender in pairwise(sequence):
                weight *= A[receiver, sender]
            counted[sequence[0], sequence[-1]] += weight
        close(G, counted)


@given(graphs(), st.integers(0, 4), st.sampled_from(sorted(BASES)))
def test_counts_and_scaled_terms_on_every_base(graph, L, base):
    walks = walks_of(graph, L, base)
    B = dense_base(graph.dense(), base)
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    counts = walks.counts().frexp()
    for log, exponent, n, y in zip(counts.log, counts.exponent, range(L + 1), walks.scaled().terms(x), strict=True):
        G = torch.linalg.matrix_power(B, n)
        close(log.exp(), G.sum(1))
        close(exponent.exp2()[:, None] * y, G @ x)


@given(graphs(), st.integers(0, 4))
def test_counts_by_mantissa_and_exponent_are_the_counts(graph, L):
    walks = walks_of(graph, L)
    ones = torch.ones(graph.num_nodes, dtype=torch.float64)
    apart = [value * exponent.exp2() for value, exponent in walks._counts_frexp(ones)]
    close(torch.stack(apart), torch.stack(list(walks.terms(ones))))


@given(graphs(), st.integers(0, 4))
def test_adjoint_is_that_of_the_terms(graph, L):
    walks = walks_of(graph, L)
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    v = torch.randn(L + 1, graph.num_nodes, 2, dtype=torch.float64)
    for family in (walks, walks.scaled()):
        forward = sum((y * u).sum() for y, u in zip(family.terms(x), v, strict=True))
        close(forward, (x * family.adjoint(list(v))).sum())


@given(graphs(min_nodes=1), st.integers(0, 3))
def test_matrices_are_the_powers(graph, L):
    for n, G in enumerate(walks_of(graph, L).matrices(torch.float64)):
        close(G.to_dense(), torch.linalg.matrix_power(graph.dense(), n))


def test_long_counts_against_whole_numbers():
    """D₃₀₀ on a small graph in exact integers: far outside float64."""
    A = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    rows = A.to_dense().int().tolist()
    exact = [1] * 4
    for _ in range(300 * 4):
        exact = [sum(a * d for a, d in zip(row, exact, strict=True)) for row in rows]
    counts = Walks(A, 1200).counts()
    assert not counts.held_by(torch.float64)
    from math import log

    for ours, whole in zip(counts.log[-1].tolist(), exact, strict=True):
        assert whole > 10**308  # no float holds it
        assert ours == pytest.approx(log(whole), rel=1e-13)


def test_counts_that_underflow_are_found_too():
    weight = torch.full((8,), 1e-9, dtype=torch.float64)
    counts = Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight), 50).counts()
    assert not counts.held_by(torch.float64)
    ordinary = Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL), 50).counts().log
    n = torch.arange(51, dtype=torch.float64)[:, None]
    close(counts.log, ordinary + n * torch.tensor(1e-9, dtype=torch.float64).log())


def test_short_walks_take_the_fast_way_and_long_ones_do_not():
    adj = Adjacency.from_edge_index(load("cora").edge_index)
    assert Walks(adj, 5).counts().held_by(torch.float32)
    assert not Walks(adj, 10).counts().held_by(torch.float32)
    assert Walks(adj, 10).counts().held_by(torch.float64)
    assert not Walks(adj, 200).counts().held_by(torch.float64)
    assert Walks(adj, 200).on("Â").counts().held_by(torch.float32)


def test_gradients_of_long_counts():
    weight = (torch.rand(8, dtype=torch.float64) + 0.5).requires_grad_()
    adj = lambda: Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight)  # noqa: E731

    def mantissas():
        return torch.stack([value for value, _ in Walks(adj(), 5)._counts_frexp(torch.ones(4, dtype=torch.float64))])

    assert_gradients(mantissas, weight)


def test_a_graph_in_any_form_will_do():
    assert Walks(TRIANGLE_AND_TAIL, L=2).num_nodes == 4


@pytest.mark.parametrize(("L", "error"), [(-1, ValueError), (1.0, TypeError), (True, TypeError), ("2", TypeError)])
def test_bad_lengths(L, error):
    with pytest.raises(error, match=r"L must be"):
        Walks(TRIANGLE_AND_TAIL, L)


def test_long_walks_on_a_signed_graph_keep_what_the_signs_leave():
    weight = torch.tensor([-3.0] + [2.0] * 7)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight)
    counts = Walks(adj, 500).counts()
    assert counts.exponent is not None
    A = [[int(v) for v in row] for row in adj.to_dense().tolist()]
    D, B = [1] * 4, [1] * 4  # whole numbers, which do not overflow
    for n in range(501):
        exact = torch.tensor([float(Fraction(d, b)) for d, b in zip(D, B, strict=True)], dtype=torch.float64)
        close(counts.ratio[n], exact)
        D, B = ([sum(f(a) * v for a, v in zip(row, old, strict=True)) for row in A] for f, old in ((int, D), (abs, B)))


@given(graphs())
def test_a_second_step_leads_back(graph):
    """(A²)ᵢᵢ = Σⱼ AᵢⱼAⱼᵢ, on an undirected graph without weights the degree: self-loops in higher powers come by
    themselves, as the paper says of GCN's trick."""
    A = (graph.dense() + graph.dense().T != 0).double()
    walks = Walks(Adjacency.from_edge_index(A.nonzero().T, None, len(A)), L=2)
    _, _, second = walks.terms(torch.eye(len(A), dtype=torch.float64))
    close(torch.diagonal(second), A.sum(1))
