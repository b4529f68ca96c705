"""The kernels that read a graph: through Triton's interpreter where there is no GPU."""

import pytest
import torch
from graphs import graphs
from hypothesis import given, settings

pytest.importorskip("triton")

from panconv import Adjacency, PANConv
from panconv.compute.kernels import blocks
from panconv.graph import gpu, sorting

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
on_gpu = pytest.mark.skipif(DEVICE == "cpu", reason="no CUDA")


def in_order(edge_index):
    return (torch.unique(edge_index, dim=1) if edge_index.numel() else edge_index).contiguous()


@settings(max_examples=15)  # the interpreter is slow
@given(graphs(weighted=False))
def test_what_is_found_is_so(graph):
    edge_index, N = in_order(graph.edge_index), graph.num_nodes
    adj = Adjacency.from_edge_index(edge_index, None, N)
    found = gpu.look(edge_index.to(DEVICE), N)
    crow, col, perm = adj.by_column()
    assert torch.equal(found.crow.cpu(), crow)
    assert torch.equal(found.col.cpu(), col)
    assert not found.outside
    assert not found.falls
    assert bool(found.alone) != adj.is_symmetric
    assert found.loops == adj.num_self_loops
    if adj.is_symmetric:
        assert torch.equal(found.mirror.cpu(), perm)
        assert found.longest == adj.pattern.longest
        parts, expected = found.blocks, blocks._find(adj.crow, adj.col)
        assert (parts is None) == (expected is None)
        if parts is not None:
            assert torch.equal(parts.start.cpu(), expected.start)
            assert parts[1:] == expected[1:]


@settings(max_examples=15)
@given(graphs(weighted=False))
def test_the_normalised_graph_in_one_launch(graph):
    edge_index = graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]]
    adj = Adjacency.from_edge_index(torch.cat([edge_index, edge_index.flip(0)], 1), None, graph.num_nodes)
    expected = adj.base("Â")
    crow, col, value, inverse = gpu.normalise(adj.crow.to(DEVICE), adj.col.to(DEVICE), adj.pattern.longest)
    assert torch.equal(crow.cpu(), expected.crow)
    assert torch.equal(col.cpu(), expected.col)
    torch.testing.assert_close(value.cpu(), expected.operand(torch.float32, False).value)
    torch.testing.assert_close(inverse.cpu(), expected.left)


@pytest.mark.parametrize(
    ("edges", "outside", "falls"),
    [
        ([[0, 5], [1, 2]], True, False),
        ([[0, 1], [1, -2]], True, False),
        ([[1, 0], [0, 1]], False, True),
        ([[0, 0], [1, 1]], False, True),
        ([[0, 0], [2, 1]], False, True),
    ],
)
def test_what_is_wrong_or_out_of_order_is_seen(edges, outside, falls):
    found = gpu.look(torch.tensor(edges, device=DEVICE), 4)
    assert bool(found.outside) == outside
    assert bool(found.falls) == falls


@on_gpu
@given(graphs(weighted=False))
def test_a_graph_is_the_same_on_both_devices(graph):
    conv, x = PANConv(3, 2).double(), torch.randn(graph.num_nodes, 3, dtype=torch.float64)
    expected = conv(x, graph.edge_index)
    for edge_index in (graph.edge_index, in_order(graph.edge_index)):
        close = conv.cuda()(x.cuda(), edge_index.cuda())
        torch.testing.assert_close(close.cpu(), conv.cpu()(x, edge_index))
    torch.testing.assert_close(expected, conv(x, graph.edge_index))


@on_gpu
def test_fresh_edges_are_looked_at_once_and_bad_ones_refused():
    ring = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]], device="cuda")
    found = sorting.look_once(ring, 3)
    assert found is not None
    assert found.pattern.is_symmetric
    assert sorting.look_once(ring.flip(1).contiguous(), 3) is None  # the longer way
    with pytest.raises(ValueError, match="names node 2, but there are only 2 nodes"):
        Adjacency.from_edge_index(ring, num_nodes=2)
