import pytest
import torch
from torch.testing import assert_close as close
from torch_geometric.nn import ChebConv
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import chebnet, trainer


def dense(matrix):
    zeros = torch.zeros(60, 60, dtype=torch.float64)
    return zeros.index_put((matrix.row(), matrix.col.long()), matrix.value.double())


@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_the_scheme_gives_what_pyg_gives(K):
    data, _ = small()
    ours, theirs = chebnet.Filter(8, 3, K, *chebnet.scaled(data, {"normalize": True})), ChebConv(8, 3, K)
    theirs.load_state_dict(ours.state_dict())
    close(ours(data.x), theirs(data.x, data.edge_index))


@pytest.mark.parametrize("K", [1, 2, 4])
def test_k_matrices_reach_k_minus_1_steps(K):
    path = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    adj = Adjacency.of(torch.cat([path, path.flip(0)], 1), torch.rand(10))
    layer, x = chebnet.Filter(2, 3, K, *adj.operands(torch.float32)), torch.rand(6, 2, requires_grad=True)
    layer(x).pow(2)[0].sum().backward()
    assert (x.grad.abs().sum(1) > 0).tolist() == [i < K for i in range(6)]


def test_of_one_matrix_nothing_is_left_but_an_mlp():
    data, _ = small()
    how = settings("chebnet", K=1)
    blind = data.clone()
    blind.edge_index = data.edge_index[:, :0]
    assert torch.equal(trainer("chebnet")(data, how, [0]), trainer("chebnet")(blind, how, [0]))


def test_an_operator_is_brought_into_chebyshevs_interval():
    data, _ = small()
    M = Adjacency.of(data.edge_index, num_nodes=60).to_dense(torch.float64)
    data.edge_weight = torch.ones(data.num_edges)
    L, transposed = (dense(each) for each in chebnet.scaled(data, {"normalize": False}))
    values = torch.linalg.eigvalsh(M)
    assert torch.linalg.eigvalsh(L).abs().max() == pytest.approx(1, abs=1e-4)
    close(L, -M / values.abs().max(), rtol=1e-4, atol=1e-5)
    close(transposed, L.T)
    # a graph that was normalised outside is the graph that is normalised here
    data.edge_weight = None
    plain, _ = chebnet.scaled(data, {"normalize": True})
    data.edge_index, data.edge_weight = torch.stack([plain.col, plain.row()]).long(), -plain.value
    close(chebnet.scaled(data, {"normalize": False})[0].value, plain.value, rtol=1e-4, atol=1e-5)
