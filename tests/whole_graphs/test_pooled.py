"""PyG's pools in a plain network: which nodes SAGPooling keeps does not hang on a sign that was drawn."""

import pytest
import torch
from torch_geometric.nn import SAGPooling

from panconv.training.modules import restarted
from panconv.whole_graphs.pooled import PooledGCN

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
BATCH = torch.tensor([0, 0, 0, 1, 1])


def test_where_the_pools_stand():
    for layers, places in ((1, []), (2, []), (3, ["1"]), (4, ["1"]), (5, ["1", "3"])):
        assert list(PooledGCN(3, 4, 2, layers).pools) == places


@pytest.mark.parametrize("pool", ["sag", "topk"])
@pytest.mark.parametrize("readout", ["sum", "mean"])
def test_a_batch_is_its_graphs_one_by_one(pool, readout):
    model, x = PooledGCN(3, 4, 2, pool=pool, readout=readout).eval(), torch.randn(5, 3)
    found = model(x, EDGES, batch=BATCH)
    one, other = model(x[:3], EDGES[:, :4]), model(x[3:], EDGES[:, 4:] - 3)
    torch.testing.assert_close(found, torch.cat([one, other]))
    torch.testing.assert_close(model(x, EDGES, torch.ones(6), BATCH), found)
    assert model(x, EDGES, batch=BATCH, batch_size=4).shape == (4, 2)  # the last two have no nodes


def test_edges_count_by_their_weights():
    model, x, batch = PooledGCN(3, 16, 2, pool="topk").eval(), torch.randn(5, 3), BATCH
    weight = torch.tensor([1.0, 1, 0, 0, 1, 1])
    found = model(x, EDGES, weight, batch)
    torch.testing.assert_close(found, model(x, EDGES[:, weight > 0], batch=batch))
    assert not torch.allclose(found, model(x, EDGES, batch=batch))


def test_the_sign_of_sagpooling_is_no_matter_of_chance():
    signs = set()
    for seed in range(8):
        torch.manual_seed(seed)
        plain, model = SAGPooling(4), restarted(PooledGCN(3, 4, 2, pool="sag"))
        signs.add(plain.select.weight.detach().sign().item())
        weight = model.pools["1"].select.weight
        assert weight.item() == 1
        assert not weight.requires_grad
    assert signs == {-1.0, 1.0}  # what PyG does by itself


def test_a_new_start_is_another_one():
    torch.manual_seed(0)
    model = PooledGCN(3, 4, 2, pool="topk")
    before = {name: p.clone() for name, p in model.named_parameters()}
    model.reset_parameters()
    assert not any(torch.equal(p, before[name]) for name, p in model.named_parameters() if p.dim() > 1)


def test_refusals():
    with pytest.raises(ValueError, match="pool must be one of sag, topk, got 'sga': did you mean 'sag'"):
        PooledGCN(3, 4, 2, pool="sga")
    with pytest.raises(ValueError, match="readout must be one of sum, mean, max"):
        PooledGCN(3, 4, 2, readout="median")
