import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import MET, METHODS, Adjacency, ShortestPaths, Walks
from panconv.met.by_length import numbered_terms, transposed_sum
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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weights", [[0.5, 1.0, 0.25], [[0.5, 1.0], [1.0, 0.0], [2.0, 0.25]]])
def test_the_terms_without_their_number_where_that_is_all(method, weights):
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, WEIGHT, num_nodes=5)
    M, x = MET(Walks(adj, 2), weights, method), torch.rand(5, 2, 3, dtype=torch.float64)
    found = numbered_terms(M, x)
    assert (found is None) is METHODS[method].divides
    assert numbered_terms(M.T, x) is None
    with pytest.raises(ValueError, match="x must have 5 rows"):
        numbered_terms(M, x[:2])
    if found is not None:
        numbers, terms = found[0].reshape(3, 1, -1, 1), torch.stack(list(found[1]))  # by trial, or for all alike
        assert numbers.dtype == terms.dtype == torch.float64
        close(terms * numbers, torch.stack(list(M.terms(x))))
        shared = torch.stack(list(numbered_terms(M, x[:, 0])[1]))  # of features that the trials share
        close(shared, terms[:, :, 0])
