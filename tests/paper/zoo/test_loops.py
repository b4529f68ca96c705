import pytest
import torch
from torch_geometric.data import Data
from zoo_graph import settings, share_right, small

from panconv import Adjacency
from panconv.paper.zoo import trainer
from panconv.paper.zoo.loops import with_loops


def test_every_node_is_its_own_neighbour_once():
    data = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 0, 2]]), edge_weight=torch.rand(3))
    looped = with_loops(data)
    expected = torch.eye(4)
    expected[0, 1] = expected[1, 0] = 1
    assert torch.equal(Adjacency.of(looped.edge_index, looped.edge_weight, 4).to_dense(), expected)
    assert data.num_edges == 3  # the graph that was given is as it was
    assert data.edge_weight is not None
    assert looped.x is data.x  # nothing is copied that stays


@pytest.mark.parametrize("name", ["gat", "agnn"])
def test_attention_knows_a_node_without_neighbours_by_its_own_features(name):
    data, truth = small()
    data.x = torch.nn.functional.one_hot(truth, 8).float()
    data.edge_index = torch.empty(2, 0, dtype=torch.long)
    predicted = trainer(name)(data, settings(name), [0])
    assert share_right(predicted, truth, data.test_mask) == 1
