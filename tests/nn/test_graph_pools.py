import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch import nn
from torch_geometric.nn import SAGPooling

from panconv import Adjacency
from panconv.nn import graph_pools
from panconv.nn.graph_pools import as_edges, pooled, pools_from

X, BATCH = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 0, 0, 1])


def test_where_they_stand():
    assert len(pools_from(None, 3, 2, None)) == 0
    assert list(pools_from({"kind": "topk"}, 3, 3, None)) == ["1", "2", "3"]
    found = pools_from({"kind": "sag", "layers": [2], "ratio": 0.25}, 3, 3, None)
    assert list(found) == ["2"]
    assert isinstance(found["2"], SAGPooling)
    assert found["2"].ratio == 0.25


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["topk", "sag"])
def test_on_a_prepared_graph_as_on_its_edges(kind, weighted):
    weight = torch.rand(8) if weighted else None
    adj = Adjacency.of(TRIANGLE_AND_TAIL, weight)
    pool = pools_from({"kind": kind, "ratio": 0.6}, 3, 1, None)["1"]
    x, (edges, weights), batch = pooled(pool, X, (adj,), BATCH)
    expected = pool(X, *as_edges(adj, None), BATCH)
    assert torch.equal(x, expected[0])
    assert torch.equal(edges, expected[1])
    assert (weights is None) is not weighted
    assert torch.equal(batch, expected[3])
    assert torch.bincount(batch).tolist() == [2, 1]


def test_edges_of_a_graph():
    weight = torch.rand(8, dtype=torch.float64)
    for graph in (Adjacency.of(TRIANGLE_AND_TAIL, weight), Adjacency.of(TRIANGLE_AND_TAIL, weight).base("Â")):
        edges, weights = as_edges(graph, None)
        dense = torch.zeros(4, 4, dtype=weights.dtype).index_put((edges[1], edges[0]), weights)
        torch.testing.assert_close(dense, graph.to_dense(weights.dtype))
    assert as_edges(TRIANGLE_AND_TAIL, weight) == (TRIANGLE_AND_TAIL, weight)


def test_ours_is_called_as_pygs_are_and_may_take_the_graph_as_it_is(monkeypatch):
    adj, seen = Adjacency.of(TRIANGLE_AND_TAIL), []

    class Kept(nn.Module):
        def __init__(self, channels, ratio):
            super().__init__()
            self.made = channels, ratio

        def forward(self, x, edge_index, edge_weight, batch):
            seen.append((edge_index, edge_weight))
            return x[:2], "edges", "weights", batch[:2], torch.arange(2), torch.ones(2)

    monkeypatch.setitem(graph_pools.POOLS, "pan", Kept)
    pool = pools_from({"ratio": 0.5}, 3, 1, None)["1"]
    assert pool.made == (3, 0.5)
    x, graph, batch = pooled(pool, X, (adj,), BATCH)
    assert seen == [(adj, None)]
    assert (len(x), graph, batch.tolist()) == (2, ("edges", "weights"), [0, 0])


@pytest.mark.parametrize(
    ("given", "trials", "error", "words"),
    [
        (0.5, None, TypeError, "pool must be a dict of the options of a pool"),
        ({"kind": "topk"}, 2, ValueError, "pool goes with one trial"),
        ({"kind": "top"}, None, ValueError, "pool kind must be one of pan, sag, topk, got 'top': did you mean 'topk'"),
        ({"kind": "topk", "layers": [4]}, None, ValueError, r"pool layers must be numbers of layers, 1 … 3, got \[4\]"),
        ({"kind": "topk", "layers": 1}, None, ValueError, "pool layers must be numbers"),
        ({"kind": "topk", "ration": 0.5}, None, ValueError, "pool = .* cannot be made, .*: change its options"),
    ],
)
def test_refusals(given, trials, error, words):
    with pytest.raises(error, match=words):
        pools_from(given, 3, 3, trials)
