import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st
from undirected import undirected

from panconv import Adjacency, load
from panconv.walkers import KINDS, RandomWalk

kinds = st.sampled_from(sorted(KINDS))
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


def assert_frequencies(P, node, after):
    """Counts of i → j against P by the chi-square statistic of each row, with a bound of seven of its deviations."""
    N = len(P)
    count = torch.bincount(node * N + after, minlength=N * N).reshape(N, N).double()
    assert not bool(count[P == 0].any())  # no illegal step ever
    expected = count.sum(1, keepdim=True) * P
    for i in range(N):
        likely = expected[i] > 5
        if int(likely.sum()) > 1:
            freedom = int(likely.sum()) - 1
            chi2 = float(((count[i] - expected[i]) ** 2 / expected[i])[likely].sum())
            assert chi2 < freedom + 7 * (2 * freedom) ** 0.5 + 7


@given(undirected(edges=True), kinds, st.integers(0, 3))
def test_one_step_has_the_frequencies_of_the_matrix(graph, kind, seed):
    walk = KINDS[kind](graph.adjacency())
    starts = torch.arange(graph.num_nodes).repeat_interleave(3000)
    walks = walk.sample(starts, 1, seed)
    P = walk.transition.to_dense(torch.float64)
    still = P.sum(1) == 0  # a walker who cannot leave stays
    assert_frequencies(P + torch.diag(still.double()), walks[:, 0], walks[:, 1])


@given(graphs(min_nodes=1), st.integers(0, 3))
def test_a_directed_walk_goes_from_source_to_target(graph, seed):
    A = graph.dense()
    if not bool((A > 0).any()):
        return
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    walks = RandomWalk.generic(adj).sample(torch.arange(graph.num_nodes).repeat(20), 8, seed)
    here, there = walks[:, :-1].flatten(), walks[:, 1:].flatten()
    stays = (A.sum(0)[here] == 0) & (here == there)
    assert bool(((A[there, here] > 0) | stays).all())


@pytest.mark.parametrize("kind", KINDS)
def test_steps_do_not_remember(kind):
    """Given the node, the step before says nothing about the next."""
    walk = KINDS[kind](TRIANGLE_AND_TAIL)
    walks = walk.sample(torch.full((20_000,), 2), 12, seed=5)
    P = walk.transition.to_dense(torch.float64)
    before, node, after = (walks[:, t : t + 11].flatten() for t in range(3))
    for previous in range(4):
        of = before == previous
        assert_frequencies(P, node[of], after[of])


@pytest.mark.parametrize("kind", KINDS)
def test_long_walks_are_where_the_stationary_distribution_says(kind):
    walk = KINDS[kind](TRIANGLE_AND_TAIL)
    walks = walk.sample(torch.zeros(2000, dtype=torch.long), 400, seed=1)[:, 100:]
    share = torch.bincount(walks.flatten(), minlength=4) / walks.numel()
    torch.testing.assert_close(share.double(), walk.stationary, rtol=0, atol=0.005)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_large_graph_on_every_device(kind, device):
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    starts = torch.arange(data.num_nodes)
    walks = KINDS[kind](adj).sample(starts, 30, seed=3)
    assert walks.shape == (2708, 31)
    assert walks.dtype == torch.int64
    assert torch.equal(walks[:, 0], starts)
    edges = set((data.edge_index[0] * 2708 + data.edge_index[1]).tolist())
    assert set((walks[:, :-1] * 2708 + walks[:, 1:]).flatten().tolist()) <= edges
    assert torch.equal(walks, KINDS[kind](adj.to(device)).sample(starts, 30, seed=3).cpu())
    assert not torch.equal(walks, KINDS[kind](adj).sample(starts, 30, seed=4))
    assert torch.equal(walks[:, :11], KINDS[kind](adj).sample(starts, 10, seed=3))


def test_the_two_ways_to_step_agree():
    """An unweighted generic walk needs no search, and goes where the search would go."""
    even = RandomWalk.generic(TRIANGLE_AND_TAIL)._sampler
    searched = RandomWalk.generic(TRIANGLE_AND_TAIL)._sampler
    assert even._even
    searched._even = False
    starts = torch.arange(4).repeat(5000)
    agree = even.sample(starts, 1, 0) == searched.sample(starts, 1, 0)
    assert bool(agree.all())


def test_no_walkers_and_no_steps():
    walk = RandomWalk.generic(TRIANGLE_AND_TAIL)
    assert walk.sample([], 5).shape == (0, 6)
    assert walk.sample([2, 0], 0).tolist() == [[2], [0]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([4], 1), ValueError, r"starts names node 4, but the nodes are 0 … 3"),
        (([-1], 1), ValueError, r"starts names node -1"),
        (([[0, 1]], 1), ValueError, r"starts must have shape \(B,\), a node per walker, got \(1, 2\)"),
        (([0.5], 1), TypeError, r"starts must hold integers, got \[0.5\]"),
        (("hub", 1), TypeError, r"starts must be node numbers \(B,\), got 'hub'"),
        (([0], -1), ValueError, r"steps must be an integer of at least 0, got -1"),
        (([0], 1.5), ValueError, r"steps must be an integer of at least 0, got 1.5"),
        (([0], 1, -2), ValueError, r"seed must be an integer of at least 0, got -2"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        RandomWalk.generic(TRIANGLE_AND_TAIL).sample(*arguments)


@pytest.mark.parametrize("far", [2**32, 2**33, 2**62])
def test_seeds_that_differ_in_the_upper_bits_do_not_coincide(far):
    walk = RandomWalk.generic(torch.tensor([[0, 1, 2, 0, 1, 2], [1, 2, 0, 2, 0, 1]]))
    assert not torch.equal(walk.sample([0] * 9, 20, seed=3), walk.sample([0] * 9, 20, seed=3 + far))
