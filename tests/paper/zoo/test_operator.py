import pytest
import torch
from torch_geometric.data import Data
from towns import close, towns, walk
from zoo_graph import settings, share_right, small

from panconv import MET, Adjacency, Walks
from panconv.compute.spmm import spmm
from panconv.paper.zoo import trainer
from panconv.paper.zoo.operator import dropped, graph, operands, operator, powers, renormalized, with_loops


def test_a_base_of_the_graph_or_its_weights_as_they_stand():
    data = towns(weighted=True)
    A = torch.zeros(60, 60).index_put((data.edge_index[1], data.edge_index[0]), data.edge_weight)
    close(graph(data).to_dense(), A)
    close(operator(data, {"normalize": True}, "D⁻¹A").to_dense(), A / A.sum(1, keepdim=True))
    close(operator(data, {"normalize": False}, "D⁻¹A").to_dense(), A)
    a, a_t = operands(data, {"normalize": False}, "D⁻¹A")
    assert a.value.dtype == a_t.value.dtype == torch.float32


def test_what_the_top_k_of_the_menu_drops():
    data = towns()
    M = MET(Walks(graph(data), 2), torch.tensor([1.0, 0.5, 0.25]), 2).to_dense()
    kept = M.abs().sort(dim=1, descending=True).values[:, :3].sum()
    entry = {"method": 2, "L": 2, "weights": [1, 0.5, 0.25], "top_k": 3, "normalize": True}
    close(torch.tensor(dropped(data, entry)), 1 - kept / M.abs().sum())


def test_a_self_loop_that_is_there_stays_as_it_is():
    A = torch.tensor([[0.5, 2.0], [2.0, 0.0]])
    data = Data(x=torch.zeros(2, 1), edge_index=A.nonzero().T, edge_weight=A[A != 0])
    looped = torch.tensor([[0.5, 2.0], [2.0, 1.0]])
    root = looped.sum(1).rsqrt()
    for normalize, expected in ((True, root[:, None] * looped * root), (False, A)):
        a, a_t = renormalized(data, {"normalize": normalize})
        close(spmm(a, a_t, torch.eye(2)), expected)


def test_powers_one_after_another():
    data = towns(weighted=True)
    P = walk(data)
    found = list(powers(operands(data, {"normalize": True}, "D⁻¹A"), data.x, 3))
    close(torch.cat(found, dim=1), torch.cat([data.x, P @ data.x, P @ P @ data.x, P @ P @ P @ data.x], dim=1))
    assert next(powers(operands(data, {"normalize": True}, "D⁻¹A"), data.x, 0)) is data.x


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
