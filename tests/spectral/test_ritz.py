import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import MET, Adjacency, Boltzmann, Walks, eigs, load
from panconv.spectral import ritz
from panconv.testing import assert_gradients, close

TREE = torch.tensor([[0, 0, 1, 1, 2, 3, 3, 5], [1, 2, 3, 4, 5, 6, 7, 8]])  # 9 nodes
TREE = torch.cat([TREE, TREE.flip(0)], 1)


def test_all_steps_give_all_eigenvalues():
    weight = torch.rand(8, dtype=torch.float64).repeat(2) + 0.5  # no two eigenvalues alike
    M = MET(Walks(Adjacency.from_edge_index(TREE, weight), 2), [1.0, 0.5, 0.25], 2)
    values, vectors = ritz(M, torch.randn(9, dtype=torch.float64), 9)
    close(values.flip(0), eigs(M, 9).values)
    close(vectors @ torch.diag(values) @ vectors.T, M.to_dense(torch.float64))


def test_few_steps_find_the_leading_state_of_cora():
    data = load("cora", sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    M = MET(Walks(adj, 1), [0.0, 1.0], 5)
    values, vectors = ritz(M, torch.randn(data.num_nodes, dtype=torch.float64), 60)
    torch.testing.assert_close(values[-1], torch.ones((), dtype=torch.float64), rtol=1e-5, atol=0)
    close(vectors.T @ vectors, torch.eye(60, dtype=torch.float64))
    assert bool((values.diff() >= 0).all())


@pytest.mark.parametrize(("edges", "num_nodes", "steps"), [(TREE, 9, 6), (TREE, 12, 12), (TRIANGLE_AND_TAIL, 9, 9)])
def test_gradients_of_a_function_of_m(edges, num_nodes, steps):
    """Also where the Krylov space is exhausted: isolated nodes all have the same eigenvalue."""
    weights = Boltzmann(torch.rand(3, dtype=torch.float64))
    M = MET(Walks(Adjacency.from_edge_index(edges, num_nodes=num_nodes), 2), weights, 5)
    start, x = torch.randn(num_nodes, dtype=torch.float64), torch.randn(num_nodes, dtype=torch.float64)

    def function():
        values, V = ritz(M, start, steps)
        return V @ (values.tanh() * (V.T @ x))

    assert_gradients(function, weights.energies)


def test_gradients_where_ritz_values_meet():
    """Two eigenvalues 1e-14 apart, which an exact 1/gap would turn into 1e14 times rounding."""
    H = torch.diag(torch.tensor([1.0, 1.0 + 1e-14, 0.5, 0.1], dtype=torch.float64)).requires_grad_()
    x = torch.randn(4, dtype=torch.float64)
    values, V = ritz(H, torch.ones(4, dtype=torch.float64), 4)
    (g,) = torch.autograd.grad((V @ (values**2 * (V.T @ x))).sum(), H)
    assert bool(torch.isfinite(g).all())
    assert float(g.abs().max()) < 1e3


def test_beyond_the_space_there_is_nothing():
    values, vectors = ritz(torch.eye(5, dtype=torch.float64), torch.ones(5, dtype=torch.float64), 4)
    assert values.tolist() == pytest.approx([1, 0, 0, 0])
    close(vectors @ vectors.T, torch.full((5, 5), 0.2, dtype=torch.float64))
