import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import MET, METHODS, Adjacency, ShortestPaths, Walks
from panconv.met.single import PathFactors
from panconv.testing import close

WEIGHT = torch.tensor([1.0, 2.0, 0.5, 0.5, 1.0, 3.0, 1.0, 2.0], dtype=torch.float64)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [Walks, ShortestPaths])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_factors_around_the_products_are_m(method, family, shape):
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, WEIGHT, num_nodes=5)  # node 4 is alone
    weights = torch.rand(shape, dtype=torch.float64) + 0.1
    M = MET(family(adj, 2), weights, method)
    factors = PathFactors.of(M)
    eye = torch.eye(5, dtype=torch.float64)
    trials = 1 if len(shape) == 1 else shape[1]
    G = torch.stack(list(M.paths.terms(eye)))  # (L+1, N, N)
    before, behind = (each.reshape(3, 5, trials) for each in (factors.log_before.exp() * factors.sign, factors.behind))
    found = torch.einsum("nis,nij,njs->sij", before, G, behind)
    found = found + torch.diag_embed(factors.alone.reshape(5, trials).T)
    close(found, M.to_dense(torch.float64).reshape(trials, 5, 5))


def test_factors_beyond_floating_point():
    adj, L = Adjacency.from_edge_index(torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1]]), 1e30 * torch.ones(4)), 40
    factors = PathFactors.of(MET(Walks(adj, L), [1.0] * (L + 1), 3))
    close(factors.log_before[:, 0], -torch.arange(L + 1) * torch.tensor(2e30, dtype=torch.float64).log())
