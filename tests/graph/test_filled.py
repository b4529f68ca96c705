import numpy as np
import pytest
import torch
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st
from recording import recording

from panconv import MET, Adjacency, Walks
from panconv.graph import block_diagonal, picked
from panconv.graph.filled import Filled, Room
from panconv.testing import close


def molecules(directed=False, weighted=False, count=20, empty=False):
    generator = torch.Generator().manual_seed(1)
    made = []
    for g in range(count):
        N = 0 if empty and g == 3 else int(torch.randint(1, 9, (), generator=generator))
        A = torch.rand(N, N, generator=generator) < 0.3
        A = A.triu(1) if directed else A.triu(1) | A.triu(1).T
        edges = A.nonzero().T
        weight = torch.rand(edges.size(1), generator=generator) if weighted else None
        if weighted and not directed:
            weight = torch.ones(N, N).mul(2)[tuple(edges)]
        made.append(Adjacency.from_edge_index(edges, weight, N))
    return block_diagonal(made)


def used(joined, method, L=2):
    """What a product with M asks of the joined graph is prepared, there and back."""
    x = torch.rand(joined.num_nodes, 2, requires_grad=True)
    (MET(Walks(joined, L), None, method) @ x).sum().backward()
    return joined


def check_apart(adj, expected):
    """The graphs, and nodes that hear themselves alone."""
    N, dense = expected.num_nodes, adj.to_dense()
    close(dense[:N, :N], expected.to_dense())
    assert not dense[N:, :N].any()
    assert not dense[:N, N:].any()
    others = int(adj.crow[N])
    assert adj.crow[0] == 0
    assert adj.crow[-1] == adj.num_edges
    assert (adj.crow.diff() >= 0).all()
    assert torch.equal(adj.col[others:].long(), adj.row[others:])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [1, 2, 5, 7, 8])
def test_products_are_those_of_the_graphs(method, directed, weighted):
    joined = used(molecules(directed, weighted), method)
    room = Room(joined, 6)
    which = torch.tensor([7, 2, 2, 19, 11, 20])  # 20: none
    filled = Filled(room, which)
    adj, plain = filled.take(joined), picked(joined, which[:-1])
    N = plain.num_nodes
    assert adj.num_nodes > N
    assert filled.nodes.graph[:N].max() == 4
    assert (filled.nodes.graph[N:] == 6).all()
    x = torch.rand(adj.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    y, expected = MET(Walks(adj, 2), None, method) @ x, MET(Walks(plain, 2), None, method) @ x[:N]
    close(y[:N], expected)
    assert y.isfinite().all()
    g = torch.rand_like(expected)
    ours, theirs = (torch.autograd.grad(out, x, g)[0] for out in (y[:N], expected))
    close(ours, theirs)
    check_apart(adj, plain)


@given(st.lists(graphs(), min_size=1, max_size=4), st.randoms())
def test_any_graphs_in_any_order(those, random):
    adjs = [Adjacency.from_edge_index(g.edge_index, g.edge_weight, g.num_nodes) for g in those]
    joined = block_diagonal(adjs)
    which = torch.tensor([random.randrange(len(adjs) + 1) for _ in range(3)])
    room, none = Room(joined, 3), torch.full((3,), len(adjs))
    assert not (Filled(room, none).nodes.graph < 3).any()
    Filled(room, none).take(joined)
    named = which[which < len(adjs)]
    if len(named) == 0 or not room.fits(named.numpy()):
        return
    adj = Filled(room, which).take(joined)
    check_apart(adj, picked(joined, named))


def test_graphs_that_have_no_room_are_told():
    sizes = [1] * 50 + [40] * 2
    nothing = torch.empty(2, 0, dtype=torch.long)
    joined = block_diagonal([Adjacency.from_edge_index(nothing, num_nodes=n) for n in sizes])
    room = Room(joined, 2)
    Filled(room, torch.tensor([0, 1])).take(joined)
    assert room.fits(np.array([0, 51]))
    assert not room.fits(np.array([50, 51]))
    assert Room(joined, 60).of(joined.pieces, 0)[0] > sum(sizes)  # never more than all of them take, and one


def test_a_graph_without_nodes():
    joined = molecules(empty=True)
    adj = Filled(Room(joined, 2), torch.tensor([3, 4])).take(joined)
    N = joined[4].num_nodes
    close(adj.to_dense()[:N, :N], joined[4].to_dense())


def test_nothing_is_looked_at_from_the_host(monkeypatch):
    joined = used(molecules(), 8)
    room, which = Room(joined, 4), torch.tensor([3, 1, 0, 20])
    Filled(room, which).take(joined)
    with recording(monkeypatch):
        adj = Filled(room, which).take(joined)
    assert adj.num_nodes
