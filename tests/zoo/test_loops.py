import torch
from torch_geometric.data import Data

from panconv import Adjacency
from panconv.zoo.loops import with_loops


def test_every_node_is_its_own_neighbour_once():
    data = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 0, 2]]), edge_weight=torch.rand(3))
    looped = with_loops(data)
    expected = torch.eye(4)
    expected[0, 1] = expected[1, 0] = 1
    assert torch.equal(Adjacency.of(looped.edge_index, looped.edge_weight, 4).to_dense(), expected)
    assert data.num_edges == 3  # the graph that was given is as it was
    assert data.edge_weight is not None
