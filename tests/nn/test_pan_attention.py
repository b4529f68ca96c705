import copy
import pickle
from itertools import pairwise, product
from math import prod

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import Sequential

from panconv import MET, METHODS, Adjacency, PANConv, Walks
from panconv.nn import PANAttention
from panconv.paths import PATHS
from panconv.testing import assert_equivariant, assert_gradients, close

METHODS_WITHOUT_Z = [method for method, rule in METHODS.items() if not rule.overall]


def trained(*args, **options):
    layer = PANAttention(*args, **options).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


@settings(max_examples=30)
@given(graphs(min_nodes=1), st.sampled_from(METHODS_WITHOUT_Z), st.integers(0, 3))
def test_every_node_weighs_the_lengths_by_its_own_features(graph, method, L):
    layer = trained(4, 6, L=L, method=method, heads=2)
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    x = torch.randn(graph.num_nodes, 4, dtype=torch.float64)
    expected = []
    for h in range(2):
        y = x @ layer.lin.weight[:, 3 * h : 3 * h + 3]
        f = (y @ layer.att[h] + layer.length_bias[h]).softmax(1)
        lengths = torch.eye(L + 1, dtype=torch.float64)
        expected.append(
            sum(f[:, [n]] * (MET(Walks(adj, L), k, method).to_dense(torch.float64) @ y) for n, k in enumerate(lengths))
        )
    close(layer(x, adj), torch.cat(expected, 1) + layer.bias)
    close(layer.length_weights(x).sum(-1), torch.ones(graph.num_nodes, 2, dtype=torch.float64))


def test_it_starts_as_pan_conv_with_every_length_alike():
    layer, conv = PANAttention(5, 4, L=2), PANConv(5, 4, L=2, method=3)
    conv.lin.load_state_dict(layer.lin.state_dict())
    x = torch.randn(4, 5)
    torch.testing.assert_close(layer(x, TRIANGLE_AND_TAIL), conv(x, TRIANGLE_AND_TAIL))


def test_laws_of_a_layer():
    layer = trained(5, 4, L=2, heads=2)
    x = torch.randn(4, 5, dtype=torch.float64)
    assert_equivariant(layer, x, TRIANGLE_AND_TAIL)
    assert_gradients(lambda: layer(x, TRIANGLE_AND_TAIL), *layer.parameters())
    close(layer(x.to_sparse(), TRIANGLE_AND_TAIL), layer(x, TRIANGLE_AND_TAIL))
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    close(torch.compile(layer, fullgraph=True, backend="aot_eager")(x, adj), layer(x, adj))


@settings(max_examples=30)
@given(graphs(min_nodes=1, max_nodes=4), st.integers(0, 3), st.integers(1, 3))
def test_both_ends_of_every_single_path(graph, L, rank):
    layer = trained(4, 6, L=L, heads=2, rank=rank)
    A, N, W = graph.dense(), graph.num_nodes, layer.lin.weight
    x = torch.randn(N, 4, dtype=torch.float64)
    out = []
    for h in range(2):
        y = x @ W[:, 3 * h : 3 * h + 3]
        share = (y @ layer.att[h] + layer.length_bias[h]).softmax(1)
        rows = []
        for i in range(N):
            total = torch.zeros(3, dtype=torch.float64)
            for n in range(L + 1):
                paths = [p for p in product(range(N), repeat=n + 1) if p[-1] == i]  # from its sender to i
                weight = [prod(float(A[to, of]) for of, to in pairwise(p)) for p in paths]
                if sum(weight) == 0:
                    continue
                for path, w in zip(paths, weight, strict=True):
                    j = path[0]
                    both = (y[i] @ layer.receiver[h, :, n]).tanh() @ (y[j] @ layer.sender[h]).tanh()
                    total = total + share[i, n] * (1 + both / rank) * w / sum(weight) * y[j]
            rows.append(total)
        out.append(torch.stack(rows))
    close(layer(x, graph.edge_index, graph.edge_weight), torch.cat(out, 1) + layer.bias)


@settings(max_examples=20)
@given(graphs(min_nodes=1), st.sampled_from(METHODS_WITHOUT_Z), st.sampled_from(["walks", "shortest", "self_avoiding"]))
def test_both_ends_by_every_method_on_every_family(graph, method, paths):
    layer, N = trained(4, 6, L=2, method=method, heads=2, paths=paths, rank=2), graph.num_nodes
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, N)
    x = torch.randn(N, 4, dtype=torch.float64)
    pairs = torch.cartesian_prod(torch.arange(N), torch.arange(N)).T
    f = layer.pair_weights(x, pairs.flip(0)).view(N, N, 2, 3)  # (receiver, sender, head, length)
    assert float(f.detach().min()) >= 0
    y, family = (x @ layer.lin.weight).view(N, 2, 3), PATHS[paths](adj, 2)
    G = torch.stack([MET(family, k, method).to_dense(torch.float64) for k in torch.eye(3, dtype=torch.float64)])
    close(layer(x, adj), torch.einsum("ijhn,nij,jho->iho", f, G, y).flatten(1) + layer.bias)


def test_a_rank_starts_as_the_layer_without():
    torch.manual_seed(3)
    plain = PANAttention(5, 4, L=2, heads=2)
    torch.manual_seed(3)
    layer = PANAttention(5, 4, L=2, heads=2, rank=3)
    x = torch.randn(4, 5)
    assert torch.equal(layer(x, TRIANGLE_AND_TAIL), plain(x, TRIANGLE_AND_TAIL))
    layer(x, TRIANGLE_AND_TAIL).square().sum().backward()
    assert bool(layer.receiver.grad.abs().max() > 0)  # and leaves the place it starts from
    torch.nn.init.ones_(layer.receiver)
    assert not torch.allclose(layer(x, TRIANGLE_AND_TAIL), plain(x, TRIANGLE_AND_TAIL))
    layer.reset_parameters()
    plain.load_state_dict({k: v for k, v in layer.state_dict().items() if k not in ("receiver", "sender")})
    assert torch.equal(layer(x, TRIANGLE_AND_TAIL), plain(x, TRIANGLE_AND_TAIL))
    assert "rank=3" in repr(layer)
    assert "rank" not in repr(plain)
    assert list(dict(plain.named_parameters())) == ["att", "length_bias", "bias", "lin.weight"]


def test_laws_of_a_layer_with_a_rank():
    layer = trained(2, 2, L=1, heads=2, rank=2)
    x = torch.randn(4, 2, dtype=torch.float64)
    assert_equivariant(layer, x, TRIANGLE_AND_TAIL)
    weight = torch.rand(8, dtype=torch.float64, requires_grad=True)
    inputs = (weight, x.clone().requires_grad_(), *layer.parameters())
    assert_gradients(lambda: layer(inputs[1], TRIANGLE_AND_TAIL, weight), *inputs)
    close(layer(x.to_sparse(), TRIANGLE_AND_TAIL), layer(x, TRIANGLE_AND_TAIL))
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    close(torch.compile(layer, fullgraph=True, backend="aot_eager")(x, adj), layer(x, adj))
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x, adj), layer(x, adj))
    model = Sequential("x, edge_index", [(layer, "x, edge_index -> x"), torch.nn.ReLU()])
    close(model(x, TRIANGLE_AND_TAIL), layer(x, adj).relu())
    half = copy.deepcopy(layer).bfloat16()
    torch.testing.assert_close(half(x.bfloat16(), adj).double(), layer(x, adj), rtol=0.1, atol=0.1)


def test_both_ends_on_no_nodes_and_on_one():
    layer = trained(5, 4, rank=1)
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert layer(torch.empty(0, 5, dtype=torch.float64), nothing).shape == (0, 4)
    x = torch.randn(1, 5, dtype=torch.float64)
    close(layer(x, nothing), layer.pair_weights(x, torch.zeros(2, 1).long())[0, 0, 0] * layer.lin(x) + layer.bias)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": -1}, "rank must be an integer of at least 0, got -1"),
        ({"rank": 1.5}, "rank must be an integer of at least 0, got 1.5"),
        ({"method": 1}, "method 1 divides by Z, which the softmax over lengths replaces"),
        ({"heads": 3}, "heads must divide out_channels = 4, got 3"),
        ({"paths": "effective"}, "which effective lengths do not tell apart: use PANConv"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        PANAttention(5, 4, **options)


def test_bad_features():
    with pytest.raises(ValueError, match=r"x must have in_channels = 5 columns, got shape \(4, 3\)"):
        PANAttention(5, 4)(torch.randn(4, 3), TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match="edge_index names node 4"):
        PANAttention(5, 4).pair_weights(torch.randn(4, 5), torch.tensor([[4], [0]]))
