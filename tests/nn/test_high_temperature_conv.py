import copy

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs, undirected
from hypothesis import given

from panconv import Adjacency
from panconv.nn import HighTemperatureConv
from panconv.spectral import HighTemperature
from panconv.testing import assert_equivariant, close


@given(graphs(min_nodes=1).map(undirected))
def test_layer_is_mxw_plus_b(graph):
    conv = HighTemperatureConv(5, 2).double()
    torch.nn.init.normal_(conv.bias)
    x = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    dense = HighTemperature(adj).to_dense(torch.float64)
    close(conv(x, graph.edge_index, graph.edge_weight), dense @ x @ conv.lin.weight + conv.bias)


def test_equivariant_and_weighted():
    weight = torch.tensor([1.0, 1, 2, 2, 0.5, 0.5, 3, 3])
    assert_equivariant(HighTemperatureConv(5, 2), torch.randn(4, 5), TRIANGLE_AND_TAIL, weight)


def test_forms_of_input_and_lazy_channels():
    x = torch.randn(4, 5).relu()
    conv = HighTemperatureConv(-1, 2, bias=False)
    out = conv(x, TRIANGLE_AND_TAIL)
    torch.testing.assert_close(conv(x.to_sparse(), Adjacency.of(TRIANGLE_AND_TAIL)), out)
    torch.testing.assert_close(copy.deepcopy(conv)(x, TRIANGLE_AND_TAIL), out)
    assert repr(conv).startswith("HighTemperatureConv(\n  5, 2")
    conv.reset_parameters()


def test_bad_input():
    conv = HighTemperatureConv(5, 2)
    with pytest.raises(ValueError, match="in_channels = 5 columns"):
        conv(torch.randn(4, 3), TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match="is directed"):
        conv(torch.randn(2, 5), torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="out_channels must be an integer of at least 1"):
        HighTemperatureConv(5, 0)
