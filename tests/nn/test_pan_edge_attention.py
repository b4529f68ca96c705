import copy
import pickle
from itertools import pairwise, product
from math import prod

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GATConv, Sequential

from panconv import Adjacency, Boltzmann, PANConv
from panconv.nn import PANEdgeAttention
from panconv.testing import assert_equivariant, assert_gradients, close


def trained(*args, **options):
    layer = PANEdgeAttention(*args, **options).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


def matrix(layer, A, x, h):
    """F∘A of a head, entry by entry."""
    width = layer.out_channels // layer.heads
    y = x @ layer.lin.weight[:, width * h : width * (h + 1)]
    F, N = torch.zeros_like(A), len(A)
    for i, j in product(range(N), repeat=2):
        s = y[i] @ layer.att_receiver[h] + y[j] @ layer.att_sender[h]
        F[i, j] = A[i, j] * torch.where(s > 0, s, 0.2 * s).exp()
    total = F.sum(1, keepdim=True)
    return (F / total.where(total > 0, 1)).detach(), y


@settings(max_examples=30)
@given(graphs(min_nodes=1, max_nodes=4), st.integers(0, 3))
def test_a_path_weighs_the_product_of_the_attention_to_its_steps(graph, L):
    layer, N = trained(4, 6, L=L, heads=2), graph.num_nodes
    x = torch.randn(N, 4, dtype=torch.float64)
    out = []
    for h in range(2):
        B, y = matrix(layer, graph.dense(), x, h)
        head = torch.zeros_like(y)
        for n, k in enumerate(layer.weights()):
            for path in product(range(N), repeat=n + 1):
                weight = prod(float(B[to, of]) for of, to in pairwise(path))
                head[path[-1]] += (k * weight * y[path[0]]).detach()
        out.append(head)
    close(layer(x, graph.edge_index, graph.edge_weight), torch.cat(out, 1) + layer.bias)


@settings(max_examples=20)
@given(graphs(min_nodes=1))
def test_what_arrives_at_a_node_sums_to_one(graph):
    layer, N = trained(4, 6, heads=3), graph.num_nodes
    x = torch.randn(N, 4, dtype=torch.float64)
    edges, share = layer.attention(x, graph.edge_index, graph.edge_weight)
    total = torch.zeros(N, 3, dtype=torch.float64).index_add(0, edges[1], share)
    arrives = (graph.dense().sum(1) > 0).double()
    close(total, arrives.unsqueeze(1).expand(N, 3))
    for h in range(3):
        B, _ = matrix(layer, graph.dense(), x, h)
        close(torch.zeros(N, N, dtype=torch.float64).index_put((edges[1], edges[0]), share[:, h]), B)


@settings(max_examples=20)
@given(graphs(min_nodes=1))
def test_it_starts_as_the_generic_walk(graph):
    layer, conv = PANEdgeAttention(5, 4, L=3, heads=2).double(), PANConv(5, 4, L=3, method=8).double()
    conv.lin.load_state_dict(layer.lin.state_dict())
    x = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    weight = None if graph.edge_weight is None else graph.edge_weight.double()
    close(layer(x, graph.edge_index, weight), conv(x, graph.edge_index, weight))


def test_one_step_is_gat():
    gat = GATConv(5, 3, heads=2, add_self_loops=False).double()
    layer = PANEdgeAttention(5, 6, L=1, heads=2, weights=[0.0, 1.0]).double()
    with torch.no_grad():
        layer.lin.weight.copy_(gat.lin.weight.T)
        layer.att_receiver.copy_(gat.att_dst[0])
        layer.att_sender.copy_(gat.att_src[0])
        layer.bias.copy_(gat.bias)
    x = torch.randn(4, 5, dtype=torch.float64)
    close(layer(x, TRIANGLE_AND_TAIL), gat(x, TRIANGLE_AND_TAIL))


def test_laws_of_a_layer():
    layer = trained(5, 4, L=1, heads=2)
    x = torch.randn(4, 5, dtype=torch.float64)
    close(layer(x.to_sparse(), TRIANGLE_AND_TAIL), layer(x, TRIANGLE_AND_TAIL))
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    layer(x, adj)
    close(torch.compile(layer, fullgraph=True, backend="aot_eager")(x, adj), layer(x, adj))


def test_it_is_a_layer_of_pyg():
    layer = trained(5, 4, L=2, heads=2)
    x, weight = torch.randn(4, 5, dtype=torch.float64), torch.rand(8, dtype=torch.float64)
    assert_equivariant(layer, x, TRIANGLE_AND_TAIL, weight)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x, TRIANGLE_AND_TAIL), layer(x, TRIANGLE_AND_TAIL))
    model = Sequential("x, edge_index", [(layer, "x, edge_index -> x"), torch.nn.ReLU()])
    close(model(x, TRIANGLE_AND_TAIL), layer(x, TRIANGLE_AND_TAIL).relu())
    half = copy.deepcopy(layer).bfloat16()
    y = half(x.bfloat16(), TRIANGLE_AND_TAIL)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.double(), layer(x, TRIANGLE_AND_TAIL), rtol=0.1, atol=0.1)
    layer.reset_parameters()
    start = PANConv(5, 4, method=8).double()
    start.lin.load_state_dict(layer.lin.state_dict())
    close(layer(x, TRIANGLE_AND_TAIL), start(x, TRIANGLE_AND_TAIL))
    lazy = PANEdgeAttention(-1, 4, bias=False, weights=Boltzmann([0.0, 1.0, 2.0]))
    assert lazy(x.float(), TRIANGLE_AND_TAIL).shape == (4, 4)
    assert "5, 4, L=2, heads=1" in repr(lazy)


def test_gradients_reach_everything():
    layer = trained(2, 2, L=2, heads=2)
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(8, dtype=torch.float64) + 0.1
    weight[2] = 0  # an edge that sends nothing, but would
    inputs = (weight.requires_grad_(), x, *layer.parameters())
    y = layer(x, TRIANGLE_AND_TAIL, weight)
    grads = torch.autograd.grad(y.square().sum(), inputs)
    for of, grad in zip(inputs, grads, strict=True):
        assert bool(grad.abs().max() > 0), of.shape
    assert float(grads[0][2].abs()) > 0
    assert_gradients(lambda: layer(x, TRIANGLE_AND_TAIL, weight.abs()), *inputs[1:])
    positive = weight.detach() + 0.5
    positive.requires_grad_()
    assert_gradients(lambda: layer(x, TRIANGLE_AND_TAIL, positive), positive)
    assert torch.autograd.gradgradcheck(lambda x, w: layer(x, TRIANGLE_AND_TAIL, w), (x, positive))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_weights_of_any_size(unit):
    layer = trained(5, 4, heads=2).float()
    x, weight = torch.randn(4, 5), torch.rand(8, dtype=torch.float64) + 0.1
    torch.testing.assert_close(layer(x, TRIANGLE_AND_TAIL, unit * weight), layer(x, TRIANGLE_AND_TAIL, weight))
    with torch.no_grad():
        layer.att_sender.mul_(1e4)  # scores far beyond what exp holds
    assert bool(layer(x, TRIANGLE_AND_TAIL, unit * weight).isfinite().all())


def test_no_nodes_no_edges():
    layer = trained(5, 4)
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert layer(torch.empty(0, 5, dtype=torch.float64), nothing).shape == (0, 4)
    x = torch.randn(2, 5, dtype=torch.float64)
    close(layer(x, nothing), layer.weights()[0] * layer.lin(x) + layer.bias)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 3}, "heads must divide out_channels = 4, got 3"),
        ({"L": -1}, "L must be at least 0"),
        ({"weights": [1.0]}, r"weights must have L\+1 = 3 entries"),
        ({"weights": torch.ones(3, 2)}, r"weights must be \(L\+1,\), a number per length, got shape \(3, 2\)"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        PANEdgeAttention(5, 4, **options)


def test_bad_input():
    layer = PANEdgeAttention(5, 4)
    with pytest.raises(ValueError, match=r"x must have in_channels = 5 columns, got shape \(4, 3\)"):
        layer(torch.randn(4, 3), TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match=r"x must be \(N, 5\), a row per node"):
        layer(torch.randn(4, 2, 5), TRIANGLE_AND_TAIL)
    with pytest.raises(
        ValueError, match=r"edge_weight must be at least 0 for attention on edges, .*, got -1: use PANConv"
    ):
        layer(torch.randn(4, 5), TRIANGLE_AND_TAIL, -torch.ones(8))
