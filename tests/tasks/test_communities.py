import math

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st
from undirected import undirected_edges

from panconv import Adjacency
from panconv.spectral import Matrix
from panconv.spectral.eigs import leading
from panconv.tasks import communities, modularity, nmi
from panconv.tasks.communities import diffusion_map, largest_component
from panconv.testing import close
from panconv.walkers import KINDS

KARATE = nx.karate_club_graph()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_planted_partition_is_found(kind, steps):
    planted = nx.planted_partition_graph(4, 60, 0.3, 0.01, seed=1)  # 240 nodes: by eigsh
    truth = torch.arange(4).repeat_interleave(60)
    assert nmi(communities(undirected_edges(planted), 4, kind, steps), truth) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_the_karate_club_splits_as_it_did(kind):
    truth = torch.tensor([KARATE.nodes[v]["club"] == "Officer" for v in KARATE]).long()
    label = communities(undirected_edges(KARATE), 2, kind)
    wrong = int((label != truth).sum())
    assert min(wrong, 34 - wrong) <= 2
    assert modularity(undirected_edges(KARATE), label) > 0.35


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_eigenvectors_the_map_is_the_diffusion_distance(kind):
    """Σₖ (Pᵗᵢₖ − Pᵗⱼₖ)²/πₖ, before the rows are scaled to length 1: their angles are those of Pᵗ/√π."""
    adj = Adjacency.of(undirected_edges(KARATE))
    walk = KINDS[kind](adj)
    rows = torch.linalg.matrix_power(walk.transition.to_dense(torch.float64), 3) / walk.stationary.sqrt()
    rows = rows / rows.norm(dim=1, keepdim=True)
    x = diffusion_map(adj, 34, kind, 3)
    close(x @ x.T, rows @ rows.T)


def test_few_eigenvectors_are_the_leading_ones():
    planted = nx.planted_partition_graph(3, 80, 0.2, 0.02, seed=0)
    adj = Adjacency.of(undirected_edges(planted))
    A = adj.to_dense(torch.float64)
    for kind, S in (("maximal-entropy", A), ("generic", A / A.sum(1).sqrt() / A.sum(1).sqrt()[:, None])):
        values, vectors = torch.linalg.eigh(S)
        x = vectors[:, -3:] * (values[-3:] / values[-1]) ** 2
        x = x / x.norm(dim=1, keepdim=True)
        ours = diffusion_map(adj, 3, kind, 2)
        torch.testing.assert_close(ours @ ours.T, x @ x.T, rtol=1e-6, atol=1e-6)


def test_each_further_component_is_a_community_of_its_own():
    apart = nx.disjoint_union_all([nx.path_graph(2), nx.barbell_graph(5, 0), nx.empty_graph(1), nx.path_graph(3)])
    adj = Adjacency.from_edge_index(undirected_edges(apart), num_nodes=16)
    assert largest_component(adj).tolist() == list(range(2, 12))
    for kind in KINDS:
        label = communities(adj, 2, kind)
        assert sorted({tuple(label[2:7].tolist()), tuple(label[7:12].tolist())}) == [(0,) * 5, (1,) * 5]
        assert label[[0, 1]].tolist() == [3, 3]
        assert label[12].tolist() == 4
        assert label[13:].tolist() == [2, 2, 2]


def test_nodes_far_out_go_with_those_they_hang_on():
    """Two cliques with tails of 60 nodes, on which every leading eigenvector is far below rounding."""
    graph = nx.barbell_graph(30, 0)
    for clique, first in ((0, 60), (59, 120)):
        nx.add_path(graph, [clique, *range(first, first + 60)])
    label = communities(undirected_edges(graph), 2, "maximal-entropy")
    assert len(label[torch.cat([torch.arange(30), torch.arange(60, 120)])].unique()) == 1
    assert len(label[torch.cat([torch.arange(30, 60), torch.arange(120, 180)])].unique()) == 1


@given(graphs(min_nodes=2, zeros=False), st.integers(0, 10))
def test_modularity_is_networkx_s(graph, seed):
    A = graph.dense().fill_diagonal_(0)  # networkx counts a self-loop twice
    if not bool((A > 0).any()):
        return
    label = torch.from_numpy(np.random.default_rng(seed).integers(0, 3, len(A)))
    groups = [set(np.flatnonzero(label.numpy() == c).tolist()) for c in label.unique().tolist()]
    kind = nx.Graph if torch.equal(A, A.T) else nx.DiGraph
    reference = nx.community.modularity(nx.from_numpy_array(A.T.numpy(), create_using=kind), groups)
    adj = Adjacency.from_sparse(A.to_sparse())
    assert modularity(adj, label) == pytest.approx(reference, abs=1e-12)


def test_nmi_closed_forms():
    a = torch.tensor([0, 0, 1, 1])
    assert nmi(a, torch.tensor([7, 7, -3, -3])) == pytest.approx(1)
    assert nmi(a, torch.tensor([0, 1, 0, 1])) == pytest.approx(0, abs=1e-12)
    # One label says nothing; four say all of the two and as much again: 2 log 2 / (log 2 + log 4).
    assert nmi(a, torch.zeros(4, dtype=torch.long)) == pytest.approx(0, abs=1e-12)
    assert nmi(a, torch.arange(4)) == pytest.approx(2 / 3)
    assert nmi(a * 0, a * 0 + 5) == 1
    # H(a) = H(b) = log 2 and three of four cells of ½·½, by hand.
    b = torch.tensor([0, 0, 0, 1])
    mutual = 0.5 * math.log(0.5 / (0.5 * 0.75)) + 0.25 * math.log(0.25 / (0.5 * 0.75)) + 0.25 * math.log(2)
    other = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert nmi(a, b) == pytest.approx(2 * mutual / (math.log(2) + other))
    assert nmi(a, b) == nmi(b, a)


def test_repeatable_and_seeded():
    edges = undirected_edges(nx.gnm_random_graph(300, 700, seed=3))
    one = communities(edges, 6, seed=1, restarts=1)
    assert torch.equal(one, communities(edges, 6, seed=1, restarts=1))
    assert not torch.equal(one, communities(edges, 6, seed=2, restarts=1))


def test_bad_input():
    for arguments, message in (
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"k": 5}, "k must be at most the 4 nodes of the largest component, got 5"),
        ({"k": 2, "steps": -1}, "steps must be an integer of at least 0, got -1"),
        ({"k": 2, "seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"k": 2, "restarts": 0}, "restarts must be an integer of at least 1, got 0"),
        ({"k": 2, "walk": "none"}, "walk must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            communities(TRIANGLE_AND_TAIL, **arguments)
    for walk in KINDS:
        with pytest.raises(ValueError, match="undirected"):
            communities(torch.tensor([[0, 1], [1, 2]]), 2, walk)
    with pytest.raises(ValueError, match="the graph has no nodes"):
        communities(torch.zeros(2, 0, dtype=torch.long), 1)
    with pytest.raises(ValueError, match="labels must have a label for each of 4 nodes, got 3"):
        modularity(TRIANGLE_AND_TAIL, torch.arange(3))
    with pytest.raises(TypeError, match=r"labels must be a tensor \(N,\) of integers"):
        modularity(TRIANGLE_AND_TAIL, torch.rand(4))
    with pytest.raises(ValueError, match="modularity needs weights of at least 0, some above"):
        modularity(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.zeros(8)), torch.arange(4))
    with pytest.raises(ValueError, match="label at least one node"):
        nmi(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long))


def test_every_copy_of_a_repeated_eigenvalue_is_there():
    """Thirty cliques on one hub: the second eigenvalue comes 29 times, of which one Krylov space misses some."""
    clique = torch.combinations(torch.arange(10)).T
    spoke = torch.tensor([[300], [0]])
    edges = torch.cat([torch.cat([clique + 10 * c, spoke + torch.tensor([[0], [10 * c]])], 1) for c in range(30)], 1)
    adj = Adjacency.of(torch.cat([edges, edges.flip(0)], 1))
    A = adj.to_dense(torch.float64)
    root = A.sum(1).rsqrt()
    S = root[:, None] * A * root[None, :]
    values, _ = leading(Matrix(S.to_sparse_csr()), 30, symmetric=True)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(S).flip(0)[:30], rtol=1e-8, atol=1e-8)
