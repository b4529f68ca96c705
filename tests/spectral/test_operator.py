"""One contract: every operator of the library satisfies it, and the laws are run over all of them."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs, undirected
from hypothesis import given

from panconv import MET, METHODS, Adjacency, Walks, eigs, lanczos
from panconv.paper.zoo.symmetric import Symmetric, symmetric
from panconv.paper.zoo.wavelets import Wavelets, wavelets
from panconv.spectral import HighTemperature, Laplacian, Matrix, Operator
from panconv.testing import assert_operator

K = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)


def doubled(psi):
    """Wavelets in float64, in which the laws are checked."""
    return Wavelets(psi.entries._replace(value=psi.entries.value.double()), psi.scale.double())


def operators(adj):
    """One of every class; zero edges join nothing."""
    M = symmetric(adj, "Â")
    return {
        "MET": MET(Walks(adj, 2), K, 1),
        "Laplacian": Laplacian(adj),
        "HighTemperature": HighTemperature(adj),
        "Symmetric": Symmetric(M),
        "Wavelets": doubled(wavelets(M, 0.8, 1e-4)[0]),
        "Matrix": Matrix(M_dense(adj)),
        "sparse Matrix": Matrix(M_dense(adj).to_sparse_csr()),
    }


def M_dense(adj):
    return MET(Walks(adj, 2), K, 1).to_dense(torch.float64)


SMALL = operators(Adjacency.of(TRIANGLE_AND_TAIL))


@pytest.mark.parametrize("name", SMALL)
def test_every_operator_satisfies_the_protocol(name):
    M = SMALL[name]
    assert isinstance(M, Operator)
    assert isinstance(M.T, Operator)
    assert M.shape == (4, 4)
    assert M.device == torch.device("cpu")
    assert M.dtype == torch.float64
    assert M.to_dense(torch.float32).dtype == torch.float32


@given(graphs(min_nodes=1, max_nodes=5, zeros=False).map(undirected))
def test_the_laws_hold_for_every_operator(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    for M in operators(adj).values():
        assert_operator(M)


@pytest.mark.parametrize("method", METHODS)
def test_the_word_of_met(method):
    """The dtype is that of the weights; the components are the graph's."""
    two = Adjacency.from_edge_index(torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), num_nodes=5)
    for dtype in (torch.float32, torch.float64):
        M = MET(Walks(two, 2), K.to(dtype), method)
        assert M.dtype == dtype
        assert M.components.tolist() == [0, 0, 1, 1, 2]
        assert (M.trials, MET(Walks(two, 2), torch.rand(3, 4), method).trials) == (None, 4)


@pytest.mark.parametrize("name", SMALL)
def test_eigs_and_lanczos_take_every_operator(name):
    M = SMALL[name]
    dense = M.to_dense(torch.float64)
    values, vectors = eigs(M, 4)
    torch.testing.assert_close(dense.to(vectors.dtype) @ vectors, vectors * values, rtol=1e-7, atol=1e-7)
    if M.is_symmetric:
        T = lanczos(M, torch.tensor([1.0, 0.5, -0.25, 0.125], dtype=torch.float64), 2).tridiagonal()
        assert bool(T.isfinite().all())
    else:
        with pytest.raises(ValueError, match="M is not symmetric"):
            lanczos(M, torch.ones(4, dtype=torch.float64), 2)


class Half:
    """What knows a product and a shape alone."""

    shape = (2, 2)

    def __matmul__(self, x):
        return x


def test_what_is_no_operator_is_told_what_it_lacks():
    for take in (lambda M: eigs(M, 1), lambda M: lanczos(M, torch.ones(2), 1), assert_operator):
        with pytest.raises(TypeError, match=r"lacks T, device, dtype, is_symmetric, components, to_dense"):
            take(Half())
