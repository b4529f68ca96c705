import pytest
import torch
from torch import nn
from torch.testing import assert_close as close
from zoo_graph import classes, settings, small

from panconv import Adjacency
from panconv.paper.zoo import METHODS, gcn, stack, trainer
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.stack import Layers, edges
from panconv.training.fit import fit


class Sum(torch.nn.Module):
    """x plus what its neighbours send."""

    def __init__(self, adj):
        super().__init__()
        self.adj = adj.to_dense()

    def forward(self, x):
        return x + self.adj @ x


def test_two_layers_with_an_activation_between():
    adj = Adjacency.of(torch.tensor([[0, 1], [1, 2]]), torch.tensor([2.0, 3.0]), 3)  # 0 → 1 → 2
    one = torch.eye(3) + adj.to_dense()
    x = torch.randn(3, 2)
    close(Layers(Sum(adj), Sum(adj), 0.5).eval()(x, adj), one @ (one @ x).relu())
    close(Layers(Sum(adj), Sum(adj), 0.5, torch.tanh).eval()(x, adj), one @ (one @ x).tanh())
    dropped = Layers(Sum(adj), Sum(adj), 0.9)
    assert not torch.allclose(dropped(x, adj), one @ (one @ x).relu())


def test_edges_go_from_sender_to_receiver():
    given = torch.tensor([[3, 0, 1], [1, 2, 0]])
    index, weight = edges(Adjacency.of(given, torch.tensor([1.0, 2.0, 3.0]), 4))
    assert sorted(zip(*index.tolist(), weight.tolist(), strict=True)) == [(0, 2, 2.0), (1, 0, 3.0), (3, 1, 1.0)]
    assert edges(Adjacency.of(given))[1] is None


def test_no_label_but_those_of_training_and_validation_is_looked_at():
    data, truth = small()
    predicted = gcn.train(data, settings("gcn"), [0])
    data.y = torch.where(data.test_mask, 1 - truth, truth)
    assert torch.equal(predicted, gcn.train(data, settings("gcn"), [0]))


@pytest.mark.parametrize("name", ["gat", "sgc", "ssgc", "fastgcn"])
def test_each_trial_may_have_a_split_of_its_own(name):
    assert not METHODS[name].one_split
    data, truth = small()
    data.y = truth
    turn = torch.arange(60) // 2 % 3
    splits = [(turn == s, turn == (s + 1) % 3) for s in range(3)]
    alone = []
    for s, (train, val) in enumerate(splits):
        data.train_mask, data.val_mask = train, val
        alone.append(classes(trainer(name)(data, settings(name, epochs=20), [s]))[0])
    data.train_mask, data.val_mask = (torch.stack(masks, 1) for masks in zip(*splits, strict=True))
    together = trainer(name)(data, settings(name, epochs=20), [0, 1, 2])
    assert torch.equal(classes(together), torch.stack(alone))


@pytest.mark.parametrize("decay", ["first.", "second.", ""])
def test_the_settings_of_the_training_reach_it(monkeypatch, decay):
    data, _ = small()
    seen = {}

    def watched(model, data, **options):
        seen.update(options, decayed=[p.shape for p in model.decayed()])
        return fit(model, data, **options)

    monkeypatch.setattr(stack, "fit", watched)
    chosen = {"lr": 0.07, "weight_decay": 0.03, "epochs": 3, "patience": 2}
    first = {"first.bias": (2, 5), "first.lin.weight": (2, 5, 8)}
    shapes = {**first, "second.bias": (2, 2), "second.lin.weight": (2, 2, 5)}
    decayed = [shape for name, shape in shapes.items() if name.startswith(decay)]
    for keep in ({"keep": "both"}, {"keep": "accuracy"}, {}):  # left out, it is the default of `fit`
        gcn.train(data, {**settings("gcn", hidden=5, decay=decay), **chosen, **keep}, [0, 1])
        found = {name: value for name, value in seen.items() if name not in ("seeds", "device", "callback")}
        assert found == {**chosen, **keep, "decayed": decayed}
        assert seen["seeds"] == [0, 1]
        seen.clear()


def test_a_graph_that_was_given_is_as_it_was_and_shares_its_tensors(monkeypatch):
    data, _ = small()
    before = {name: value.clone() for name, value in data.to_dict().items()}
    handed = []

    def watched(model, data, **options):
        handed.append(data)
        return fit(model, data, **options)

    monkeypatch.setattr(stack, "fit", watched)
    gcn.train(data, settings("gcn", epochs=1), [0])
    assert handed[0].x is data.x
    assert "test_mask" not in handed[0]
    assert data.to_dict().keys() == before.keys()
    assert all(torch.equal(value, before[name]) for name, value in data.to_dict().items())


def test_without_edges_the_nodes_with_a_label_are_enough():
    """It is the training on all nodes, and it neither sees edges nor labels of others."""
    data, truth = small()
    how = settings("ssgc")
    alone = stack.fitted_alone(Blind, data.x, data, how, [3, 4])
    assert alone.shape == (2, 60, 2)
    close(alone, stack.fitted(Blind, data, how, [3, 4]))
    data.y = torch.where(data.test_mask, 1 - truth, truth)
    assert torch.equal(alone, stack.fitted_alone(Blind, data.x, data, how, [3, 4]))


def test_numbers_by_trial_reach_fit_and_the_dropouts_as_they_are(monkeypatch):
    """Which of them each trial gets is theirs to say."""
    data, _ = small()
    seen, own = {}, {"lr": [0.1, 0.2], "weight_decay": [0.0, 0.5], "decay_others": [0.3, 0.0], "metric": "auc"}

    class Seen(Exception):
        pass

    def watched(model, data, **options):
        seen.update(options)
        raise Seen

    def dropout(p):
        seen["dropout"] = p
        return nn.Identity()

    monkeypatch.setattr(stack, "fit", watched)
    monkeypatch.setattr(stack, "Dropout", dropout)
    with pytest.raises(Seen):
        gcn.train(data, settings("gcn", **own, dropout=[0.1, 0.6]), [0, 1])
    assert {name: seen[name] for name in own} == own
    assert seen["dropout"] == [0.1, 0.6]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.by_fit])
def test_features_that_are_mostly_zero_may_be_sparse(name, monkeypatch):
    data, _ = small()
    data.x = torch.cat([data.x, torch.zeros(len(data.x), 20 * data.x.size(1))], dim=1)
    how, layouts = settings(name, epochs=5), []
    how |= {each: 0.0 for each in ("dropout", "dropout_scores") if each in how}

    def watched(model, data, **options):
        layouts.append(data.x.layout)
        return fit(model, data, **options)

    monkeypatch.setattr(stack, "fit", watched)
    found = trainer(name)(data, how, [0, 1])
    monkeypatch.setattr(stack, "_compact", lambda x, how: x)
    close(found, trainer(name)(data, how, [0, 1]), rtol=1e-3, atol=1e-4)
    assert layouts == [torch.sparse_csr if "hidden" in how else torch.strided, torch.strided]
