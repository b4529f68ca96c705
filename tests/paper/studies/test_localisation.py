import networkx as nx
import numpy as np
import pytest
import torch

from panconv import MET, Adjacency, PowerLaw, Walks
from panconv.paper.studies import localisation


def operator(graph):
    edges = torch.tensor(list(graph.edges), dtype=torch.long).reshape(-1, 2).T
    adj = Adjacency.from_edge_index(torch.cat([edges, edges.flip(0)], 1), num_nodes=len(graph))
    return MET(Walks(adj, 3), PowerLaw(3, trained=False), 1)


@pytest.mark.parametrize("largest", [400, 10])
def test_a_drawing_of_a_small_graph_and_distributions_of_a_large_one(tmp_path, monkeypatch, largest):
    monkeypatch.setattr(localisation, "LARGEST_DRAWING", largest)
    localisation.draw_localisation(operator(nx.karate_club_graph()), "karate", tmp_path / "karate.svg")
    text = (tmp_path / "karate.svg").read_text()
    assert ("how much all nodes hear of each node" in text) == (largest == 400)
    assert ("mean path length" in text) == (largest == 10)


def test_the_layout_keeps_neighbours_near():
    adj = operator(nx.connected_caveman_graph(4, 6)).paths.adj
    at = localisation.spring_layout(adj)
    far = np.linalg.norm(at[:, None] - at[None], axis=2)
    joined = far[adj.row.numpy(), adj.col.numpy()].mean()
    assert joined < 0.5 * far.mean()
    assert np.array_equal(at, localisation.spring_layout(adj))


def test_nothing_to_draw(tmp_path):
    with pytest.raises(ValueError, match="no nodes"):
        localisation.draw_localisation(operator(nx.empty_graph(0)), "", tmp_path / "a.png")
