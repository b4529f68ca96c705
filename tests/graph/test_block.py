"""A block keeps what was counted on the whole graph: wherever it goes, and never takes its own sums for it."""

import copy
import pickle

import pytest
import torch
from helpers.graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import Adjacency, Walks
from panconv.data.blocks import Need, cut
from panconv.data.edge_source import AdjacencySource
from panconv.graph import BASES


def block_of(adj, seeds, hops, L=2):
    source, needs = AdjacencySource(adj), [Need(base, L, True) for base in BASES]
    for base in BASES:
        source.prepare(base, L)
    return cut(source, torch.tensor(seeds, dtype=torch.long), hops, needs)


@settings(max_examples=15)
@given(graphs(min_nodes=1), st.data())
def test_rows_of_every_base_are_those_of_the_whole_graph(graph, data):
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)
    seeds, hops = [data.draw(st.integers(0, graph.num_nodes - 1))], data.draw(st.integers(0, 3))
    block, nodes = block_of(adj, seeds, hops)
    inner = torch.isin(nodes, cut(AdjacencySource(adj), nodes[:1], max(hops - 1, 0), [])[1]) & (hops > 0)
    assert nodes[0] == seeds[0]
    assert nodes.unique().numel() == nodes.numel()
    for base in BASES:
        on, whole = block.base(base), adj.base(base)
        dense, expected = on.to_dense(torch.float64), whole.to_dense(torch.float64)
        torch.testing.assert_close(dense[inner], expected[nodes[inner]][:, nodes])
        outside = torch.ones(graph.num_nodes, dtype=torch.bool).index_fill(0, nodes, False)
        assert expected[nodes[inner]][:, outside].abs().sum() == 0
        counted = Walks(whole, 2).counts()
        torch.testing.assert_close(Walks(on, 2).counts().value, counted.value[:, nodes])
        assert not on.is_symmetric
        assert on.is_undirected == whole.is_undirected
        assert on.is_undirected or on.growth >= on.absolute().row_sums().max() - 1e-12


@pytest.mark.parametrize("move", [lambda b: pickle.loads(pickle.dumps(b)), copy.copy, lambda b: b.detach()])
def test_what_is_known_goes_along(move):
    block, nodes = block_of(Adjacency.of(TRIANGLE_AND_TAIL), [3], 1)
    moved = move(block)
    assert nodes.tolist() == [3, 2]
    assert Walks(moved, 2).counts().value.tolist() == [[1, 1], [1, 3], [3, 5]]  # of the whole graph
    torch.testing.assert_close(moved.base("Â").to_dense(), block.base("Â").to_dense())
    torch.testing.assert_close(Walks(moved.base("Â"), 2).counts().value, Walks(block.base("Â"), 2).counts().value)


def test_it_moves_to_a_device_with_what_it_knows():
    block, _ = block_of(Adjacency.of(TRIANGLE_AND_TAIL), [3], 1)
    assert block.to("cpu") is block
    moved = block.to("meta", non_blocking=True)
    assert Walks(moved, 2).counts().value.is_meta
    assert moved.base("Â").crow.is_meta
    assert not Walks(block, 2).counts().value.is_meta


def test_what_it_does_not_know_is_refused():
    block, _ = block_of(Adjacency.of(TRIANGLE_AND_TAIL), [3], 1)
    with pytest.raises(ValueError, match="does not hold that graph's path counts up to L = 3 on this base"):
        Walks(block, 3).counts()
    with pytest.raises(ValueError, match="which other weights would change"):
        block.with_values(None)
    bare, _ = cut(AdjacencySource(Adjacency.of(TRIANGLE_AND_TAIL)), torch.tensor([3]), 1, [])
    with pytest.raises(ValueError, match="does not hold that graph's degrees, which the base Â is divided by"):
        bare.base("Â")
    with pytest.raises(ValueError, match="base must be one of"):
        block.base("B")
