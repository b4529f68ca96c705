import networkx as nx
import pytest
import torch

from panconv.data.small_worlds import preferential_attachment, ring_with_hub


def simple(edges, N):
    """As a graph of networkx, if every link stands there both ways, once, and no loop."""
    pairs = set(map(tuple, edges.T.tolist()))
    assert len(pairs) == edges.size(1)
    assert all((b, a) in pairs and a != b for a, b in pairs)
    graph = nx.Graph(list(pairs))
    graph.add_nodes_from(range(N))
    assert len(graph) == N
    return graph


def test_a_ring_that_nothing_was_changed_in():
    graph = simple(ring_with_hub(30, neighbours=4, rewired=0.0, links=0), 30)
    assert nx.utils.graphs_equal(graph, nx.watts_strogatz_graph(30, 4, 0))


def test_a_hub_on_a_small_world():
    graph = simple(ring_with_hub(300, seed=1), 300)
    degree = dict(graph.degree)
    assert 100 <= degree.pop(0) <= 110
    assert max(degree.values()) < 15
    far = nx.average_shortest_path_length(simple(ring_with_hub(300, rewired=0.0, links=0), 300))
    assert nx.average_shortest_path_length(graph) < far / 5
    assert torch.equal(ring_with_hub(300, seed=1), ring_with_hub(300, seed=1))
    assert not torch.equal(ring_with_hub(300, seed=1), ring_with_hub(300, seed=2))


def test_a_node_joins_earlier_ones_by_their_links():
    N, m = 3000, 3
    edges = preferential_attachment(N, m, seed=0)
    graph = simple(edges, N)
    assert nx.is_connected(graph)
    earlier = edges[:, edges[0] > edges[1]]
    joined = torch.bincount(earlier[0], minlength=N)
    assert int(joined.max()) == m
    assert int(joined[1:].min()) >= 1
    # Degrees above k are a share of about (m/k)²: far more than a random graph has, and less than a star.
    degree = torch.bincount(edges[0], minlength=N).double()
    share = [float((degree >= k).double().mean()) * k**2 for k in (10, 20, 40)]
    assert all(0.5 * m**2 < each < 3 * m**2 for each in share), share
    assert torch.equal(edges, preferential_attachment(N, m, seed=0))
    assert preferential_attachment(1).shape == (2, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ring_with_hub(30, neighbours=3), "neighbours must be even and below num_nodes = 30, got 3"),
        (lambda: ring_with_hub(4, neighbours=4), "neighbours must be even and below num_nodes = 4, got 4"),
        (lambda: ring_with_hub(30, rewired=1.5), "rewired must be a probability, 0 … 1, got 1.5"),
        (lambda: ring_with_hub(30, links=30), "links must be an integer of at least 0 and at most 29, got 30"),
        (lambda: ring_with_hub(200, seed=-1), "seed must be an integer of at least 0, got -1"),
        (lambda: preferential_attachment(0), "num_nodes must be an integer of at least 1, got 0"),
        (lambda: preferential_attachment(5, 0), "links must be an integer of at least 1, got 0"),
    ],
)
def test_bad_graphs(call, message):
    with pytest.raises(ValueError, match=message):
        call()
