"""The edges of a graph in memory, as the loader asks for them."""

import pytest
import torch
from helpers.graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency, Walks
from panconv.data import EdgeSource
from panconv.data.edge_source import AdjacencySource


@given(graphs(min_nodes=1), st.data())
def test_it_tells_what_arrives(graph, data):
    nodes = torch.tensor(data.draw(st.lists(st.integers(0, graph.num_nodes - 1))), dtype=torch.long)
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)
    source = AdjacencySource(adj)
    assert isinstance(source, EdgeSource)
    receiver, sender, weight = source.in_edges(nodes)
    assert bool((receiver.diff() >= 0).all())
    assert (weight is None) == (graph.edge_weight is None)
    rows = torch.zeros(len(nodes), graph.num_nodes, dtype=torch.float64)
    rows[receiver, sender] += torch.ones(len(sender)) if weight is None else weight
    torch.testing.assert_close(rows, graph.dense()[nodes])
    source.prepare("D⁻¹A", None)
    source.prepare("Â", None)
    torch.testing.assert_close(source.degrees("A", nodes), graph.dense().sum(1)[nodes])
    torch.testing.assert_close(source.degrees("A+I", nodes), graph.dense().sum(1)[nodes] + 1)
    source.prepare("A+I", 2)
    torch.testing.assert_close(source.counts("A+I", 2, nodes).value, Walks(adj.base("A+I"), 2).counts().value[:, nodes])


def test_counts_keep_signs_and_exponents():
    edges, nodes = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), torch.tensor([2, 0])
    source = AdjacencySource(Adjacency.of(edges, torch.tensor([1.0, 1.0, 2.0, 2.0, -0.5, -0.5])))
    source.prepare("A", 2)
    counts, whole = source.counts("A", 2, nodes), Walks(source.adj, 2).counts()
    torch.testing.assert_close(counts.ratio, whole.ratio[:, nodes])
    source = AdjacencySource(Adjacency.of(edges, torch.full((6,), 1e3)))
    source.prepare("A", 200)
    counts, whole = source.counts("A", 200, nodes), Walks(source.adj, 200).counts()
    torch.testing.assert_close(counts.exponent, whole.exponent[:, nodes])
    assert counts.span == whole.span


def test_trained_edge_weights_are_refused():
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="edge_weight asks for a gradient"):
        AdjacencySource(Adjacency.of(torch.tensor([[0, 1], [1, 0]]), weight))
