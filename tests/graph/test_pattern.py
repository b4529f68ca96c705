"""What follows from where a matrix has its entries: found when asked for, once, and right."""

import copy
import pickle

import pytest
import torch
from graphs import graphs
from hypothesis import given

from panconv.graph.pattern import Pattern
from panconv.graph.sorting import sort_edges


@given(graphs(weighted=False))
def test_all_that_can_be_asked_is_that_of_the_dense_matrix(graph):
    N = graph.num_nodes
    pattern = sort_edges(graph.edge_index, N, weighted=False).pattern
    A = torch.zeros(N, N).index_put((pattern.row, pattern.col.long()), torch.ones(pattern.col.numel()))
    assert pattern.is_symmetric == torch.equal(A, A.T)
    assert pattern.num_self_loops == int(A.diag().sum())
    assert pattern.longest == (int(A.sum(1).max()) if N else 0)
    for other in (copy.deepcopy(pattern), pickle.loads(pickle.dumps(pattern)), pattern.changed(_cloned)):
        assert other.is_symmetric == pattern.is_symmetric
        assert torch.equal(other.by_column()[2], pattern.by_column()[2])


def _cloned(part):
    """As a graph that travels changes the tensors of its pattern."""
    if isinstance(part, tuple):
        return tuple(map(_cloned, part))
    return part.clone() if isinstance(part, torch.Tensor) else part


def test_it_is_found_once_and_not_before(monkeypatch):
    asked = []
    found = torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([1, 0], dtype=torch.int32), torch.tensor([1, 0])
    monkeypatch.setattr("panconv.graph.pattern.order_by_column", lambda *a: asked.append(a) or found)
    pattern = Pattern(found[0], found[1])
    assert not asked
    for _ in range(2):
        assert pattern.is_symmetric
        assert pattern.by_column()[0] is pattern.crow  # no second copy of a symmetric one
    assert len(asked) == 1
    like = Pattern(found[0], found[1], like=pattern)
    assert like.is_symmetric
    assert len(asked) == 1


def test_what_is_found_at_inference_serves_training():
    pattern = Pattern(torch.tensor([0, 1, 2]), torch.tensor([1, 0]))
    with torch.inference_mode():
        row = pattern.row
    assert not row.is_inference()


@pytest.mark.parametrize(("other", "mirrored"), [(1.0, True), (1 + 1e-7, True), (1.01, False)])
def test_rounding_both_ways_means_nothing(other, mirrored):
    pattern = Pattern(torch.tensor([0, 1, 2]), torch.tensor([1, 0]))
    value, same = pattern.mirrored(torch.tensor([1.0, other]))
    assert same == mirrored
    assert (float(value[0]) == float(value[1])) == mirrored
