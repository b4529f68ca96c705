import pytest
import torch
from torch.testing import assert_close as close
from zoo_graph import classes, settings, share_right, small

from panconv import Adjacency
from panconv.nn import Dropout
from panconv.paper.zoo import gcn, gln, trainer
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import edges


def test_it_is_two_layers_of_means_over_neighbours():
    data, _ = small()
    model = gcn.network(settings("gcn"), 8, 2, *renormalized(data, {})).eval()
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    A = adj.base("Â").to_dense()
    hidden = (A @ data.x @ model.first.lin.weight.T).relu()
    close(model(data.x, adj), A @ hidden @ model.second.lin.weight.T)


def test_the_weights_can_be_the_operator():
    data, _ = small()
    M = torch.rand(60, 60) * (torch.rand(60, 60) < 0.1)
    adj = Adjacency.from_sparse(M.to_sparse())
    data.edge_index, data.edge_weight = edges(adj)
    how = settings("gcn", normalize=False)
    model = gcn.network(how, 8, 2, *renormalized(data, how)).eval()
    hidden = (M @ data.x @ model.first.lin.weight.T).relu()
    close(model(data.x, adj), M @ hidden @ model.second.lin.weight.T)


def test_a_repeated_edge_is_one_edge():
    data, _ = small()
    once = renormalized(data, {})
    data.edge_index = torch.cat([data.edge_index, data.edge_index[:, :7]], 1)
    for a, b in zip(once, renormalized(data, {}), strict=True):
        close(a.value, b.value)


@pytest.mark.parametrize("name", ["gcn", "chebnet", "gln", "agnn", "gat", "sgc", "ssgc"])
def test_neighbours_tell_what_features_do_not(name):
    """And a trial is what it is alone, whatever else is trained beside it; the test nodes' labels are nobody's."""
    data, truth = small()
    how = settings(name, **({"lr": 0.3} if name.endswith("sgc") else {}))
    told = []
    predicted = classes(trainer(name)(data, how, [4, 5], tell=told.append))
    assert predicted.shape == (2, 60)
    assert share_right(predicted, truth, data.test_mask) > 0.85
    assert torch.equal(predicted[1:], classes(trainer(name)(data, how, [5])))
    assert told
    assert told == sorted(told)
    assert told[-1] <= 1


@pytest.mark.parametrize(("module", "activation"), [(gcn, torch.relu), (gln, torch.nn.Identity())])
def test_what_goes_into_either_layer_is_dropped(module, activation):
    data, _ = small()
    model = module.network(settings("gcn", dropout=0.3), 8, 2, *renormalized(data, {}))
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    A, drop = adj.base("Â").to_dense(), [Dropout(0.3), Dropout(0.3)]
    for key, (ours, plain) in enumerate(zip((model.drop_input, model.drop_hidden), drop, strict=True)):
        ours.keys = plain.keys = torch.tensor(key)
    hidden = activation(A @ drop[0](data.x) @ model.first.lin.weight.T)
    close(model(data.x, adj), A @ drop[1](hidden) @ model.second.lin.weight.T)
    assert not torch.allclose(drop[0](data.x), data.x)
