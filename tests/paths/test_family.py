import functools

import pytest
import torch

from panconv import MET, Adjacency, PANConv, PowerLaw, Walks
from panconv.nn import PANAttention
from panconv.paths import PathFamily
from panconv.testing import assert_operator, close

K = [1.0, 0.5, 0.25]


class Backwards(PathFamily):
    """A family of a user's own: walks against the edges, for method 3 alone, under weights of their own kind."""

    methods, natural_weights, counts_steps = (3,), "power-law", False

    def __init__(self, adj, L):
        adj = Adjacency.of(adj)
        self.walks = Walks(
            Adjacency.from_edge_index(torch.stack([adj.row, adj.col.long()]), num_nodes=adj.num_nodes), L
        )
        self.adj, self.L = self.walks.adj, L

    def on(self, base):
        return self

    def summands(self, weights):
        return self.walks, weights


def test_what_a_family_declares_is_what_is_asked_for():
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    M = MET(Backwards(edges, 2), method=3)
    assert type(M.weights) is PowerLaw
    assert_operator(MET(Backwards(edges, 2), PowerLaw(2, trained=False), 3))
    close(
        MET(Backwards(edges, 2), K, 3).to_dense(torch.float64),
        MET(Walks(edges.flip(0), 2), K, 3).to_dense(torch.float64),
    )
    with pytest.raises(ValueError, match="use method 3"):
        MET(Backwards(edges, 2), method=1)
    for made in (Backwards, functools.partial(Backwards)):
        assert type(PANConv(2, 2, method=3, paths=made).weights) is PowerLaw
        with pytest.raises(ValueError, match="use method 3"):
            PANConv(2, 2, method=1, paths=made)
        with pytest.raises(ValueError, match="do not tell apart"):
            PANConv(2, 2, method=3, paths=made, concat=True)
        with pytest.raises(ValueError, match="do not tell apart"):
            PANAttention(2, 2, method=3, paths=made)
    assert PANConv(2, 2, method=3, paths=lambda adj, L: Backwards(adj, L))(torch.ones(3, 2), edges).shape == (3, 2)
