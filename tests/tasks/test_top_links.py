"""The best pairs of all, beside the scores of all pairs."""

from importlib import import_module

import networkx as nx
import pytest
import torch
from torch_geometric.utils import to_undirected

from panconv.tasks.link_prediction import link_scores
from panconv.tasks.top_links import top_links


@pytest.mark.parametrize("walk", ["generic", "maximal-entropy"])
@pytest.mark.parametrize("at_once", [1, 2**24])
def test_they_are_the_best_of_all_pairs(monkeypatch, walk, at_once):
    monkeypatch.setattr(import_module("panconv.tasks.top_links"), "_AT_ONCE", at_once)
    graph = nx.gnm_random_graph(40, 70, seed=1)
    graph = graph.subgraph(max(nx.connected_components(graph), key=len))
    graph = nx.convert_node_labels_to_integers(graph)
    edges = to_undirected(torch.tensor(list(graph.edges)).T)
    every = torch.tensor(list(nx.non_edges(graph))).T.sort(0).values
    scores = link_scores(edges, every, walk, steps=3)
    pairs, found = top_links(edges, 25, walk, steps=3)
    torch.testing.assert_close(found, scores.sort(descending=True).values[:25])
    torch.testing.assert_close(link_scores(edges, pairs, walk, steps=3), found)
    assert not {tuple(pair) for pair in pairs.T.tolist()} & {tuple(pair) for pair in edges.T.tolist()}


def test_fewer_where_fewer_are_joined():
    pairs, scores = top_links(torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), 5)
    assert pairs.shape == (2, 0)
    assert scores.shape == (0,)
    with pytest.raises(ValueError, match="steps must be an integer of at least 2"):
        top_links(torch.tensor([[0, 1], [1, 0]]), 5, steps=1)
