import pytest
import torch
from graphs import dense_met, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st

from panconv import MET, Adjacency, Fixed, Walks
from panconv.spectral import basis
from panconv.testing import close

K = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)


@given(graphs(min_nodes=1).map(undirected), st.sampled_from([1, 2, 5, 6, 7]), st.integers(1, 9))
def test_it_undoes_itself_and_is_m(graph, method, k):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    found = basis(MET(Walks(adj, 2), Fixed(K), method), k)
    size = found.values.numel()
    assert min(k, graph.num_nodes) <= size <= graph.num_nodes
    close(found.left @ found.right, torch.eye(size, dtype=torch.float64))
    dense, _ = dense_met(graph.dense(), K, method)
    close(dense @ found.right, found.right * found.values)
    if size == graph.num_nodes:
        close(found.right @ torch.diag(found.values) @ found.left, dense)


def test_equal_eigenvalues_are_taken_together():
    pairs = torch.arange(20).reshape(10, 2).T
    M = MET(Walks(torch.cat([pairs, pairs.flip(0)], 1), 1), [1.0, 0.5], 2)  # ten equal components: 1 and 1/3
    for k, size in ((1, 10), (9, 10), (10, 10), (11, 20), (99, 20)):
        found = basis(M, k)
        assert found.values.numel() == size
        assert found.group.tolist() == [0] * 10 + [1] * (size - 10)
        # Whole groups are no solver's choice: the projection keeps the symmetry of the graph.
        close((found.right @ found.left).diagonal(), torch.full((20,), size / 20, dtype=torch.float64))


def test_refused():
    with pytest.raises(ValueError, match="method other than 3 and 4"):
        basis(MET(Walks(torch.tensor([[0, 1], [1, 0]]), 1), [1.0, 1.0], 4), 1)
    with pytest.raises(ValueError, match="take an undirected graph"):
        basis(MET(Walks(torch.tensor([[0], [1]]), 1), [1.0, 1.0], 2), 1)
