import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close as close
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import sgc, trainer


@pytest.mark.parametrize("K", [1, 2, 3])
def test_a_regression_on_propagated_features(K):
    data, _ = small()
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    model = sgc.network(settings("sgc", K=K), 8, 2)
    A = torch.linalg.matrix_power(adj.base("Â").to_dense(), K)
    close(model(data.x, adj), F.linear(A @ data.x, model.layer.lin.weight, model.layer.lin.bias))


def test_the_weights_can_be_the_operator():
    data, _ = small()
    a = Adjacency.of(data.edge_index, num_nodes=60).base("Â")
    data.edge_index = torch.stack([a.col.long(), a.row])
    data.edge_weight = a.operands(torch.float32)[0].value
    given = trainer("sgc")(data, settings("sgc", normalize=False), [0, 1])
    plain, _ = small()
    assert torch.equal(given, trainer("sgc")(plain, settings("sgc"), [0, 1]))


def test_it_propagates_once():
    data, _ = small()
    model = sgc.network(settings("sgc"), 8, 2)
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    close(model(data.x, adj), model(torch.full_like(data.x, torch.nan), adj))


def test_an_operator_without_weights_has_ones():
    data, _ = small()
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    model = sgc.network(settings("sgc", K=2, normalize=False), 8, 2)
    A = adj.to_dense()
    close(model(data.x, adj), F.linear(A @ A @ data.x, model.layer.lin.weight, model.layer.lin.bias))
    how = settings("sgc", normalize=False)
    given = trainer("sgc")(data, how, [0, 1])
    data.edge_weight = torch.ones(data.num_edges)
    assert torch.equal(given, trainer("sgc")(data, how, [0, 1]))
