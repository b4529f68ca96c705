import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given

from panconv import Adjacency
from panconv.nn.gin_conv import GINConv
from panconv.nn.hops import num_hops

F, C = 3, 2


def shaken(conv):
    with torch.no_grad():
        for p in conv.parameters():
            p.normal_()
    return conv.double()


@given(graphs())
def test_a_node_and_the_sum_of_its_neighbours(graph):
    conv, x = shaken(GINConv(F, C)), torch.randn(graph.num_nodes, F, dtype=torch.float64)
    expected = ((1 + conv.eps) * x + graph.dense() @ x) @ conv.lin.weight + conv.bias
    torch.testing.assert_close(conv(x, graph.edge_index, graph.edge_weight), expected)


@given(graphs(min_nodes=1))
def test_trials_side_by_side(graph):
    many = shaken(GINConv(F, C, trials=2))
    ones = [GINConv(F, C).double() for _ in range(2)]
    for s, one in enumerate(ones):
        one.load_state_dict({name: p[s] for name, p in many.state_dict().items()})
    x = torch.randn(graph.num_nodes, 2, F, dtype=torch.float64)
    for given_x in (x, x[:, 0]):
        y = many(given_x, graph.edge_index, graph.edge_weight)
        for s, one in enumerate(ones):
            each = given_x[:, s] if given_x.dim() == 3 else given_x
            torch.testing.assert_close(y[:, s], one(each, graph.edge_index, graph.edge_weight))


@pytest.mark.parametrize("trials", [None, 2])
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_reach_all(trials, shared):
    conv = shaken(GINConv(F, C, trials=trials))
    shape = (4, F) if shared or trials is None else (4, trials, F)
    x, weight = torch.randn(shape, dtype=torch.float64, requires_grad=True), torch.rand(8, dtype=torch.float64)
    weight.requires_grad_()

    def function(x, weight, *_):
        return conv(x, TRIANGLE_AND_TAIL, weight)

    assert torch.autograd.gradcheck(function, (x, weight, *conv.parameters()))


def test_sparse_features_and_a_width_found_later():
    conv, x = GINConv(-1, C), torch.eye(4)[:, :F]
    y = conv(x.to_sparse_csr(), TRIANGLE_AND_TAIL)
    assert conv.lin.in_channels == F
    torch.testing.assert_close(conv(x, TRIANGLE_AND_TAIL), y)
    torch.testing.assert_close(conv.bfloat16()(x.bfloat16(), TRIANGLE_AND_TAIL).float(), y, rtol=5e-2, atol=5e-2)


def test_it_looks_one_hop_far_and_has_no_met():
    conv = GINConv(F, C)
    assert num_hops(conv) == 1
    with pytest.raises(ValueError, match="return_met=True asks for M, but GINConv has no M"):
        conv(torch.randn(4, F), TRIANGLE_AND_TAIL, return_met=True)


def test_a_new_start():
    conv = shaken(GINConv(F, C))
    conv.reset_parameters()
    assert conv.eps == 0
    assert not conv.bias.any()


def test_repeated_edges():
    twice, x = torch.tensor([[0, 0], [1, 1]]), torch.eye(2)
    found = [GINConv(2, 2, repeats=word) for word in ("one", "sum")]
    sums = [conv(x, twice) @ torch.linalg.inv(conv.lin.weight) for conv in found]
    torch.testing.assert_close(torch.stack([each[1, 0] for each in sums]), torch.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="repeats is 'sum', but the Adjacency was made with repeats='one'"):
        found[1](x, Adjacency.of(twice))
