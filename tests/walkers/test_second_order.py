import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from undirected import undirected

from panconv import Adjacency, load
from panconv.walkers import KINDS, RandomWalk, SecondOrderWalk

BULL = torch.tensor([[0, 1, 0, 2, 1, 2, 1, 3, 2, 4], [1, 0, 2, 0, 2, 1, 3, 1, 4, 2]])  # a triangle with two horns
bias = st.sampled_from([0.25, 1.0, 4.0])


def exact(P, p, q):
    """The second-order probabilities by their definition: (t, v, x), 0 where t → v is no step."""
    N, edge = len(P), P > 0
    out = torch.zeros(N, N, N, dtype=torch.float64)
    for t, v in edge.nonzero().tolist():
        for x in edge[v].nonzero().flatten().tolist():
            out[t, v, x] = P[v, x] * (1 / p if x == t else 1.0 if edge[t, x] else 1 / q)
    return out / out.sum(-1, keepdim=True).clamp(min=1e-300)


@given(undirected(edges=True), st.sampled_from(sorted(KINDS)), bias, bias)
def test_the_probabilities_are_those_of_the_definition(graph, kind, p, q):
    walk = KINDS[kind](graph.adjacency())
    N, P = graph.num_nodes, walk.transition.to_dense(torch.float64)
    second = SecondOrderWalk(walk, p, q)
    Q, (t, v) = second.transition.to_dense(torch.float64), (P > 0).nonzero().T
    assert torch.equal(second._node, torch.cat([torch.arange(N), v]))
    assert not bool(Q[:, :N].any())  # nothing leads back to a start
    torch.testing.assert_close(
        Q[:N], torch.zeros(N, N + len(v)).double().index_put_((t, N + torch.arange(len(t))), P[t, v])
    )
    by_node = torch.zeros(len(t), N, dtype=torch.float64).index_add(1, v, Q[N:, N:])
    torch.testing.assert_close(by_node, exact(P, p, q)[t, v], rtol=1e-12, atol=1e-14)
    onwards = Q[N:, N:].nonzero()
    assert torch.equal(v[onwards[:, 0]], t[onwards[:, 1]])  # an edge is followed by one that starts where it ends


@pytest.mark.parametrize("kind", KINDS)
def test_walks_have_those_frequencies(kind):
    walk = KINDS[kind](BULL)
    walks = SecondOrderWalk(walk, p=0.25, q=4.0).sample(torch.arange(5).repeat(8000), 3, seed=2)
    t, v, x = walks[:, 1:].T
    count = torch.zeros(125, dtype=torch.float64).index_add(0, (t * 5 + v) * 5 + x, torch.ones(len(t)).double())
    count = count.reshape(5, 5, 5)
    expected = exact(walk.transition.to_dense(torch.float64), 0.25, 4.0)
    visits = count.sum(-1, keepdim=True)
    assert ((count - visits * expected).abs() <= 5 * (visits * expected * (1 - expected)).sqrt() + 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_bias_it_is_the_walk_itself(kind):
    data = load("cora")
    walk = KINDS[kind](Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes))
    starts = torch.arange(data.num_nodes)
    same = SecondOrderWalk(walk).sample(starts, 20, seed=3) == walk.sample(starts, 20, seed=3)
    assert same.all(1).float().mean() > 0.999  # but for shares that round differently


def test_p_and_q_say_how_far_it_goes():
    ring = torch.arange(100)
    edge_index = torch.stack([torch.cat([ring, ring, ring, ring]), torch.cat([ring + k for k in (1, -1, 2, -2)]) % 100])
    walk, starts = RandomWalk.generic(edge_index), torch.full((2000,), 50)
    far = [
        (SecondOrderWalk(walk, p, q).sample(starts, 10)[:, -1] - 50).abs().float().mean()
        for p, q in [(0.25, 4.0), (1.0, 1.0), (4.0, 0.25)]
    ]
    assert far[0] * 1.5 < far[1] < far[2] / 1.5


def test_no_way_out():
    edge_index = torch.tensor([[0, 1], [1, 2]])  # 0 → 1 → 2, and 3 alone
    walk = RandomWalk.generic(Adjacency.from_edge_index(edge_index, num_nodes=4))
    assert SecondOrderWalk(walk, 2.0, 0.5).sample([0, 3], 4).tolist() == [[0, 1, 2, 2, 2], [3, 3, 3, 3, 3]]


def test_bad_input():
    walk = RandomWalk.generic(BULL)
    with pytest.raises(ValueError, match=r"p must be positive and finite, got 0"):
        SecondOrderWalk(walk, p=0)
    with pytest.raises(ValueError, match=r"starts names node 7, but the nodes are 0 … 4"):
        SecondOrderWalk(walk).sample([7], 1)
