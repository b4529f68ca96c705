import copy

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency, PowerLaw
from panconv.nn import SpectralConv
from panconv.nn.spectral_conv import chebyshev
from panconv.testing import assert_equivariant, assert_gradients, close

K = [1.0, 0.5, 0.25]


@given(graphs(min_nodes=1).map(undirected), st.sampled_from([1, 2, 5, 6, 7]))
def test_all_states_and_g_of_lambda_are_m_x_w(graph, method):
    x = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    M, _ = dense_met(graph.dense(), torch.tensor(K, dtype=torch.float64), method)
    for filter in ("polynomial", "free"):
        conv = SpectralConv(5, 2, k=99, method=method, weights=K, filter=filter).double()
        torch.nn.init.normal_(conv.bias)
        W = conv.lin.weight
        close(conv(x, adj), x @ W + conv.bias)  # g = 1
        values = conv.basis(adj).values
        with torch.no_grad():
            if filter == "free":
                conv.theta[: len(values)] = values[:, None]
            else:  # λ in Chebyshev's basis
                conv.theta[0], conv.theta[1] = (values.max() + values.min()) / 2, (values.max() - values.min()) / 2
        close(conv(x, adj), M @ x @ W + conv.bias)
        if filter == "polynomial":
            with torch.no_grad():  # any polynomial, on the matrix itself
                conv.theta[:] = torch.linalg.pinv(chebyshev(values, 3), rtol=1e-10) @ (values**3 - 2 * values)[:, None]
            torch.testing.assert_close(conv(x, adj), (M @ M @ M - 2 * M) @ x @ W + conv.bias, rtol=1e-7, atol=1e-7)


def test_chebyshev_is_the_cosine():
    angle = torch.linspace(0, torch.pi, 9, dtype=torch.float64)
    expected = torch.cos(angle[:, None] * torch.arange(5))
    close(chebyshev(3 + 2 * angle.cos(), 4), expected)


@pytest.mark.parametrize("filter", ["polynomial", "free"])
@pytest.mark.parametrize("method", [1, 2, 5, 6, 7, 10, 11])
def test_equivariant_also_where_eigenvalues_are_equal(method, filter):
    """Three equal components and a fourth: k = 2 falls into a group of equal eigenvalues."""
    triangle = TRIANGLE_AND_TAIL[:, :6]
    edges = torch.cat([TRIANGLE_AND_TAIL + 9, triangle, triangle + 3, triangle + 6], 1)
    conv = SpectralConv(5, 3, k=2, method=method, filter=filter).double()
    torch.nn.init.normal_(conv.theta)
    assert_equivariant(conv, torch.randn(13, 5, dtype=torch.float64), edges)


def test_few_states_are_a_projection():
    x = torch.randn(4, 5, dtype=torch.float64)
    conv = SpectralConv(5, 2, k=2, bias=False).double()
    M, _ = dense_met(Adjacency.of(TRIANGLE_AND_TAIL).to_dense(torch.float64), torch.ones(3, dtype=torch.float64), 2)
    V = torch.linalg.eigh(M)[1][:, -2:]
    close(conv(x, TRIANGLE_AND_TAIL), V @ V.T @ x @ conv.lin.weight)


def test_gradients():
    x = torch.randn(4, 5, dtype=torch.float64)
    for filter in ("polynomial", "free"):
        conv = SpectralConv(5, 2, k=3, filter=filter, method=1).double()
        assert_gradients(lambda conv=conv: conv(x, TRIANGLE_AND_TAIL), conv.theta, conv.lin.weight)


def test_the_states_are_found_once():
    conv, adj = SpectralConv(5, 2), Adjacency.of(TRIANGLE_AND_TAIL)
    first = conv.basis(adj)
    assert conv.basis(adj) is first
    assert SpectralConv(5, 2, weights=[1.0, 2.0, 1.0]).basis(adj) is not first


def test_forms_of_input_and_repr():
    x = torch.randn(4, 5).relu()
    conv = SpectralConv(-1, 2, weights=PowerLaw(2, trained=False))
    out = conv(x, TRIANGLE_AND_TAIL)
    torch.testing.assert_close(conv(x.to_sparse(), Adjacency.of(TRIANGLE_AND_TAIL)), out)
    torch.testing.assert_close(copy.deepcopy(conv)(x, TRIANGLE_AND_TAIL), out)
    assert "5, 2, k=32, L=2, method=2, filter='polynomial', degree=3" in repr(conv)
    assert SpectralConv(5, 2, k=1)(torch.randn(0, 5), torch.zeros(2, 0, dtype=torch.long)).shape == (0, 2)


def test_bad_input():
    for method in (3, 4):
        with pytest.raises(ValueError, match="use a method other than 3 and 4"):
            SpectralConv(5, 2, method=method)
    with pytest.raises(ValueError, match=r"weights must be fixed, got Boltzmann.*trained=False"):
        SpectralConv(5, 2, weights="boltzmann")
    with pytest.raises(ValueError, match="filter must be one of polynomial, free"):
        SpectralConv(5, 2, filter="cubic")
    for name in ("k", "degree"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1"):
            SpectralConv(5, 2, **{name: 0})
    with pytest.raises(ValueError, match="take an undirected graph"):
        SpectralConv(5, 2)(torch.randn(2, 5), torch.tensor([[0], [1]]))


def test_what_trails_behind_the_nodes_is_free_and_every_family_serves():
    x = torch.randn(4, 4, 5)  # four slices on four nodes: a batch over the wrong dimension would go unnoticed otherwise
    for paths in ("walks", "shortest", "self_avoiding"):
        conv = SpectralConv(5, 2, k=3, method=8, paths=paths)
        torch.nn.init.normal_(conv.theta)
        for s in range(4):
            torch.testing.assert_close(conv(x, TRIANGLE_AND_TAIL)[:, s], conv(x[:, s], TRIANGLE_AND_TAIL))
    with pytest.raises(ValueError, match="those of one trial"):
        SpectralConv(5, 2, weights=torch.ones(3, 2))
