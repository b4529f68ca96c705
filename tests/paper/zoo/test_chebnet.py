import pytest
import torch
from torch.testing import assert_close as close
from torch_geometric.nn import ChebConv
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import chebnet, trainer
from panconv.paper.zoo.stack import edges


@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_the_scheme_gives_what_pyg_gives(K):
    data, _ = small()
    ours, theirs = chebnet.Filter(8, 3, K), ChebConv(8, 3, K)
    theirs.load_state_dict(ours.state_dict())
    rescaled = chebnet.scaled(data, {"normalize": True})
    close(ours(data.x, rescaled.edge_index, rescaled.edge_weight), theirs(data.x, data.edge_index))


@pytest.mark.parametrize("K", [1, 2, 4])
def test_k_matrices_reach_k_minus_1_steps(K):
    path = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    adj = Adjacency.of(torch.cat([path, path.flip(0)], 1))
    layer, x = chebnet.Filter(2, 3, K), torch.rand(6, 2, requires_grad=True)
    layer(x, edges(adj)[0], torch.rand(10)).pow(2)[0].sum().backward()
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
    rescaled = chebnet.scaled(data, {"normalize": False})
    L = Adjacency.of(rescaled.edge_index, rescaled.edge_weight, 60).to_dense(torch.float64)
    values = torch.linalg.eigvalsh(M)
    assert torch.linalg.eigvalsh(L).abs().max() == pytest.approx(1, abs=1e-4)
    close(L, -M / values.abs().max(), rtol=1e-4, atol=1e-5)
    # a graph that was normalised outside is the graph that is normalised here
    data.edge_weight = None
    plain = chebnet.scaled(data, {"normalize": True})
    data.edge_index, data.edge_weight = plain.edge_index, -plain.edge_weight
    close(chebnet.scaled(data, {"normalize": False}).edge_weight, plain.edge_weight, rtol=1e-4, atol=1e-5)
