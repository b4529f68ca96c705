import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close as close
from torch_geometric.nn import SGConv
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import sgc, trainer


def regressed(monkeypatch, data, how):
    """The features that the regression is given, and its module."""
    seen = []
    monkeypatch.setattr(sgc, "fitted_alone", lambda make, z, *others: seen.extend([z, make(8, 2)]))
    sgc.train(data, how, [0])
    return seen


@pytest.mark.parametrize("K", [1, 2, 3])
def test_a_regression_on_propagated_features(K, monkeypatch):
    data, _ = small()
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    z, model = regressed(monkeypatch, data, settings("sgc", K=K))
    A = torch.linalg.matrix_power(adj.base("Â").to_dense(), K)
    close(z, A @ data.x)
    close(model(z, None), F.linear(A @ data.x, model.weight, model.bias))
    theirs = SGConv(8, 2, K)
    theirs.lin.load_state_dict(model.state_dict())
    close(model(z, None), theirs(data.x, data.edge_index))


def test_the_weights_can_be_the_operator():
    data, _ = small()
    a = Adjacency.of(data.edge_index, num_nodes=60).base("Â")
    data.edge_index = torch.stack([a.col.long(), a.row])
    data.edge_weight = a.operands(torch.float32)[0].value
    given = trainer("sgc")(data, settings("sgc", normalize=False), [0, 1])
    plain, _ = small()
    torch.testing.assert_close(given, trainer("sgc")(plain, settings("sgc"), [0, 1]), rtol=1e-4, atol=1e-5)


def test_it_propagates_once(monkeypatch):
    """Whatever the number of trials and epochs, and the graph that was handed in keeps its features."""
    data, _ = small()
    calls, powers = [], sgc.powers
    monkeypatch.setattr(sgc, "powers", lambda *args: calls.append(args) or powers(*args))
    trainer("sgc")(data, settings("sgc", epochs=5), [0, 1])
    assert len(calls) == 1
    assert torch.equal(data.x, small()[0].x)


def test_an_operator_without_weights_has_ones(monkeypatch):
    data, _ = small()
    how = settings("sgc", normalize=False)
    given = trainer("sgc")(data, how, [0, 1])
    data.edge_weight = torch.ones(data.num_edges)
    assert torch.equal(given, trainer("sgc")(data, how, [0, 1]))
    A = Adjacency.of(data.edge_index, num_nodes=60).to_dense()
    close(regressed(monkeypatch, data, settings("sgc", K=2, normalize=False))[0], A @ A @ data.x)
