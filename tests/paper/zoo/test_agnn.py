import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close as close
from zoo_graph import check_dropouts, settings, small

from panconv import Adjacency
from panconv.paper.zoo import agnn
from panconv.paper.zoo.operator import with_loops


def parts(**changes):
    data, _ = small()
    adj = Adjacency.of(with_loops(data).edge_index, num_nodes=60)
    return data.x, adj, agnn.Attentive(settings("agnn", **changes), 8, 2).eval()


@pytest.mark.parametrize("fixed", [0, 1])
def test_it_attends_by_cosine(fixed):
    x, adj, model = parts(fixed=fixed)
    betas = [0.0 if layer < fixed else 3.0 + layer for layer in range(2)]
    for propagation, beta in zip(model.propagations, betas, strict=True):
        assert isinstance(propagation.beta, torch.nn.Parameter) == (beta != 0)
        propagation.beta.data.fill_(beta) if beta else None
    h = F.linear(x, model.first.weight, model.first.bias).relu()
    for beta in betas:
        direction = F.normalize(h, dim=1)
        scores = beta * direction @ direction.T
        h = scores.masked_fill(adj.to_dense() == 0, -torch.inf).softmax(1) @ h
    close(model(x, adj), F.linear(h, model.second.weight, model.second.bias))


def test_between_the_two_maps_only_attention_is_trained():
    _, _, model = parts(layers=4, fixed=1)
    names = {name for name, _ in model.named_parameters()}
    betas = {f"propagations.{layer}.beta" for layer in (1, 2, 3)}
    assert names == {"first.weight", "first.bias", "second.weight", "second.bias"} | betas


def test_what_goes_into_either_map_is_dropped():
    x, adj, model = parts(dropout=0.3)
    check_dropouts(model, 0.3, lambda model: model(x, adj), ["drop_input", "drop_hidden"])


def test_no_more_layers_are_fixed_than_there_are():
    parts(layers=2, fixed=2)
    with pytest.raises(ValueError, match="fixed must be at most layers, got fixed = 3 and layers = 2"):
        parts(layers=2, fixed=3)
