"""The answers are the counts, the degrees do not tell the kinds apart, and a seed is a set."""

import networkx as nx
import pytest
import torch
from torch_geometric.utils import to_networkx

from panconv import MET, Adjacency, Walks
from panconv.data import counted_graphs
from panconv.data.counted import TEMPERATURE, L


@pytest.fixture(scope="module")
def graphs():
    return counted_graphs(graphs=200)


def test_triangles_are_counted(graphs):
    for data in graphs[:20]:
        G = to_networkx(data, to_undirected=True)
        expected = sum(nx.triangles(G).values()) / 3 / data.num_nodes
        assert float(data.y) == pytest.approx(expected)
        assert data.x.squeeze(1).tolist() == [degree for _, degree in sorted(G.degree)]


def test_the_free_energy_is_that_of_the_partition_function(graphs):
    energies = counted_graphs("free energy", 200)
    assert torch.equal(energies.edge_index, graphs.edge_index)
    weights = torch.exp(-torch.arange(L + 1).double() / TEMPERATURE)
    for i in range(10):
        adj = Adjacency.of(energies[i].edge_index, num_nodes=energies[i].num_nodes)
        Z = MET(Walks(adj, L), weights, method=1).partition
        assert float(energies.y[i]) == pytest.approx(-TEMPERATURE * float(Z.double().mean().log()), rel=1e-5)


def test_both_kinds_have_the_same_degrees_and_the_first_many_triangles(graphs):
    many = counted_graphs(graphs=1000)
    degree = torch.zeros(1000).index_add(0, torch.arange(1000).repeat_interleave(many.sizes.cpu()), many.x[:, 0])
    degree /= many.sizes
    assert degree[::2].mean() == pytest.approx(float(degree[1::2].mean()), abs=0.3)
    assert many.y[::2].mean() > 2 * many.y[1::2].mean()
    assert {int(n) for n in many.sizes} == set(range(10, 31))


def test_the_first_graphs_of_a_large_set_are_those_of_a_small_one(graphs):
    small = counted_graphs(graphs=30)
    assert torch.equal(small.x, graphs.x[: len(small.x)])
    assert torch.equal(small.y, graphs.y[:30])
    assert not torch.equal(counted_graphs(graphs=30, seed=1).y, small.y)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (
            "target must be one of triangles, free energy, got 'triangle': did you mean 'triangles'",
            {"target": "triangle"},
        ),
        ("graphs must be", {"graphs": 0}),
        ("seed must be", {"seed": -1}),
    ],
)
def test_bad_input(words, given):
    with pytest.raises(ValueError, match=words):
        counted_graphs(**given)
