import itertools
import math
import sys

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs, undirected
from hypothesis import given
from undirected import dense_perron
from undirected import undirected as with_zero_weights

from panconv import Adjacency, load
from panconv.compute.spmm import spmm
from panconv.spectral import perron
from panconv.spectral.perron import log_perron
from panconv.testing import close


def both_ways(pairs, num_nodes=None, weight=None):
    edges = torch.tensor(pairs).reshape(-1, 2).T
    weight = None if weight is None else torch.tensor(weight * 2, dtype=torch.float64)
    return Adjacency.from_edge_index(torch.cat([edges, edges.flip(0)], 1), weight, num_nodes)


def path(N):
    return both_ways([(i, i + 1) for i in range(N - 1)])


@given(graphs(max_nodes=9).map(undirected))
def test_each_component_against_dense_eigh(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    vector, value = perron(adj)
    assert bool((vector > 0).all())
    A = graph.dense()
    for c in adj.components.unique():
        nodes = (adj.components == c).nonzero().ravel()
        values, vectors = torch.linalg.eigh(A[nodes][:, nodes])
        close(value[nodes], values[-1].expand(len(nodes)))
        torch.testing.assert_close(vector[nodes], vectors[:, -1].abs(), rtol=1e-7, atol=1e-7)


def test_paths_have_a_sine():
    for N in (2, 3, 10, 200):
        vector, value = perron(path(N))
        i = torch.arange(1, N + 1, dtype=torch.float64)
        sine = (math.pi * i / (N + 1)).sin() * math.sqrt(2 / (N + 1))
        torch.testing.assert_close(vector, sine, rtol=1e-6, atol=1e-9)
        close(value, torch.full_like(value, 2 * math.cos(math.pi / (N + 1))))


def test_regular_graphs_are_flat_and_stars_are_known():
    cycle = both_ways([(i, (i + 1) % 12) for i in range(12)])
    complete = both_ways([(i, j) for i in range(9) for j in range(i)])
    for adj, degree in ((cycle, 2.0), (complete, 8.0)):
        vector, value = perron(adj)
        close(vector, torch.full_like(vector, adj.num_nodes**-0.5))
        close(value, torch.full_like(value, degree))
    vector, value = perron(both_ways([(0, i) for i in range(1, 50)]))
    close(value[0], torch.tensor(7.0, dtype=torch.float64))
    close(vector, torch.tensor([0.5**0.5] + [98**-0.5] * 49, dtype=torch.float64))


def test_entries_far_from_a_hub_are_exact_to_themselves():
    # A star with a tail of 60 nodes: along the tail the entries are sinh's, down to 1e-64 of the hub's.
    adj = both_ways([(0, i) for i in range(1, 140)] + [(i, i + 1) for i in range(139, 199)])
    vector, value = perron(adj)
    growth = math.acosh(float(value[0]) / 2)
    steps = torch.arange(1, 61, dtype=torch.float64)  # from the end of the tail
    shape = (steps * growth).sinh() / math.sinh(growth)
    assert float(vector.min()) < 1e-60
    torch.testing.assert_close(vector[139:].flip(0)[:60] / vector[-1], shape, rtol=1e-8, atol=0)


def test_weights_of_any_size_and_many_components():
    pairs, weight = [], []
    for c in range(3000):  # pairs of nodes, of every weight, and isolated nodes between them
        pairs.append((3 * c, 3 * c + 1))
        weight.append(10.0 ** (c % 200 - 100))
    vector, value = perron(both_ways(pairs, 9000, weight))
    expected = torch.tensor(weight, dtype=torch.float64)
    torch.testing.assert_close(value[::3], expected, rtol=1e-9, atol=0)
    torch.testing.assert_close(value[1::3], expected, rtol=1e-9, atol=0)
    close(vector.reshape(-1, 3), torch.tensor([0.5**0.5, 0.5**0.5, 1.0], dtype=torch.float64).expand(3000, 3))
    assert bool((value[2::3] == 0).all())


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_residuals_on_the_citation_graphs(name):
    data = load(name, sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    vector, value = perron(adj)
    assert perron(adj).vector is vector  # kept with the graph
    a, _ = adj.operands(torch.float64)
    product, edges = spmm(a, a, vector), value > 0
    assert bool((vector > 0).all())
    assert float((product - value * vector).norm()) < 1e-10
    torch.testing.assert_close((product / vector)[edges], value[edges], rtol=1e-9, atol=0)  # entry by entry
    sums = torch.zeros(int(adj.components.max()) + 1, dtype=torch.float64).index_add(0, adj.components, vector**2)
    close(sums, torch.ones_like(sums))


def test_no_nodes_one_node_and_loops():
    none = torch.zeros(2, 0, dtype=torch.long)
    assert perron(Adjacency.from_edge_index(none, num_nodes=0)).vector.shape == (0,)
    alone = perron(Adjacency.from_edge_index(none, num_nodes=1))
    assert (alone.vector.tolist(), alone.value.tolist()) == ([1.0], [0.0])
    loop = perron(Adjacency.from_edge_index(torch.zeros(2, 1, dtype=torch.long), torch.tensor([3.0])))
    assert (loop.vector.tolist(), loop.value.tolist()) == ([1.0], [3.0])


def test_bad_graphs():
    weight = torch.ones(8)
    with pytest.raises(ValueError, match=r"is directed.*add the reverse edges"):
        perron(torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="negative edge weights"):
        perron(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, -weight))
    with pytest.raises(ValueError, match=r"asks for a gradient.*detached"):
        perron(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight.requires_grad_()))


def test_what_does_not_converge_is_said(monkeypatch):
    monkeypatch.setattr(sys.modules["panconv.spectral.perron"], "_CYCLES", 1)
    with pytest.warns(UserWarning, match=r"residual of .* only"):
        perron(path(300))


@given(with_zero_weights())
def test_it_is_the_logarithm_of_each_component_s_eigenvector(graph):
    if graph.num_nodes:
        psi, _ = dense_perron(graph.dense())
        close(log_perron(graph.adjacency()).exp(), psi)


def kite(leaves, tail):
    """A hub with leaves and a tail: (edge_index of both directions); node 0 is the hub, the tail comes last."""
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    chain = [0, *range(leaves + 1, leaves + tail + 1)]
    edges += list(itertools.pairwise(chain))
    edge_index = torch.tensor(edges).T
    return torch.cat([edge_index, edge_index.flip(0)], 1)


@pytest.mark.parametrize("tail", [5, 40, 400, 1500])
def test_a_long_tail_is_exact_far_below_the_smallest_float(tail):
    """Along the tail ψ is sinh((tail + 1 − j)θ) with 2 cosh θ = λ: for 1,500 nodes it falls to 10⁻⁷⁰⁰."""
    leaves = 9
    adj = Adjacency.from_edge_index(kite(leaves, tail))
    log = log_perron(adj)
    theta = math.acosh(float(perron(adj).value[0]) / 2)

    def log_sinh(x):
        return x + torch.log1p(-(-2 * x).exp()) - math.log(2)

    left = torch.arange(tail + 1, 0, -1, dtype=torch.float64) * theta  # hub, then the tail
    ours = torch.cat([log[:1], log[leaves + 1 :]])
    torch.testing.assert_close(ours - ours[0], log_sinh(left) - log_sinh(left)[0], rtol=1e-10, atol=1e-10)
    assert tail < 1500 or ours[-1] < -1500
