"""What lies around some seeds, and what a model takes from the whole graph."""

import pytest
import torch
from helpers.graphs import graphs
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import k_hop_subgraph

from panconv import PAN, Adjacency, PANConv
from panconv.data.blocks import Need, cut, needs_of
from panconv.data.edge_source import AdjacencySource
from panconv.graph.degrees import Facts


@given(graphs(min_nodes=1), st.integers(0, 4), st.data())
def test_it_holds_what_is_within_the_hops(graph, hops, data):
    nodes = st.integers(0, graph.num_nodes - 1)
    seeds = torch.tensor(data.draw(st.lists(nodes, unique=True)), dtype=torch.long)
    source = AdjacencySource(Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes))
    block, found = cut(source, seeds, hops, [])
    assert found[: len(seeds)].tolist() == seeds.tolist()
    expected = k_hop_subgraph(seeds, hops, graph.edge_index, num_nodes=graph.num_nodes)[0]
    assert found.sort().values.tolist() == expected.tolist()
    assert block.num_self_loops == int((block.row == block.col).sum())
    rim = torch.isin(found, cut(source, seeds, hops - 1, [])[1], invert=True) if hops else torch.ones_like(found).bool()
    assert not rim[block.row].any()
    assert block.num_edges == int(graph.dense()[found[~rim]].ne(0).sum()) or graph.edge_weight is not None


def test_a_model_names_what_it_takes():
    undirected, directed, signed = Facts(undirected=True), Facts(), Facts(undirected=True, signed=True)
    assert needs_of(PAN(3, 4, 2, L=3, method=7), undirected) == {Need("Â", 3, True)}
    assert needs_of(PAN(3, 4, 2, L=3, method=5), undirected) == {Need("Â", 3, False)}
    assert needs_of(PAN(3, 4, 2, L=3, method=5), directed) == {Need("Â", 3, True)}
    both = nn.ModuleList([PANConv(3, 3, L=1, method=1), PANConv(3, 3, method=1, paths="shortest"), GCNConv(3, 3)])
    assert needs_of(both, undirected) == {Need("A", 1, True), Need("A", 2, False)}
    with pytest.raises(ValueError, match="paths 'shortest' with method 1 divide by sums over the paths of a block"):
        needs_of(both, signed)
