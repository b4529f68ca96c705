import pytest
import torch
from graphs import graphs, undirected
from hypothesis import given
from scipy.sparse.csgraph import laplacian

from panconv import Adjacency, eigs
from panconv.spectral import Laplacian
from panconv.testing import assert_operator, close


@given(graphs(max_nodes=6).map(undirected))
def test_conformance_and_scipy(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    L, complement = Laplacian(adj), Laplacian(adj, complement=True)
    assert_operator(L)
    assert_operator(complement)
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    close(complement.to_dense(torch.float64), eye - L.to_dense(torch.float64))
    A = graph.dense()
    if graph.num_nodes and not bool(A.diagonal().any()):  # SciPy takes self-loops out
        close(L.to_dense(torch.float64), torch.from_numpy(laplacian(A.numpy(), normed=True)))
    if graph.num_nodes:
        values = eigs(complement, graph.num_nodes).values
        assert int((values > 1 - 1e-9).sum()) == int(adj.components.max()) + 1


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match="is directed"):
        Laplacian(torch.tensor([[0], [1]]))
