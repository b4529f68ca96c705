import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, PANConv, Walks
from panconv.nn import PANAttention
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
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
