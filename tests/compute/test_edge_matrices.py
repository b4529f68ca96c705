import torch
from graphs import graphs
from hypothesis import given, settings

from panconv import Adjacency
from panconv.compute.edge_matrices import EdgeMatrices, arriving_shares
from panconv.testing import close


@settings(max_examples=30)
@given(graphs(min_nodes=1))
def test_products_and_shares_are_those_of_dense_matrices(graph):
    adj, A = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes), graph.dense()
    N, score = graph.num_nodes, torch.randn(adj.num_edges, 2, dtype=torch.float64)
    S = torch.zeros(2, N, N, dtype=torch.float64)
    S[:, adj.row, adj.col.long()] = score.T
    expected = A * S.exp()
    expected = expected / expected.sum(2, keepdim=True).clamp(min=1e-300)
    found, x = arriving_shares(adj, score), torch.randn(N, 2, 3, dtype=torch.float64)
    close(found.apply(x), torch.einsum("hij,jho->iho", expected, x))
    close(EdgeMatrices(adj, score).apply(x), torch.einsum("hij,jho->iho", S, x))


def test_a_heavy_score_on_a_weightless_edge_hides_nothing():
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1], [2, 2]]), torch.tensor([0.0, 2.0]), 3)
    assert arriving_shares(adj, torch.tensor([[1000.0], [-1000.0]])).value.flatten().tolist() == [0, 1]


def test_a_weight_too_small_for_float32_counts_by_its_score():
    weight = torch.tensor([1e-250, 1.0], dtype=torch.float64)
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1], [2, 2]]), weight, 3)
    even = torch.tensor([[float(-weight[0].log())], [0.0]])
    torch.testing.assert_close(arriving_shares(adj, even).value, torch.full((2, 1), 0.5), rtol=1e-4, atol=0)
