import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs, undirected
from hypothesis import given

from panconv import Adjacency, eigs
from panconv.spectral import HighTemperature
from panconv.testing import assert_operator, close


def made(graph):
    return HighTemperature(Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes))


@given(graphs(max_nodes=6).map(undirected))
def test_conformance(graph):
    assert_operator(made(graph))


@given(graphs(max_nodes=8).map(undirected))
def test_identity_plus_the_perron_projection_of_each_component(graph):
    M, A = made(graph), graph.dense()
    expected = torch.eye(graph.num_nodes, dtype=torch.float64)
    for c in M.adj.components.unique():
        mine = M.adj.components == c
        psi = torch.zeros(graph.num_nodes, dtype=torch.float64)
        psi[mine] = torch.linalg.eigh(A[mine][:, mine])[1][:, -1]
        expected += torch.outer(psi, psi)
    torch.testing.assert_close(M.to_dense(torch.float64), expected, rtol=1e-6, atol=1e-6)


def test_its_eigenvalues_are_2_and_1():
    M = HighTemperature(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, num_nodes=6))  # two nodes by themselves
    close(eigs(M, 6).values, torch.tensor([2.0, 2, 2, 1, 1, 1], dtype=torch.float64))


def test_half_precision_is_summed_in_float32():
    x = torch.randn(4, 3)
    M = HighTemperature(TRIANGLE_AND_TAIL)
    assert torch.equal(M @ x.half(), (M @ x.half().float()).half())


def test_bad_input():
    M = HighTemperature(TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match="x must have 4 rows"):
        M @ torch.ones(3)
    with pytest.raises(TypeError, match=r"dense and floating point, got torch.int64"):
        M @ torch.ones(4, dtype=torch.long)
    with pytest.raises(ValueError, match="is directed"):
        HighTemperature(torch.tensor([[0], [1]]))
