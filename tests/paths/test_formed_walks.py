import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency
from panconv.paths import formed_walks as module
from panconv.paths.formed_walks import formed_walks
from panconv.testing import assert_gradients, close


@given(graphs(), st.integers(0, 4))
def test_the_powers_of_a_on_the_pattern_of_their_sum(graph, L):
    A = graph.dense()
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    walks, powers = formed_walks(adj, L), [torch.eye(len(A), dtype=A.dtype)]
    steps, there = torch.zeros_like(A), torch.eye(len(A), dtype=A.dtype)
    steps[adj.row, adj.col.long()] = 1  # an edge of weight 0 is an edge
    for _ in range(L):
        powers.append(powers[-1] @ A)
        there = torch.eye(len(A), dtype=A.dtype) + there @ steps
    row, col = (there > 0).nonzero(as_tuple=True)
    assert torch.equal(walks.pattern.row, row)
    assert torch.equal(walks.pattern.col.long(), col)
    close(walks.counts, torch.stack([power[row, col] for power in powers], 1))
    assert torch.equal(walks.reached, (there > 0).sum(1))
    assert torch.equal(walks.reaches, (there > 0).sum(0))
    c = torch.randn(L + 1)
    close(walks.sum(c), sum(c_n.double() * power for c_n, power in zip(c, powers, strict=True))[row, col])
    assert walks.pattern.is_symmetric == torch.equal(there > 0, there.T > 0)


def test_they_are_counted_once_and_kept_with_the_graph():
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    assert formed_walks(adj, 2) is formed_walks(adj, 2) is not formed_walks(adj, 3)


def test_gradients_reach_weights_that_ask_for_them():
    weight = torch.rand(TRIANGLE_AND_TAIL.size(1), dtype=torch.float64, requires_grad=True)
    c = torch.tensor([0.5, 1.0, -0.25, 2.0])
    assert_gradients(lambda: formed_walks(Adjacency.of(TRIANGLE_AND_TAIL, weight), 3).sum(c), weight)


def test_what_would_not_fit_is_refused(monkeypatch):
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    monkeypatch.setattr(module, "free_bytes", lambda device: 16 * 64)
    formed_walks(adj, 1)  # 8 entries; two steps would be at most the 16 of all pairs, and take more than their share
    with pytest.raises(ValueError, match=r"the sum of A\^n up to n = 3 on 4 nodes .* choose fewer steps, or PANConv"):
        formed_walks(adj, 3)
    with pytest.raises(ValueError, match="L must be at least 0"):
        formed_walks(adj, -1)
