import math
from itertools import pairwise

import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from undirected import components, dense_perron, undirected, undirected_edges

from panconv import Adjacency, load
from panconv.testing import close
from panconv.walkers import KINDS, RandomWalk
from panconv.walkers.walk import walk_named


def inverse(v):
    """1/v, where 1/0 is 0."""
    return torch.where(v == 0, 0.0, 1 / v)


def dense(walk):
    return walk.transition.to_dense(torch.float64)


@given(undirected(edges=True))
def test_the_maximal_entropy_walk_is_its_formula(graph):
    A, walk = graph.dense(), RandomWalk.maximal_entropy(graph.adjacency())
    psi, value = dense_perron(A)
    close(dense(walk), A * psi[None, :] * inverse(value * psi)[:, None])
    share = torch.zeros(len(A), dtype=A.dtype)
    for nodes in components(A):
        share[nodes] = A[nodes].sum() / A.sum()
    close(walk.stationary, psi**2 * share)


@given(graphs())
def test_the_generic_walk_follows_the_edges(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    A = graph.dense()  # A[receiver, sender]
    if not bool((A > 0).any()):
        with pytest.raises(ValueError, match="none of positive weight: a walker has nowhere to go"):
            RandomWalk.generic(adj)
        return
    walk = RandomWalk.generic(adj)
    close(dense(walk), inverse(A.sum(0))[:, None] * A.T)
    if torch.equal(A, A.T):
        close(walk.stationary, A.sum(1) / A.sum())
    else:
        with pytest.raises(ValueError, match="directed graph has no closed form"):
            _ = walk.stationary


@given(undirected(edges=True))
def test_laws_of_both_walks(graph):
    A = graph.dense()
    for name in KINDS:
        walk = walk_named(graph.adjacency(), name)
        P, pi = dense(walk), walk.stationary
        close(P.sum(1), (A.sum(1) > 0).double())
        assert float(pi.sum()) == pytest.approx(1, abs=1e-12)
        close(pi @ P, pi)
        close(pi[:, None] * P, (pi[:, None] * P).T)  # detailed balance
        assert walk.entropy_rate == pytest.approx(-float((pi[:, None] * torch.xlogy(P, P)).sum()), abs=1e-12)


@given(undirected(edges=True))
def test_no_walk_has_more_entropy(graph):
    """On weights, what is maximal is the entropy rate plus the mean of log A along the walk."""
    gain = {}
    for name in KINDS:
        walk = walk_named(graph.adjacency(), name)
        flow = walk.stationary[:, None] * dense(walk)
        gain[name] = walk.entropy_rate + float((flow * graph.dense().clamp(min=1e-300).log()).sum())
    assert gain["maximal-entropy"] >= gain["generic"] - 1e-12


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.petersen_graph(), nx.lollipop_graph(5, 30)])
def test_entropy_rates_of_a_connected_graph(graph):
    A = torch.from_numpy(nx.to_numpy_array(graph, weight=None))
    edges, degree = undirected_edges(graph), A.sum(1)
    most, generic = RandomWalk.maximal_entropy(edges).entropy_rate, RandomWalk.generic(edges).entropy_rate
    assert most == pytest.approx(math.log(torch.linalg.eigvalsh(A)[-1]), rel=1e-12)
    assert generic == pytest.approx(float((degree * degree.log()).sum() / degree.sum()), rel=1e-12)
    regular = bool((degree == degree[0]).all())
    assert (most == pytest.approx(generic, rel=1e-12)) == regular


def rate(P):
    """The entropy rate of a chain, by the left eigenvector of its transition matrix."""
    values, vectors = torch.linalg.eig(P.T)
    pi = vectors[:, (values - 1).abs().argmin()].real
    pi = pi / pi.sum()
    return -float((pi[:, None] * torch.xlogy(P, P)).sum()), pi


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.petersen_graph(), nx.lollipop_graph(4, 3)])
def test_of_all_chains_on_a_graph_none_has_a_higher_entropy_rate_than_log_lambda(graph):
    """Chains at random, and the maximal entropy walk moved a little, which costs the square of the move."""
    edges = undirected_edges(graph)
    A, best = Adjacency.of(edges).to_dense(torch.float64), RandomWalk.maximal_entropy(edges)
    most = math.log(torch.linalg.eigvalsh(A)[-1])
    assert best.entropy_rate == pytest.approx(most, rel=1e-12)
    for _ in range(20):
        other = A * torch.rand_like(A) ** 2
        other = other / other.sum(1, keepdim=True)
        assert rate(other)[0] < most - 1e-3
        lost = [most - rate((1 - step) * dense(best) + step * other)[0] for step in (0.02, 0.01)]
        assert lost[1] > 0
        assert lost[0] / lost[1] == pytest.approx(4, rel=0.2)


def test_no_distribution_of_paths_is_wider_than_the_uniform_one_which_it_comes_to():
    """Every walk of n steps, one by one: H(π) + n·log λ₁ of the walk against the log of their number."""
    A, n = Adjacency.of(TRIANGLE_AND_TAIL).to_dense(torch.float64), 7
    walk = RandomWalk.maximal_entropy(TRIANGLE_AND_TAIL)
    P, pi = dense(walk), walk.stationary
    paths = [(i,) for i in range(4)]
    for _ in range(n):
        paths = [(*path, j) for path in paths for j in range(4) if A[path[-1], j]]
    p = torch.stack([pi[path[0]] * math.prod(float(P[a, b]) for a, b in pairwise(path)) for path in paths])
    entropy, most = -float((p * p.log()).sum()), math.log(len(paths))
    assert len(paths) == int(torch.linalg.matrix_power(A, n).sum())
    assert entropy == pytest.approx(-float((pi * pi.log()).sum()) + n * walk.entropy_rate, rel=1e-12)
    assert n * walk.entropy_rate < entropy < most
    long = float(torch.linalg.matrix_power(A, 400).sum().log()) / 400
    assert long == pytest.approx(walk.entropy_rate, abs=2 / 400)


def test_all_paths_of_one_length_between_two_nodes_are_equally_likely():
    edges = undirected_edges(nx.karate_club_graph())
    P, A = dense(RandomWalk.maximal_entropy(edges)), Adjacency.of(edges).to_dense(torch.float64)
    # The probability of each of the paths 0 → k → m → 33.
    paths = A[0][:, None] * A * A[:, 33][None, :]
    likely = (P[0][:, None] * P * P[:, 33][None, :])[paths > 0]
    assert likely.numel() > 10
    close(likely, likely[:1].expand_as(likely))


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_where_the_eigenvector_is_lost_to_rounding_the_rows_are_right(name):
    data = load(name)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    walk, generic = RandomWalk.maximal_entropy(adj), RandomWalk.generic(adj)
    p, p_t = walk.transition.operands(torch.float64)
    assert float(p.value.min()) > 0
    assert bool(torch.isfinite(p.value).all())
    pi, row = walk.stationary, walk.transition.row
    flow = pi[row] * p.value
    torch.testing.assert_close(flow, pi[p.col] * p_t.value, rtol=1e-9, atol=0)  # relative, down to 10⁻⁴⁰
    assert walk.entropy_rate > generic.entropy_rate


def test_bad_input():
    directed = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="undirected for the maximal entropy walk"):
        RandomWalk.maximal_entropy(directed)
    both, weight = torch.tensor([[0, 1], [1, 0]]), torch.tensor([-1.0, -1.0])
    for make in KINDS.values():
        with pytest.raises(ValueError, match="edge_weight must be at least 0"):
            make(Adjacency.from_edge_index(both, weight))
        with pytest.raises(ValueError, match="the graph has 2 edges, none of positive weight"):
            make(Adjacency.from_edge_index(both, 0 * weight))
    with pytest.raises(ValueError, match="walk must be one of generic, maximal-entropy, got 'lazy'"):
        walk_named(TRIANGLE_AND_TAIL, "lazy")
    assert repr(RandomWalk.generic(TRIANGLE_AND_TAIL)) == "RandomWalk(num_nodes=4, num_edges=8)"


def test_trained_weights_are_taken_as_they_stand():
    weight = torch.ones(8, requires_grad=True)
    walk = RandomWalk.generic(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight))
    close(dense(walk), dense(RandomWalk.generic(TRIANGLE_AND_TAIL)))
