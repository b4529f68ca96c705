"""Nodes alike, beside dense powers of P."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.utils import to_undirected

from panconv.tasks.similar import similar


@pytest.mark.parametrize("steps", [1, 3])
def test_it_is_the_cosine_of_the_rows(steps):
    graph = nx.karate_club_graph()
    a = nx.to_numpy_array(graph, weight=None)
    p, pi = a / a.sum(1, keepdims=True), a.sum(1) / a.sum()
    rows = np.linalg.matrix_power(p, steps) / np.sqrt(pi)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    expected = rows @ rows[5]
    nodes, cosine = similar(to_undirected(torch.tensor(list(graph.edges)).T), 5, 8, steps=steps)
    np.testing.assert_allclose(cosine, np.sort(np.delete(expected, 5))[::-1][: len(cosine)])
    np.testing.assert_allclose(cosine, expected[nodes])


def test_a_node_alone():
    nodes, cosine = similar(torch.tensor([[0, 1], [1, 0]]), 0, steps=1)
    assert nodes.tolist() == []
    assert cosine.tolist() == []
    with pytest.raises(ValueError, match="node must be an integer of at least 0"):
        similar(torch.tensor([[0, 1], [1, 0]]), 7)
