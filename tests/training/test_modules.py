import copy

import pytest
import torch
from torch import nn
from torch_geometric.nn import GAT, GCN, GCNConv, GraphConv
from torch_geometric.nn import Sequential as PyGSequential
from two_communities import small

from panconv import Adjacency, PANConv, fit
from panconv.nn import Dropout, Stacked
from panconv.training.modules import restarted


class Net(nn.Module):
    """PyG's layer, ours, a norm that remembers, and dropout that can be keyed."""

    def __init__(self, norm=True):
        super().__init__()
        # A bias before a norm has no effect and a gradient of rounding alone, which Adam makes steps of full size.
        self.first, self.second = GCNConv(-1, 8, bias=False), PANConv(8, 2, method=2)
        self.norm, self.drop = nn.BatchNorm1d(8) if norm else nn.Identity(), Dropout()

    def forward(self, x, edge_index, edge_weight=None):
        x = self.norm(self.first(self.drop(x), edge_index, edge_weight)).relu()
        return self.second(self.drop(x), edge_index, edge_weight)


SETTINGS = {"epochs": 20, "patience": 3, "lr": 0.1}


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_side_by_side_are_the_module_alone(weighted):
    data = small()
    if weighted:
        data.edge_weight = torch.rand(data.num_edges) + 0.5
    together = fit(Net(), data, seeds=[3, 1, 4], **SETTINGS)
    assert isinstance(together.model, Stacked)
    assert isinstance(together.best(), Net)
    for s in (0, 2):
        net, seed = Net(), together.seeds[s]
        alone = fit(net, data, seeds=[seed], **SETTINGS)
        assert alone.model is alone.best() is net
        assert (alone.best_epoch, alone.stopped_epoch) == ([together.best_epoch[s]], [together.stopped_epoch[s]])
        for name, values in alone.history.items():
            torch.testing.assert_close(values[:, 0], together.history[name][: len(values), s], rtol=1e-3, atol=1e-4)
        one = together.model.trial(s)
        for (name, mine), theirs in zip(net.state_dict().items(), one.state_dict().values(), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-2, atol=1e-3, msg=name)
        # as it was at its best, with the running means of that epoch
        scores = net(data.x, data.edge_index, data.edge_weight if weighted else None).detach()
        loss = nn.functional.cross_entropy(scores[data.val_mask], data.y[data.val_mask])
        assert float(loss) == pytest.approx(alone.val_loss[0], rel=1e-4)
        assert torch.equal(scores.argmax(1), alone.predicted[:, 0])
    assert len(set(together.val_loss)) == 3
    assert together.best_epoch[0] < together.stopped_epoch[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: GCN(6, 8, 2, 2, dropout=0.2, norm="BatchNorm"),
        lambda: GAT(6, 8, num_layers=2, out_channels=2),
        lambda: GraphConv(6, 2),
        lambda: PANConv(6, 2),
        lambda: PyGSequential("x, edge_index", [(GCNConv(6, 4), "x, edge_index -> x"), nn.ReLU(), nn.Linear(4, 2)]),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_pyg_models_train_as_they_are(make, sparse):
    for seeds in ([1], [1, 2]):
        result = fit(make(), small(sparse), seeds=seeds, epochs=8, lr=0.05)
        assert (result.history["train_loss"][-1] < result.history["train_loss"][0]).all()


def test_it_starts_from_the_seed_and_not_from_where_it_is():
    net, data = Net(), small()
    runs = [fit(net, data, seeds=[3], epochs=3).history["val_loss"] for _ in range(2)]
    assert torch.equal(*runs)
    before = torch.random.get_rng_state()
    fit(Net(), data, seeds=[1, 2], epochs=1)
    fit(Net(), data, seeds=[1], epochs=1)
    Net()
    Net()
    after = torch.random.get_rng_state()
    torch.random.set_rng_state(before)
    for _ in range(4):
        Net()
    assert torch.equal(torch.random.get_rng_state(), after)  # what a training draws is its own


def test_a_part_may_be_started_by_what_it_is_a_part_of():
    class Zero(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 2)

        def reset_parameters(self):
            nn.init.zeros_(self.lin.weight)

    whole = nn.Sequential(Zero(), nn.Linear(2, 2))
    fresh = restarted(whole)
    assert not fresh[0].lin.weight.any()
    assert not torch.equal(fresh[1].weight, whole[1].weight)


def test_what_is_not_trained_stays():
    net, data = Net(norm=False), small()
    net(data.x, data.edge_index)
    net.first.lin.weight.requires_grad_(False)
    kept = copy.deepcopy(net.first.lin.weight)
    for seeds in ([1], [1, 2]):
        best = fit(net, data, seeds=seeds, epochs=3).best()
        assert torch.equal(best.first.lin.weight, kept)
        assert best.second.bias.any()


class Own(nn.Module):
    """A parameter that nothing starts anew."""

    def __init__(self, look=False):
        super().__init__()
        self.conv, self.scale, self.look = GCNConv(6, 2), nn.Parameter(torch.ones(2)), look
        if look:
            self.reset_parameters = lambda: None

    def forward(self, x, edge_index):
        x = self.scale * self.conv(x, edge_index)
        return x if not self.look or float(x.sum()) > -1e9 else -x


def test_a_module_that_cannot_start_anew_has_one_seed():
    net = Own()
    nn.init.constant_(net.scale, 5.0)
    bias = net.conv.bias.detach().clone() + 1
    nn.init.ones_(net.conv.bias)
    fit(net, small(), epochs=1, lr=1e-3)
    torch.testing.assert_close(net.scale.detach(), torch.full((2,), 5.0), atol=0.01, rtol=0)  # from where it was
    torch.testing.assert_close(net.conv.bias.detach(), bias, atol=0.01, rtol=0)
    with pytest.raises(ValueError, match=r"nothing starts the model's parameter scale anew: give Own a method"):
        fit(net, small(), seeds=[1, 2])


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (lambda: Own(look=True), {"seeds": [1, 2]}, ValueError, "Own does not run side by side .*vmap.* one seed"),
        (lambda: nn.Linear(6, 2), {}, TypeError, "called with x and edge_index, got Linear, whose forward takes"),
        (lambda: PANConv(6, 2, trials=3), {}, ValueError, r"model must give scores \(N, C\).* got \(40, 3, 2\)"),
        (lambda: GCNConv(6, 1), {}, ValueError, "data.y names class 1, but the model has 1 classes"),
        (
            lambda: PyGSequential("x, edge_index", [(abs, "x -> x")]),
            {},
            ValueError,
            "model must have parameters",
        ),
        (lambda: Net, {}, TypeError, "model must be a PAN or another torch.nn.Module, got <class"),
        (Net, {"seeds": []}, ValueError, "seeds must be 1"),
        (Net, {"seeds": 3}, TypeError, "seeds must be a sequence"),
    ],
)
def test_refusals(make, options, error, message):
    with pytest.raises(error, match=message):
        fit(make(), small(), **options)


def test_weights_that_a_model_would_ignore():
    data = small()
    data.edge_weight = torch.ones(data.num_edges)
    with pytest.raises(ValueError, match="the model's forward has no argument edge_weight"):
        fit(Own(), data)


class Prepared(nn.Module):
    """Wants an `Adjacency`, and what else is there."""

    def __init__(self):
        super().__init__()
        self.conv, self.seen = PANConv(6, 2, method=1), []

    def forward(self, x, adj, batch, edge_attr=3):
        self.seen.append((adj, batch, edge_attr))
        return self.conv(x, adj)


@pytest.mark.parametrize("prepared", [False, True])
def test_arguments_go_by_their_names(prepared):
    data, net = small(), Prepared()
    data.edge_weight = torch.rand(data.num_edges)
    data.edge_attr = torch.ones(data.num_edges, 1)
    if prepared:
        data.adj = Adjacency.from_edge_index(data.edge_index, data.edge_weight, 40)
    fit(net, data, epochs=1)
    adj, batch, edge_attr = net.seen[0]
    torch.testing.assert_close(adj.value.sum(), data.edge_weight.sum())
    assert (adj is data.get("adj")) == prepared
    assert batch is None
    assert edge_attr is data.edge_attr


def test_numbers_to_look_up_stay_whole():
    class Embedded(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.conv = nn.Embedding(40, 6), GCNConv(6, 2)

        def forward(self, x, edge_index):
            return self.conv(self.table(x).squeeze(1), edge_index)

    data = small()
    data.x = torch.arange(40).unsqueeze(1)
    for seeds in ([0], [0, 1]):
        loss = fit(Embedded(), data, seeds=seeds, epochs=10, lr=0.1).history["train_loss"]
        assert (loss[-1] < loss[0]).all()
