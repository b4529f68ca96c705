import pytest
import torch
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn.pool.connect.filter_edges import filter_adj

from panconv import Adjacency
from panconv.graph.block import Block
from panconv.graph.induced import induced, induced_edges
from panconv.testing import close


@st.composite
def some_nodes(draw, **options):
    graph = draw(graphs(**options))
    nodes = draw(st.permutations(range(graph.num_nodes)))[: draw(st.integers(0, graph.num_nodes))]
    return graph, torch.tensor(nodes, dtype=torch.long)


@given(some_nodes())
def test_the_edges_that_pyg_keeps(given_):
    graph, nodes = given_
    edges, weight = induced_edges(graph.edge_index, graph.edge_weight, nodes, graph.num_nodes)
    theirs = filter_adj(graph.edge_index, graph.edge_weight, nodes, num_nodes=graph.num_nodes)
    assert torch.equal(edges, theirs[0])
    assert (weight is None) == (theirs[1] is None)
    assert weight is None or torch.equal(weight, theirs[1])


@given(some_nodes(), st.sampled_from(["A", "A+I", "Â", "D⁻¹A"]))
def test_a_graph_of_some_nodes(given_, base):
    graph, nodes = given_
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    on = adj.base(base)
    found = induced(on, nodes)
    close(found.to_dense(torch.float64), on.to_dense(torch.float64)[nodes][:, nodes])
    assert (found.value is None) == (base == "A" and graph.edge_weight is None)
    assert found.is_symmetric == torch.equal(found.to_dense(), found.to_dense().T)


def test_how_it_is_read_goes_along():
    edges = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]])
    adj = Adjacency.from_edge_index(edges, num_nodes=3, loops="remaining", repeats="sum")
    found = induced(adj, torch.tensor([1, 0]))
    assert (found.loops, found.repeats) == ("remaining", "sum")
    close(found.base("A+I").to_dense(), adj.base("A+I").to_dense()[[1, 0]][:, [1, 0]])


def test_gradients_reach_the_weights():
    weight = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 0]]), weight)
    close(induced(adj, torch.tensor([2, 1])).to_dense(), torch.tensor([[0.0, 2.0], [0.0, 0.0]]))
    induced(adj, torch.tensor([2, 1])).to_dense().sum().backward()
    assert weight.grad.tolist() == [0, 1, 0]


def test_a_block_is_refused():
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="block of a larger graph keeps that graph's degrees"):
        induced(Block(adj.pattern, None), torch.tensor([0]))
