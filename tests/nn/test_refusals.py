import numpy as np
import pytest
import scipy.sparse as sp
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from torch_geometric import EdgeIndex

from panconv import PAN, Adjacency, PANConv
from panconv.nn import HighTemperatureConv, LanczosConv, PANAttention, PANEdgeAttention
from panconv.testing import close

EDGES = TRIANGLE_AND_TAIL  # 4 nodes, 8 edges
X = torch.randn(4, 5)


def refused(call, *messages, error=ValueError):
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    for message in messages:
        assert message in text, text


@pytest.mark.parametrize("make", [PANConv, PANAttention, PANEdgeAttention, LanczosConv, HighTemperatureConv])
def test_words_of_other_layers(make):
    conv = make(5, 2)
    refused(lambda: conv(X, EDGES, edge_attr=torch.rand(8, 3)), "edge_attr", "(8, 3)", "edge_weight", error=TypeError)
    refused(lambda: conv(X, EDGES, size=(4, 4)), "size", "(4, 4)", "a row for every node", error=TypeError)
    refused(lambda: conv(X, EDGES, flow="up"), make.__name__, "unexpected keyword argument 'flow'", error=TypeError)


def test_weights_that_are_features():
    for conv in (PANConv(5, 2), PAN(5, 4, 2)):
        refused(lambda conv=conv: conv(X, EDGES, torch.rand(8, 1)), "edge_weight", "(8, 1)", "edge_weight.squeeze(-1)")
        refused(lambda conv=conv: conv(X, EDGES, torch.rand(8, 3)), "(8, 3)", "softplus(linear(edge_attr)).squeeze(-1)")
    # the remedy
    attr, linear = torch.rand(8, 3), torch.nn.Linear(3, 1)
    weight = torch.nn.functional.softplus(linear(attr)).squeeze(-1)
    PANConv(5, 2)(X, EDGES, weight).sum().backward()
    assert linear.weight.grad.abs().sum() > 0


FORMS = {
    "edge_index": EDGES,
    "array": EDGES.numpy(),
    "short integers": EDGES.to(torch.int16),
    "EdgeIndex": EdgeIndex(EDGES, sparse_size=(4, 4)),
    "Adjacency": Adjacency.of(EDGES),
    "sparse": Adjacency.of(EDGES).to_dense().to_sparse(),
    "scipy": sp.csr_matrix(Adjacency.of(EDGES).to_dense().numpy()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("B", [2, 3, 7])
def test_a_static_graph_is_told_from_signals_behind_the_nodes(form, B):
    graph, static = FORMS[form], torch.randn(B, 4, 5)
    for conv in (PANConv(5, 2), HighTemperatureConv(5, 2), PAN(5, 4, 2, dropout=0.0)):
        refused(lambda conv=conv: conv(static, graph), f"({B}, 4, 5)", "x.transpose(0, 1)")
        both = conv(static.transpose(0, 1), graph).transpose(0, 1)  # the remedy
        for b in range(B):
            torch.testing.assert_close(both[b], conv(static[b], graph))


def test_a_graph_whose_last_nodes_are_alone_says_so():
    conv, wide = PANConv(5, 2), torch.randn(6, 3, 5)  # nodes 4 and 5 have no edges
    refused(lambda: conv(wide, EDGES), "(6, 3, 5)", "nodes 0 … 3", "num_nodes=6")
    adj = Adjacency.from_edge_index(EDGES, num_nodes=6)
    assert conv(wide, adj).shape == (6, 3, 2)
    refused(lambda: conv(torch.randn(3, 2, 5), adj), "the graph has 6 nodes, but x has 3 rows")
    assert PANConv(5, 2, trials=3)(wide, EDGES).shape == (6, 3, 2)  # of trials the second dimension says it all
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert conv(wide, nothing).shape == (6, 3, 2)  # every row is for itself, whatever it is
    assert conv(wide, nothing.numpy()).shape == (6, 3, 2)


@given(graphs(min_nodes=1))
@settings(max_examples=10)
def test_m_comes_with_what_it_made(graph):
    x = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    for conv in (PANConv(5, 2, method=4).double(), PANConv(5, 9, method=1, concat=True).double()):
        out, M = conv(x, graph.edge_index, graph.edge_weight, return_met=True)
        close(out, conv(x, graph.edge_index, graph.edge_weight))
        assert (M.method, M.paths.L) == (conv.method, 2)
        if not conv.concat:
            close(M.to_dense(torch.float64) @ x @ conv.lin.weight + conv.bias, out)


def test_m_of_the_other_layers():
    _, M = LanczosConv(5, 2, steps=2)(X, EDGES, return_met=True)
    assert M.shape == (4, 4)
    weight = torch.rand(8, requires_grad=True)
    (PANConv(5, 2)(X, EDGES, weight, return_met=True)[1] @ X).sum().backward()
    assert weight.grad is not None  # M is that of the weights given, gradients and all
    assert PANConv(5, 2, method=2, trials=3)(X, EDGES, return_met=True)[1].trials == 3
    refused(lambda: PANAttention(5, 2)(X, EDGES, return_met=True), "return_met", "PANAttention", "length_weights(x)")
    refused(lambda: PANEdgeAttention(5, 2)(X, EDGES, return_met=True), "return_met", "attention(x, edge_index)")
    refused(lambda: HighTemperatureConv(5, 2)(X, EDGES, return_met=True), "return_met", "HighTemperatureConv has none")


def test_arrays_that_are_no_graph_are_still_refused_as_such():
    conv, x = PANConv(5, 2), torch.randn(4, 3, 5)
    refused(lambda: conv(x, np.ones((2, 3))), "edge_index must hold integers", error=TypeError)
    refused(lambda: conv(x, [[0], [1]]), "the graph must be an Adjacency", error=TypeError)
