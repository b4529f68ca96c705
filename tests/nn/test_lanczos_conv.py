import copy

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st

from panconv import MET, Adjacency, Boltzmann, Walks
from panconv.nn import LanczosConv
from panconv.testing import assert_gradients, close

TREE = torch.tensor([[0, 0, 1, 1, 2, 3, 3, 5], [1, 2, 3, 4, 5, 6, 7, 8]])
TREE = torch.cat([TREE, TREE.flip(0)], 1)
WEIGHT = torch.linspace(0.5, 1.5, 8, dtype=torch.float64).repeat(2)  # no two eigenvalues alike


@pytest.mark.parametrize("method", [1, 2, 5, 6, 7, 10, 11])
def test_all_steps_and_no_network_are_powers_of_m(method):
    adj = Adjacency.from_edge_index(TREE, WEIGHT)
    # On a tree of 9 nodes D⁻¹A has the eigenvalues 0 and −1, which its powers 0, 1 and 2 weighed alike make one.
    weights = Boltzmann([0.0, 0.5, 0.25]) if method == 11 else None
    conv = LanczosConv(5, 2, method=method, weights=weights, steps=99, short=(0, 3), long=(1, 4), hidden=None).double()
    torch.nn.init.normal_(conv.bias)
    x = torch.randn(9, 5, dtype=torch.float64)
    S = MET(Walks(adj, 2), conv.weights, method).similar()[0].to_dense(torch.float64).detach()
    scales = torch.cat([torch.linalg.matrix_power(S, p) @ x for p in (0, 3, 1, 4)], 1)
    W = conv.lin.weight.unflatten(1, (4, 2)).transpose(0, 1).flatten(0, 1)  # the concatenation's
    close(conv(x, adj), scales @ W + conv.bias)


def test_the_network_is_a_function_of_one_ritz_value():
    adj = Adjacency.from_edge_index(TREE, WEIGHT)
    conv = LanczosConv(5, 2, steps=9, short=(), long=(2, 3), bias=False).double()
    x = torch.randn(9, 5, dtype=torch.float64)
    M, _ = dense_met(adj.to_dense(torch.float64), conv.weights().double(), 2)
    values, V = torch.linalg.eigh(M)
    f = conv.filter(torch.stack([values**2, values**3], 1))
    W = conv.lin.weight.unflatten(1, (2, 2))
    close(conv(x, adj), sum(V @ torch.diag(f[:, e]) @ V.T @ x @ W[:, e] for e in range(2)))


@pytest.mark.parametrize("method", [1, 2, 5, 6, 7, 10, 11])
def test_path_weights_are_trained_through_lanczos(method):
    conv = LanczosConv(5, 2, method=method, steps=6).double()
    x = torch.randn(9, 5, dtype=torch.float64)
    assert_gradients(lambda: conv(x, TREE, WEIGHT), *conv.weights.parameters())


@given(graphs(min_nodes=1).map(undirected), st.sampled_from([1, 2, 5, 6, 7]), st.integers(1, 9))
def test_gradients_are_finite_on_any_graph(graph, method, steps):
    conv = LanczosConv(5, 2, method=method, steps=steps)
    x = torch.randn(graph.num_nodes, 5)
    weight = None if graph.edge_weight is None else graph.edge_weight.float()
    out = conv(x, graph.edge_index, weight)
    (out**2).sum().backward()
    assert bool(torch.isfinite(out).all())
    for p in conv.parameters():
        assert bool(torch.isfinite(p.grad).all())


def test_the_seed_is_the_start():
    x, conv = torch.randn(9, 5), LanczosConv(5, 2, steps=3)
    other = copy.deepcopy(conv)
    assert torch.equal(conv(x, TREE), other(x, TREE))
    other.seed = 1
    assert not torch.allclose(conv(x, TREE), other(x, TREE))


def test_fixed_weights_need_lanczos_once():
    conv, adj = LanczosConv(5, 2, weights=[1.0, 1.0, 1.0]), Adjacency.of(TREE)
    M = MET(Walks(adj, 2), conv.weights, 2)
    assert conv.ritz(M, adj) is conv.ritz(M, adj)


def test_forms_of_input_and_reset():
    x = torch.randn(4, 5).relu()
    conv = LanczosConv(-1, 2)
    out = conv(x, TRIANGLE_AND_TAIL)
    torch.testing.assert_close(conv(x.to_sparse(), Adjacency.of(TRIANGLE_AND_TAIL)), out)
    assert "2, L=2, method=2, steps=20, short=(1, 2), long=(5, 10)" in repr(conv)
    before = conv.filter[0].weight.clone()
    conv.reset_parameters()
    assert not torch.equal(before, conv.filter[0].weight)
    assert LanczosConv(5, 2)(torch.randn(0, 5), torch.zeros(2, 0, dtype=torch.long)).shape == (0, 2)


def test_bad_input():
    for method in (3, 4):
        with pytest.raises(ValueError, match="use a method other than 3 and 4"):
            LanczosConv(5, 2, method=method)
    with pytest.raises(ValueError, match="take an undirected graph"):
        LanczosConv(5, 2)(torch.randn(2, 5), torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match=r"short must be different integers of at least 0.*got \(1, 1\)"):
        LanczosConv(5, 2, short=(1, 1))
    with pytest.raises(ValueError, match=r"long must be different integers of at least 1.*got \(0,\)"):
        LanczosConv(5, 2, long=(0,))
    with pytest.raises(ValueError, match="both empty"):
        LanczosConv(5, 2, short=(), long=())
    with pytest.raises(ValueError, match="use Boltzmann"):
        LanczosConv(5, 2, weights="free")


def test_what_trails_behind_the_nodes_is_free_and_every_family_serves():
    x = torch.randn(4, 4, 5)
    for paths in ("walks", "shortest", "self_avoiding"):
        conv = LanczosConv(5, 2, steps=4, paths=paths)
        for s in range(4):
            torch.testing.assert_close(conv(x, TRIANGLE_AND_TAIL)[:, s], conv(x[:, s], TRIANGLE_AND_TAIL))
    with pytest.raises(ValueError, match="those of one trial"):
        LanczosConv(5, 2, method=5, weights=torch.ones(3, 2))
