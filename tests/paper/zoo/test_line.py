import copy

import pytest
import torch
from rings import two_rings
from torch_geometric.data import Data

from panconv import METTransform
from panconv.graph import Adjacency
from panconv.paper.zoo import METHODS, line
from panconv.paper.zoo.line import draws, embedded, surprise, train
from panconv.walkers import KINDS, RandomWalk

SMALL = {**METHODS["line"].settings, "dimension": 8, "steps": 60, "batch": 128, "lr": 0.05}


def weighted(directed=False):
    """With a self-loop, an edge of weight 0, one that is there twice, and a node without any."""
    edges = torch.tensor([[0, 1, 2, 0, 3, 3, 1], [1, 2, 0, 3, 3, 0, 2]])
    weight = torch.tensor([1.0, 2, 3, 0, 9, 2, 1])
    if not directed:
        edges, weight = torch.cat([edges, edges.flip(0)], 1), weight.repeat(2)
    return Adjacency.of(edges, weight, 5)


def dense(made):
    """How often each edge is drawn, (source, target), and each node as a negative."""
    each = made.edges.diff(prepend=made.edges.new_zeros(1))
    N = len(made.nodes)
    table = torch.zeros(N, N, dtype=torch.float64).index_put((made.source, made.target), each, accumulate=True)
    return table, made.nodes.diff(prepend=made.nodes.new_zeros(1))


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_drawn_by_their_weights_and_negatives_by_degree(directed):
    adj = weighted(directed)
    edges, nodes = dense(draws(adj, "generic"))
    A = adj.to_dense().double().T.clone().fill_diagonal_(0)  # [source, target]
    torch.testing.assert_close(edges, A / A.sum())
    torch.testing.assert_close(nodes, A.sum(0) ** 0.75 / (A.sum(0) ** 0.75).sum())


def test_or_by_how_often_the_walk_of_maximal_entropy_meets_them():
    adj = weighted()
    walk = RandomWalk.maximal_entropy(adj)
    flow = walk.stationary[:, None] * walk.transition.to_dense().double()
    flow.fill_diagonal_(0)
    edges, _ = dense(draws(adj, "maximal-entropy"))
    torch.testing.assert_close(edges, flow / flow.sum(), rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(edges, edges.T, rtol=1e-6, atol=1e-9)  # as often to and fro
    assert not torch.allclose(edges, dense(draws(adj, "generic"))[0], atol=0.01)


def test_the_generic_walk_meets_edges_by_their_weights():
    """So that "generic" is what its paper does, and a walk all the same."""
    adj = weighted()
    walk = RandomWalk.generic(adj)
    flow = walk.stationary[:, None] * walk.transition.to_dense().double()
    flow.fill_diagonal_(0)
    torch.testing.assert_close(dense(draws(adj, "generic"))[0], flow / flow.sum(), rtol=1e-6, atol=1e-9)


def test_draws_are_as_frequent_as_they_should_be_and_differ_by_seed():
    made = draws(weighted(), "generic")
    drawn = made.drawn(made.edges, torch.tensor([5, 6]), 40_000)
    each = made.edges.diff(prepend=made.edges.new_zeros(1))
    for trial in drawn:
        found = torch.bincount(trial, minlength=len(each)) / 40_000
        assert float((found - each).abs().max()) < 0.015
        assert not found[each == 0].any()
    assert not torch.equal(*drawn)


def test_the_loss_by_its_formula():
    draw = torch.Generator().manual_seed(0)
    table, others = torch.randn(2, 2, 6, 4, generator=draw).unbind(0)
    source, target = torch.randint(6, (2, 2, 3), generator=draw).unbind(0)
    noise = torch.randint(6, (2, 3, 5), generator=draw)
    total = 0.0
    for s in range(2):
        for b in range(3):
            u = table[s, source[s, b]]
            total -= torch.sigmoid(u @ others[s, target[s, b]]).log()
            total -= sum(torch.sigmoid(-(u @ others[s, n])).log() for n in noise[s, b])
    torch.testing.assert_close(surprise(table, others, source, target, noise), total)


def test_first_order_puts_neighbours_together_and_second_order_those_with_the_same_neighbours():
    """A square's corners 0 and 2 have the same two neighbours, and no edge between them."""
    ring = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    edges = torch.cat([ring, ring + 4], 1)
    how = {**SMALL, "steps": 120}
    made = embedded(draws(Adjacency.of(edges), "generic"), how, [0])
    first, second = (z[0] / z[0].norm(dim=1, keepdim=True) for z in made)
    assert float(first[0] @ first[1]) > float(first[0] @ first[5]) + 0.5
    assert float(second[0] @ second[2]) > max(float(second[0] @ second[i]) for i in (1, 3, 4, 5, 6, 7)) + 0.3


@pytest.mark.parametrize("walk", KINDS)
def test_the_class_comes_along_the_edges_and_a_trial_is_its_own(walk):
    data, told = two_rings(), []
    how = {**SMALL, "walk": walk}
    classes = train(data, how, [0, 5], tell=told.append)
    assert classes.shape == (2, 40)
    assert float((classes == data.truth).float().mean()) > 0.95
    assert told[-1] == 1
    assert torch.equal(classes[1:], train(data, how, [5]))
    assert not torch.equal(*embedded(draws(Adjacency.of(data.edge_index), walk), how, [0, 5])[0])


def test_on_m_its_entries_are_the_weights(monkeypatch):
    seen, data = [], METTransform(2, 1, [1, 0.3, 0.1])(copy.copy(two_rings()))
    monkeypatch.setattr(line, "embedded", lambda made, *rest: seen.append(made) or embedded(made, *rest))
    classes = train(data, SMALL, [0])
    M = torch.zeros(40, 40, dtype=torch.float64).index_put(tuple(data.edge_index), data.edge_weight.double())
    M.fill_diagonal_(0)
    torch.testing.assert_close(dense(seen[0])[0], M / M.sum(), rtol=1e-5, atol=1e-9)
    assert float((classes == data.truth).float().mean()) > 0.95


@pytest.mark.parametrize("edges", [[[], []], [[1], [1]]])
def test_a_graph_without_an_edge_between_two_nodes_is_refused(edges):
    data = Data(torch.eye(3), torch.tensor(edges, dtype=torch.long), y=torch.tensor([0, 1, 0]))
    data.train_mask = data.val_mask = torch.ones(3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"none of positive weight|an edge between two nodes"):
        train(data, SMALL, [0])
