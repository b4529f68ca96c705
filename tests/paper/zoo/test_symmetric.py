"""The operator of the spectral methods: symmetric, with a spectrum that powers bear."""

import torch
from rings import ring

from panconv import Adjacency
from panconv.paper.zoo.symmetric import Symmetric, symmetric


def dense(M):
    return Symmetric(M) @ torch.eye(M.crow.numel() - 1, dtype=torch.float64)


def test_a_base_is_that_of_the_graph():
    adj = ring(9, 4)
    assert torch.allclose(dense(symmetric(adj, "Â")), adj.base("Â").to_dense(torch.float64))


def test_weights_of_their_own_are_symmetrised_and_scaled_to_a_spectrum_within_one():
    edges = torch.randint(15, (2, 60))
    adj = Adjacency.of(edges, 10 * torch.randn(60), 15)
    M, half = dense(symmetric(adj, None)), adj.to_dense(torch.float64)
    half = (half + half.T) / 2
    assert torch.allclose(M, half / torch.linalg.eigvalsh(half).abs().max(), atol=1e-9)


def test_a_directed_graph_is_made_undirected():
    adj = Adjacency.of(torch.tensor([[0, 1, 2], [1, 2, 3]]), None, 4)
    M = dense(symmetric(adj, "D^−½AD^−½"))
    assert torch.equal(M, M.T)
    assert M[1, 0] > 0
