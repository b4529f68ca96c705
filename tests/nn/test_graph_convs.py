"""The peers' layers are PyG's, with copied parameters."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from torch import nn
from torch_geometric import nn as pyg

from panconv import Adjacency
from panconv.nn.graph_convs import CONVS, OF_PATHS, checked_conv

F, C = 3, 2
OF_PAN = {"L": 2, "method": 8, "weights": None, "paths": "walks", "concat": True, "memory": None, "loops": None}
OF_PAN["repeats"] = None


def made(kind, trials=None, **options):
    conv = CONVS[kind](F, C, True, trials, {**OF_PAN, **options}).double()
    with torch.no_grad():
        for p in conv.parameters():
            p.normal_()
    return conv


def copied(theirs, weight, bias):
    with torch.no_grad():
        theirs.weight.copy_(weight.T)
        if bias is not None:
            theirs.bias.copy_(bias)
    return theirs


def in_pyg(kind, conv):
    W, b = conv.lin.weight, conv.bias
    if kind == "gin":
        theirs = pyg.GINConv(nn.Linear(F, C), train_eps=True).double()  # which starts it anew
        copied(theirs.nn, W, b)
        theirs.eps.data.copy_(conv.eps)
    elif kind == "gcn":
        theirs = pyg.GCNConv(F, C).double()
        copied(theirs.lin, W, None)
        theirs.bias.data.copy_(b)
    else:
        theirs = pyg.SAGEConv(F, C).double()
        copied(theirs.lin_r, W[:, :C], None)  # of the node
        copied(theirs.lin_l, W[:, C:], b)  # of its neighbours
    return theirs


@pytest.mark.parametrize("kind", ["gin", "gcn", "sage"])
@given(graph=graphs(min_nodes=1, weighted=False))
def test_as_in_pyg(kind, graph):
    conv, x = made(kind), torch.randn(graph.num_nodes, F, dtype=torch.float64)
    torch.testing.assert_close(conv(x, graph.edge_index), in_pyg(kind, conv)(x, graph.edge_index))


def test_none_looks_at_no_graph():
    for trials in (None, 2):
        conv, x = made("none", trials), torch.randn(4, F, dtype=torch.float64)
        expected = torch.einsum("nf,...fo->n...o", x, conv.lin.weight) + conv.bias
        torch.testing.assert_close(conv(x, "no graph at all"), expected)
    conv.reset_parameters()
    assert not conv.bias.any()


@pytest.mark.parametrize("kind", CONVS)
def test_every_row_takes_trials_and_a_missing_bias(kind):
    conv = CONVS[kind](F, C, False, 2, OF_PAN)
    assert conv.bias is None
    assert conv(torch.randn(4, F), TRIANGLE_AND_TAIL).shape == (4, 2, C)
    assert conv.lin.weight.size(0) == 2


def test_a_matrix_per_length_has_no_number_beside_it_unless_it_is_asked_for():
    assert not list(made("pan").weights.parameters())
    assert made("pan", weights="free").weights().requires_grad
    assert made("pan", concat=False).weights().requires_grad
    assert made("pan", method=2).weights.positive  # what divides by their sum tells lengths apart by node


@pytest.mark.parametrize("kind", CONVS)
def test_prepared_graphs_without_self_loops_serve_every_row(kind):
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x, conv = torch.randn(3, F, dtype=torch.float64), made(kind)
    torch.testing.assert_close(conv(x, Adjacency.of(edges)), conv(x, edges))


def test_refusals():
    with pytest.raises(
        ValueError, match="conv must be one of pan, gin, gcn, sage, none, got 'gim': did you mean 'gin'"
    ):
        checked_conv("gim", OF_PAN, OF_PAN)
    with pytest.raises(ValueError, match="L goes with conv='pan', got L=3 with conv='gin': leave it out"):
        checked_conv("gin", {**OF_PAN, "L": 3}, OF_PAN)
    assert [checked_conv(kind, OF_PAN, OF_PAN) for kind in CONVS] == list(CONVS)
    assert checked_conv("pan", {**OF_PAN, "L": 3}, OF_PAN) == "pan"
    assert set(OF_PATHS) == set(OF_PAN)
