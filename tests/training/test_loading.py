from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool
from two_communities import small

from panconv import PAN, Adjacency, fit
from panconv.training.inputs import Reader

SETTINGS = {"epochs": 6, "patience": 6, "lr": 0.05}
PARTS = ("train", "val", "test")


def graphs(count=6):
    return [small(seed=seed) for seed in range(count)]


def without_masks(data):
    for part in PARTS:
        del data[f"{part}_mask"]
    return data


def small_with(y):
    return Data(small().x, small().edge_index, y=y)


def pan(trials=2, out=2):
    return PAN(-1, 8, out, trials=trials)


def assert_same(a, b):
    for values, others in zip(a.history.values(), b.history.values(), strict=True):
        torch.testing.assert_close(values, others, rtol=1e-4, atol=1e-5)
    assert a.test_metric == pytest.approx(b.test_metric)


def test_one_batch_with_masks_is_the_graph():
    expected = fit(pan(), small(), seeds=[0, 1], **SETTINGS)
    for loader in (small(), [small()], DataLoader([small()])):
        found = fit(pan(), loader, val=loader, test=loader, seeds=[0, 1], **SETTINGS)
        assert_same(found, expected)
        assert torch.equal(found.predicted, expected.predicted[small().test_mask])


def test_seed_nodes_come_first():
    """A batch of the whole graph whose training nodes come first, with or without the other labels."""
    data = small()
    order = torch.argsort(~data.train_mask, stable=True)
    place = torch.argsort(order)
    adj = Adjacency.from_edge_index(place[data.edge_index], num_nodes=40)
    n = int(data.train_mask.sum())
    batch = SimpleNamespace(x=data.x[order], adj=adj, y=data.y[order][:n], batch_size=n)
    stored = Data(data.x[order], place[data.edge_index], y=data.y[order].where(torch.arange(40) < n, -1), batch_size=n)
    expected = fit(PAN(6, 8, 2, dropout=0.0), data, **SETTINGS)
    for loader in ([batch], [stored]):
        assert_same(fit(PAN(6, 8, 2, dropout=0.0), loader, val=data, test=data, **SETTINGS), expected)


def test_all_nodes_of_a_batch_of_graphs_count():
    """A PyG batch calls the number of its graphs batch_size, which is not one of seed nodes."""
    train, val = ([without_masks(data) for data in graphs(4)[i::2]] for i in range(2))
    one = Batch.from_data_list(train + val)
    one.train_mask, one.val_mask = torch.arange(160) < 80, torch.arange(160) >= 80
    loader = DataLoader(train, batch_size=2)
    found, expected = (
        fit(PAN(-1, 8, 2, dropout=0.0), *given, **SETTINGS, **named)
        for given, named in (((loader,), {"val": val}), ((one,), {}))
    )
    torch.testing.assert_close(found.history["val_loss"], expected.history["val_loss"], rtol=1e-4, atol=1e-5)


def test_a_module_that_asks_is_told_how_many_graphs_there_are():
    """The last ones may have no nodes, which the batch vector does not tell."""

    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(2, 2)

        def forward(self, x, edge_index, batch, batch_size=None):
            return self.lin(global_mean_pool(x, batch, batch_size))

    none = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(torch.rand(n, 2), none, y=torch.tensor([n % 2])) for n in (3, 2, 1, 0)]
    loader = DataLoader(graphs, batch_size=4)
    assert fit(Counted(), loader, val=loader, epochs=1).predicted.shape == (4, 1)


def test_batches_are_steps_each_with_its_own_dropout():
    data = [without_masks(each) for each in graphs(4)]
    seen = []

    class Watched(PAN):
        def key(self, seeds, epoch):
            seen.append(None if seeds is None else int(epoch))
            super().key(seeds, epoch)

    fit(Watched(6, 8, 2), DataLoader(data[:3], batch_size=1), val=data[3], epochs=2)
    assert seen == [1, 2, 3, 4, 5, 6, None]


class Pooled(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.conv, self.lin = GCNConv(6, 16), nn.Linear(16, out)

    def forward(self, x, edge_index, batch):
        return self.lin(global_mean_pool(self.conv(x, edge_index).relu(), batch))


def labelled(count, numbers):
    """Graphs whose class, or whose two numbers, their features tell."""
    draw = torch.Generator().manual_seed(count)
    for _ in range(count):
        x, c = torch.rand(7, 6, generator=draw), int(torch.randint(2, (), generator=draw))
        edge_index = torch.randint(7, (2, 12), generator=draw)
        y = torch.tensor([[c, -2.0 * c]]) if numbers else torch.tensor([c])
        yield Data(x=x + c, edge_index=edge_index, y=y)


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
@pytest.mark.parametrize(("numbers", "metric"), [(False, "auc"), (True, "r2")])
def test_graphs_as_a_whole(numbers, metric, seeds):
    train, val, test = ([*labelled(count, numbers)] for count in (24, 11, 10))
    loaders = [DataLoader(each, batch_size=8, shuffle=each is train) for each in (train, val, test)]
    result = fit(
        *(Pooled(2), loaders[0]), val=loaders[1], test=loaders[2], seeds=seeds, metric=metric, epochs=20, lr=0.05
    )
    assert min(result.test_metric) > 0.6
    assert result.predicted.shape == ((10, len(seeds), 2) if numbers else (10, len(seeds)))
    # whatever the batches, the metric is that of all rows at once
    how = {"seeds": seeds, "metric": metric, "epochs": 1}
    runs = [fit(Pooled(2), train, val=each, **how).val_metric for each in (loaders[1], val, Batch.from_data_list(val))]
    for run in runs[1:]:
        assert run == pytest.approx(runs[0], abs=1e-5)


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        (lambda: [small()], {}, ValueError, "val is missing: a loader goes with another one"),
        (lambda: [], {"val": [small()]}, ValueError, "data gives no batch"),
        (lambda: iter([small()]), {"val": [small()]}, TypeError, "data must be .* got an iterator"),
        (lambda: [small()], {"val": iter([small()])}, TypeError, "val must be .* got an iterator"),
        (lambda: [small()], {"val": []}, ValueError, "val gives no batch with a row to val on"),
        (lambda: [small()], {"val": 3}, TypeError, "val must be a graph, a list of graphs or a loader .*, got int"),
        (lambda: [3], {"val": [small()]}, ValueError, "data.x is missing"),
        (lambda: [small()], {"test": [small()]}, ValueError, "val is missing"),
        (lambda: [small_with(torch.full((40,), 2))], {"val": [small()]}, ValueError, "data.y names class 2"),
        (lambda: [small_with(torch.ones(3).long())], {"val": [small()]}, ValueError, "40 rows of scores, but y has 3"),
    ],
)
def test_refusals(given, named, error, message):
    with pytest.raises(error, match=message):
        fit(PAN(6, 8, 2), given(), epochs=1, **named)


def test_a_model_whose_norms_look_at_whole_graphs_is_told_which_node_is_in_which():
    batch = Batch.from_data_list([Data(x=torch.rand(n, 4), edge_index=torch.zeros(2, 1).long()) for n in (2, 3)])
    host = torch.device("cpu")
    told, not_told = (Reader.of(PAN(4, 4, 2, norm=norm), True, host)(batch).named for norm in ("GraphNorm", None))
    assert told["batch"].tolist() == [0, 0, 1, 1, 1]
    assert not not_told
