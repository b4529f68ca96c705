import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import MET, METHODS, Adjacency, ShortestPaths, Walks
from panconv.met.by_length import transposed_sum
from panconv.testing import close

WEIGHT = torch.tensor([1.0, 2.0, 0.5, 0.5, 1.0, 3.0, 1.0, 2.0], dtype=torch.float64)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [Walks, ShortestPaths])
def test_each_length_is_applied_to_its_own(method, family):
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, WEIGHT, num_nodes=5)  # node 4 is alone
    M = MET(family(adj, 3), [0.5, 1.0, 0.25, 2.0], method)
    v = torch.rand(4, 5, 2, 3, dtype=torch.float64)
    terms = torch.stack(list(M.terms(torch.eye(5, dtype=torch.float64))))  # (L+1, N, N)
    close(transposed_sum(M, list(v)), torch.einsum("nij,niab->jab", terms, v))
