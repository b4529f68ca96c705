import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from hypothesis import given
from hypothesis import strategies as st
from undirected import undirected, undirected_edges

from panconv import Adjacency
from panconv.tasks import auc, link_prediction, link_scores, split_links
from panconv.tasks.link_prediction import common_neighbours, walk_scores
from panconv.testing import close
from panconv.walkers import KINDS


@given(undirected(edges=True), st.sampled_from(sorted(KINDS)), st.integers(1, 4), st.integers(1, 60))
def test_scores_are_their_formula(graph, kind, steps, block):
    adj, N = graph.adjacency(), graph.num_nodes
    walk = KINDS[kind](adj)
    P, pi = walk.transition.to_dense(torch.float64), walk.stationary
    flows = [pi[:, None] * torch.linalg.matrix_power(P, t) for t in range(1, steps + 1)]
    reference = torch.stack([flow + flow.T for flow in flows])
    pairs = torch.cartesian_prod(torch.arange(N), torch.arange(N)).T
    pairs = pairs[:, torch.randperm(N * N)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link_prediction, "_BLOCK", block)  # several blocks, of a node or a few
        close(link_scores(adj, pairs, kind, steps, superposed=False), reference[-1][pairs[0], pairs[1]])
        close(link_scores(adj, pairs, kind, steps), reference.sum(0)[pairs[0], pairs[1]])
        A = graph.dense()
        close(common_neighbours(adj, pairs), (A @ A)[pairs[0], pairs[1]])


@pytest.mark.parametrize("kind", KINDS)
def test_planted_groups_are_found_and_chance_is_not(kind):
    planted = nx.planted_partition_graph(4, 40, 0.4, 0.01, seed=0)
    split = split_links(undirected_edges(planted), 0.1, seed=0, num_nodes=160)
    adj = Adjacency.from_edge_index(split.edge_index, num_nodes=160)
    pairs = torch.cat([split.positives, split.negatives], 1)
    truth = torch.arange(pairs.size(1)) < split.positives.size(1)
    assert auc(link_scores(adj, pairs, kind), truth) > 0.85
    random = torch.randint(160, (2, 4000))
    assert auc(link_scores(adj, random, kind), torch.arange(4000) < 2000) == pytest.approx(0.5, abs=0.05)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_auc_is_the_share_of_pairs_in_the_right_order(rows):
    scores, truth = torch.tensor([float(s) for s, _ in rows]), torch.tensor([t for _, t in rows])
    up, down = scores[truth], scores[~truth]
    if not up.numel() or not down.numel():
        with pytest.raises(ValueError, match="True for some and False for others"):
            auc(scores, truth)
        return
    right = [(a > b) + 0.5 * (a == b) for a in up.tolist() for b in down.tolist()]
    assert auc(scores, truth) == pytest.approx(sum(right) / len(right), abs=1e-12)


def test_auc_of_huge_and_tiny_scores():
    scores = torch.tensor([1e-300, 1e300, 0.0, torch.inf], dtype=torch.float64)
    assert auc(scores, torch.tensor([True, False, False, True])) == 0.75


def test_bad_input():
    pairs = torch.tensor([[0], [3]])
    with pytest.raises(ValueError, match="walk must be one of generic, maximal-entropy, got 'drunk'"):
        link_scores(TRIANGLE_AND_TAIL, pairs, walk="drunk")
    with pytest.raises(ValueError, match="steps must be an integer of at least 1, got 0"):
        link_scores(TRIANGLE_AND_TAIL, pairs, steps=0)
    with pytest.raises(ValueError, match=r"pairs must be a tensor \(2, E\) of node numbers, got .*\(3, 2\)"):
        link_scores(TRIANGLE_AND_TAIL, torch.zeros(3, 2, dtype=torch.long))
    with pytest.raises(ValueError, match=r"got \[\[0\]"):
        link_scores(TRIANGLE_AND_TAIL, [[0], [1]])
    with pytest.raises(TypeError, match=r"pairs must hold integers, got torch.float32"):
        link_scores(TRIANGLE_AND_TAIL, torch.zeros(2, 2))
    with pytest.raises(ValueError, match="pairs names node 4, but the nodes are 0 … 3"):
        link_scores(TRIANGLE_AND_TAIL, torch.tensor([[0], [4]]))
    for walk in KINDS:
        with pytest.raises(ValueError, match="undirected"):
            link_scores(torch.tensor([[0, 1], [1, 2]]), torch.tensor([[0], [2]]), walk)
    with pytest.raises(ValueError, match="scores must be numbers, got nan"):
        auc(torch.tensor([torch.nan, 1.0]), torch.tensor([True, False]))
    with pytest.raises(ValueError, match=r"scores and positives must both be \(E,\)"):
        auc(torch.ones(2), torch.ones(2))
    assert walk_scores(TRIANGLE_AND_TAIL, torch.zeros(2, 0, dtype=torch.long), "generic", 2).shape == (2, 0)
