import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv
from two_communities import small

from panconv import PAN, Adjacency, fit
from panconv.nn import Dropout, Stacked
from panconv.training import fit as train


def model(trials, **options):
    return PAN(6, 8, 2, trials=trials, **options)


MASKS = ("train_mask", "val_mask", "test_mask")


def numbered(data, nodes):
    """The validation nodes by their numbers."""
    data.val_mask, data.val_idx = None, nodes


class Net(nn.Module):
    """A model of PyG's layers, which knows of one trial."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(6, 8), GCNConv(8, 2)
        self.drop, self.drop_hidden = Dropout(), Dropout()

    def forward(self, x, adj):
        edge_index = torch.stack([adj.col.long(), adj.row])
        x = self.first(self.drop(x), edge_index).relu()
        return self.second(self.drop_hidden(x), edge_index)


def stacked(trials, **options):
    return Stacked(Net, 6, 2, trials=trials, **options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("method", [2, 5])
def test_a_trial_among_ten_is_the_trial_alone(sparse, method):
    data = small(sparse)
    settings = {"epochs": 60, "patience": 10, "weight_decay": 1e-2, "lr": 0.05}
    together = fit(model(10, method=method), data, seeds=range(10), **settings)
    for s in (0, 4, 9):
        for one in (model(None, method=method), model(1, method=method)):
            alone = fit(one, data, seeds=[s], **settings)
            assert alone.best_epoch == [together.best_epoch[s]]
            assert alone.stopped_epoch == [together.stopped_epoch[s]]
            assert alone.val_loss[0] == pytest.approx(together.val_loss[s], rel=1e-4)
            assert alone.test_accuracy[0] == together.test_accuracy[s]
            mine, theirs = (
                alone.history["val_loss"][:, 0],
                together.history["val_loss"][: len(alone.history["val_loss"]), s],
            )
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    assert len(set(together.stopped_epoch)) > 1  # each stops on its own


def assert_same_trial(one, many, s):
    """The only trial of one result, and trial s of the other."""
    for name in ("best_epoch", "stopped_epoch", "val_accuracy", "test_accuracy"):
        assert getattr(one, name) == [getattr(many, name)[s]], name
    assert torch.equal(one.predicted[:, 0], many.predicted[:, s])
    for name, values in one.history.items():
        torch.testing.assert_close(values[:, 0], many.history[name][: len(values), s], rtol=1e-4, atol=1e-5)


def test_any_module_trains_in_trials_side_by_side():
    settings = {"epochs": 40, "patience": 6, "weight_decay": 1e-2, "lr": 0.1}
    together = fit(stacked(4), small(), seeds=[3, 1, 4, 5], **settings)
    for s in (0, 3):
        assert_same_trial(fit(stacked(1), small(), seeds=[together.seeds[s]], **settings), together, s)
    assert len(set(together.stopped_epoch)) > 1
    assert isinstance(together.best(), Net)
    # another decay is another training
    other = fit(stacked(4, decay="first."), small(), seeds=[3, 1, 4, 5], **settings)
    assert not torch.equal(other.history["val_loss"][5], together.history["val_loss"][5])


@pytest.mark.parametrize("make", [model, stacked])
def test_each_trial_may_have_a_split_of_its_own(make):
    """Masks (N, S) give what S trainings give, each with a mask of its own."""
    turn, settings = torch.arange(40) // 2 % 4, {"epochs": 30, "patience": 6, "lr": 0.1}
    parts = [[turn == (s + i) % 4 for s in range(3)] for i in range(3)]  # train, val, test by trial
    data = small()
    data.train_mask, data.val_mask, data.test_mask = (torch.stack(masks, 1) for masks in parts)
    together = fit(make(3), data, seeds=[7, 7, 7], **settings)
    for s in range(3):
        data.train_mask, data.val_mask, data.test_mask = (masks[s] for masks in parts)
        assert_same_trial(fit(make(1), data, seeds=[7], **settings), together, s)
    assert together.val_loss[0] != together.val_loss[1]


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1", "auc"])
def test_splits_may_be_of_unequal_size(metric):
    """A trial is what it is alone, and what is outside of all masks has no label."""
    data, settings = small(), {"epochs": 30, "patience": 6, "lr": 0.1, "metric": metric}
    draw, sizes = torch.Generator().manual_seed(1), torch.tensor([[5, 20, 10], [4, 12, 7], [10, 6, 20]])  # by trial
    parts = torch.zeros(3, 40, 3, dtype=torch.bool)  # part, node, trial
    for s, per_part in enumerate(sizes.T.tolist()):
        nodes = torch.randperm(38, generator=draw)[: sum(per_part)].split(per_part)
        for part, chosen in zip(parts, nodes, strict=True):
            part[chosen, s] = True
    data.y[~parts.any(0).any(1)] = -1
    data.train_mask, data.val_mask, data.test_mask = parts
    together = fit(model(3), data, seeds=[7, 8, 9], **settings)
    for s in range(3):
        data.train_mask, data.val_mask, data.test_mask = parts[:, :, s]
        alone = fit(model(1), data, seeds=[7 + s], **settings)
        assert (alone.best_epoch, alone.stopped_epoch) == ([together.best_epoch[s]], [together.stopped_epoch[s]])
        assert (alone.val_metric, alone.test_metric) == (
            pytest.approx([together.val_metric[s]]),
            pytest.approx([together.test_metric[s]]),
        )
        assert torch.equal(alone.predicted[:, 0], together.predicted[:, s])
        for name, values in alone.history.items():
            torch.testing.assert_close(values[:, 0], together.history[name][: len(values), s], rtol=1e-4, atol=1e-5)


def test_masks_have_a_column_for_each_trial_and_a_node_in_it():
    data = small()
    data.val_mask = torch.stack([data.val_mask, data.val_mask & (torch.arange(40) > 50)], 1)
    with pytest.raises(ValueError, match=r"data.val_mask must be boolean, .* with a node in it .*empty"):
        fit(model(2), data, seeds=[0, 1])
    with pytest.raises(ValueError, match=r"data.val_mask must be boolean, \(40,\) or \(40, 3\)"):
        fit(model(3), data, seeds=[0, 1, 2])


@pytest.mark.parametrize("val", ["val_idx", "valid_idx"])
def test_node_numbers_in_place_of_masks_and_a_column_of_labels(val):
    data, expected = small(), fit(model(2), small(), seeds=[0, 1], epochs=5)
    data.y = data.y.unsqueeze(1)
    for name, index in (("train", "train_idx"), ("val", val), ("test", "test_idx")):
        nodes = data[f"{name}_mask"].nonzero().squeeze(1)
        data[index] = nodes[torch.randperm(len(nodes))]
        del data[f"{name}_mask"]
    found = fit(model(2), data, seeds=[0, 1], epochs=5)
    assert torch.equal(found.history["val_loss"], expected.history["val_loss"])
    assert found.test_accuracy == expected.test_accuracy


def test_without_test_nodes():
    data, expected = small(), fit(model(2), small(), seeds=[0, 1], epochs=5)
    del data.test_mask
    found = fit(model(2), data, seeds=[0, 1], epochs=5)
    assert all(value != value for value in found.test_accuracy)
    assert torch.equal(found.predicted, expected.predicted)


@pytest.mark.parametrize("columns", [None, 1, 3])
def test_numbers_are_learned_by_their_squared_error(columns):
    data, C = small(), columns or 1
    y = (data.x @ torch.rand(6, C)).where(~data.test_mask.unsqueeze(1) | (torch.arange(40)[:, None] % 8 < 4), 7.0)
    y[39] = torch.nan
    data.train_mask[39] = False
    data.y = y.double() if columns else y[:, 0].double()
    result = fit(PAN(6, 8, C, trials=2), data, seeds=[0, 1], epochs=60, lr=0.05, metric="r2", keep="metric")
    assert result.metric == "r2"
    assert result.val_metric == result.history["val_r2"].nan_to_num(-torch.inf).max(0).values.tolist()
    scores = result.model(data.x, data.edge_index).detach()
    torch.testing.assert_close(result.predicted, scores)
    for s in range(2):
        error = (scores[data.val_mask, s] - y[data.val_mask]).square().mean()
        assert float(error) == pytest.approx(result.val_loss[s], rel=1e-4)
    with pytest.raises(AttributeError, match="the accuracy was not measured, but r2: see test_metric"):
        assert result.test_accuracy
    assert fit(PAN(6, 8, C), data, epochs=2).metric == "mae"


def test_several_graphs_in_one_batch_are_one_graph():
    batch = Batch.from_data_list([small(seed=seed) for seed in range(3)])
    one = Data(batch.x, batch.edge_index, y=batch.y, **{name: batch[name] for name in MASKS})
    a, b = (fit(model(2), data, seeds=[0, 1], epochs=5) for data in (batch, one))
    assert torch.equal(a.history["val_loss"], b.history["val_loss"])
    assert a.predicted.shape == (120, 2)


def test_a_prepared_graph_comes_along():
    data, expected = small(), fit(model(None), small(), epochs=3).history["val_loss"]
    data.adj = Adjacency.from_edge_index(data.edge_index, num_nodes=40)
    data.edge_index = None
    assert torch.equal(fit(model(None), data, epochs=3).history["val_loss"], expected)


@pytest.mark.parametrize("keep", ["loss", "accuracy", "both"])
def test_which_epoch_is_kept(keep):
    """Followed along the history, in which nothing depends on the choice but its end."""
    data = small()
    result = fit(model(4), data, seeds=range(4), epochs=80, patience=8, lr=0.05, keep=keep)
    history = {name: result.history[name].tolist() for name in ("val_loss", "val_accuracy")}
    for s in range(4):
        best = last = 0
        lowest, highest = float("inf"), 0.0
        for epoch, (loss, accuracy) in enumerate(zip(*([row[s] for row in h] for h in history.values()), strict=True)):
            if epoch - last >= 8 and epoch:
                break
            right, sure = accuracy >= highest, loss <= lowest
            better = {"loss": loss < lowest, "accuracy": right, "both": right and sure}[keep]
            progress = right or sure if keep == "both" else better
            best, last = (epoch + 1 if better else best), (epoch + 1 if progress else last)
            lowest, highest = min(lowest, loss), max(highest, accuracy)
        assert result.best_epoch[s] == best
        assert result.stopped_epoch[s] == min(last + 8, 80)
        assert result.val_loss[s] == history["val_loss"][best - 1][s]
        assert result.val_accuracy[s] == history["val_accuracy"][best - 1][s]
    assert len(set(result.stopped_epoch)) > 1


def test_sparse_features_train_like_dense_ones_without_dropout():
    settings = {"epochs": 20, "seeds": [1, 2]}
    dense = fit(model(2, dropout=0.0), small(), **settings)
    sparse = fit(model(2, dropout=0.0), small(sparse=True), **settings)
    torch.testing.assert_close(sparse.history["val_loss"], dense.history["val_loss"], rtol=1e-4, atol=1e-5)


def test_the_same_seed_gives_the_same_bits():
    runs = [fit(model(3), small(), seeds=[5, 6, 7], epochs=30) for _ in range(2)]
    assert torch.equal(*(run.history["val_loss"].nan_to_num(-1) for run in runs))
    for a, b in zip(*(run.model.state_dict().values() for run in runs), strict=True):
        assert torch.equal(a, b)
    other = fit(model(3), small(), seeds=[8, 9, 10], epochs=30)
    assert not torch.equal(other.history["val_loss"], runs[0].history["val_loss"])


def test_the_model_comes_back_as_it_was_at_its_best():
    data = small()
    result = fit(model(4), data, seeds=range(4), epochs=80, patience=15, lr=0.05)
    history = result.history["val_loss"]
    scores = result.model(data.x, data.edge_index).detach()
    nodes = data.val_mask.nonzero().squeeze(1)
    for s in range(4):
        assert result.best_epoch[s] == int(history[:, s].nan_to_num(torch.inf).argmin()) + 1
        loss = torch.nn.functional.cross_entropy(scores[nodes, s], data.y[nodes])
        assert float(loss) == pytest.approx(result.val_loss[s], rel=1e-5)
        stopped = result.stopped_epoch[s]
        assert stopped == min(result.best_epoch[s] + 15, 80)
        assert torch.isnan(history[stopped:, s]).all()
        correct = scores[data.test_mask, s].argmax(1) == data.y[data.test_mask]
        assert float(correct.float().mean()) == pytest.approx(result.test_accuracy[s])
    best = result.best()
    chosen = min(range(4), key=result.val_loss.__getitem__)
    torch.testing.assert_close(best(data.x, data.edge_index).detach(), scores[:, chosen])


def test_it_learns():
    result = fit(model(5, dropout=0.2), small(), seeds=range(5), lr=0.05, epochs=200)
    assert sum(result.test_accuracy) / 5 > 0.8
    assert result.history["train_loss"][-1].nanmean() < result.history["train_loss"][0].mean()


def test_weight_decay_is_on_the_first_matrix_alone(monkeypatch):
    groups, adam = [], torch.optim.Adam
    monkeypatch.setattr(torch.optim, "Adam", lambda g, **k: groups.extend(g) or adam(g, **k))
    trained = fit(model(2), small(), seeds=[0, 1], weight_decay=0.7, epochs=1).model
    decayed, others = groups
    assert decayed["weight_decay"] == 0.7
    assert [p.data_ptr() for p in decayed["params"]] == [trained.convs[0].lin.weight.data_ptr()]
    assert others.get("weight_decay", 0) == 0
    assert len(others["params"]) == len(list(trained.parameters())) - 1


def test_the_test_nodes_do_not_matter_to_training():
    data, other = small(), small()
    other.y = torch.where(other.test_mask, 1 - other.y, other.y)
    a, b = (fit(model(2), d, seeds=[0, 1], epochs=20) for d in (data, other))
    assert torch.equal(a.history["val_loss"], b.history["val_loss"])
    assert [x + y for x, y in zip(a.test_accuracy, b.test_accuracy, strict=True)] == pytest.approx([1, 1])


def test_progress_is_told():
    told = []
    fit(model(3), small(), seeds=range(3), epochs=12, patience=4, lr=0.1, callback=told.append)
    assert [p.epoch for p in told] == list(range(1, len(told) + 1))
    assert told[0].trials == told[0].running == 3
    assert told[-1].best_val_loss <= told[0].best_val_loss


def test_weighted_graphs_and_lazy_models():
    data = small()
    data.edge_weight = torch.rand(data.num_edges) + 0.1
    weighted = fit(PAN(-1, 8, 2, trials=2), data, seeds=[0, 1], epochs=5)
    assert weighted.model.convs[0].in_channels == 6
    data.edge_weight = None
    plain = fit(PAN(-1, 8, 2, trials=2), data, seeds=[0, 1], epochs=5)
    assert not torch.equal(weighted.history["val_loss"], plain.history["val_loss"])
    sparse = fit(PAN(-1, 8, 2, trials=2), small(sparse=True), seeds=[0, 1], epochs=5)
    assert sparse.model.convs[0].in_channels == 6


def test_dropout_is_torchs_own_again_afterwards():
    trained = fit(model(2), small(), seeds=[0, 1], epochs=2).model
    assert not trained.training
    assert all(dropout.keys is None for dropout in trained.dropouts)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda d: d.x.fill_(torch.nan), {}, "data.x holds NaN"),
        (lambda d: setattr(d, "y", None), {}, "data.y is missing"),
        (
            lambda d: setattr(d, "y", d.y.float()),
            {},
            "data.y is of torch.float32 .* 1 numbers .* model gives 2",
        ),
        (lambda d: setattr(d, "y", d.y.bool()), {}, r"data.y must be class numbers"),
        (lambda d: setattr(d, "y", torch.stack([d.y, d.y], 1)), {}, r"data.y must be class numbers"),
        (lambda d: setattr(d, "y", d.y[:-1]), {}, r"data.y must have a row per node, 40"),
        (lambda d: setattr(d, "y", torch.full((40, 2), torch.nan)), {}, r"data.y holds NaN"),
        (lambda d: setattr(d, "train_idx", torch.arange(3)), {}, r"data has both train_mask and train_idx"),
        (lambda d: numbered(d, torch.tensor([1, 40])), {}, r"data.val_idx names node 40"),
        (lambda d: numbered(d, torch.tensor([1, -1])), {}, r"data.val_idx names node -1"),
        (lambda d: numbered(d, torch.tensor([5, 1, 5])), {}, r"data.val_idx names 1 nodes twice"),
        (lambda d: numbered(d, torch.tensor([1.0])), {}, r"data.val_idx must be node numbers"),
        (lambda d: None, {"metric": "mae"}, r"metric must be one of accuracy, macro_f1, auc where y holds class"),
        (lambda d: None, {"metric": "f1"}, r"metric must be one of .*, got 'f1'"),
        (lambda d: None, {"metric": "auc", "keep": "accuracy"}, r"keep is 'accuracy', but the metric is auc"),
        (lambda d: setattr(d, "x", d.x[:, :5]), {}, r"data.x has 5 columns, but the model takes 6"),
        (lambda d: None, {"seeds": [-1]}, "seeds must be at least 0"),
        (lambda d: None, {"seeds": [2**70]}, "below 2\\^32"),
        (lambda d: None, {"lr": float("inf")}, "lr must be positive and finite, got inf"),
        (lambda d: None, {"weight_decay": float("nan")}, "weight_decay must be at least 0 and finite, got nan"),
        (lambda d: None, {"lr": 1e30}, "no trial ever had a finite validation loss"),
        (lambda d: setattr(d, "y", d.y + 1), {}, "data.y names class 2, but the model has 2 classes"),
        (lambda d: d.val_mask.fill_(False), {}, "data.val_mask must be boolean"),
        (lambda d: setattr(d, "val_mask", None), {}, "data.val_mask is missing"),
        (lambda d: d.train_mask.logical_or_(d.test_mask), {}, r"data.train_mask and data.test_mask share \d+ nodes"),
        (lambda d: d.train_mask.logical_or_(d.val_mask), {}, r"data.train_mask &= ~data.val_mask"),
        (lambda d: d.val_mask.logical_or_(d.test_mask), {}, r"data.val_mask and data.test_mask share"),
        (lambda d: None, {"seeds": [1, 2]}, "seeds must be 1"),
        (lambda d: None, {"epochs": 0}, "epochs must be an integer of at least 1, got 0"),
        (lambda d: None, {"patience": 0}, "patience must be an integer of at least 1, got 0"),
        (lambda d: None, {"lr": 0.0}, "lr must be positive"),
        (lambda d: None, {"keep": "first"}, "keep must be one of loss, accuracy, both, last, metric, got 'first'"),
        (lambda d: None, {"weight_decay": -1.0}, "weight_decay must be at least 0 and finite, got -1"),
    ],
)
def test_bad_input(change, options, message):
    data = small()
    change(data)
    with pytest.raises(ValueError, match=message):
        fit(model(1), data, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("cora", 81.7), ("citeseer", 70.9), ("pubmed", 78.9)])
def test_the_papers_figures_come_out(name, least):
    from panconv import load
    from panconv.paper.settings import settings

    how, data = settings(name, 5), load(name, sparse=True)
    pan = PAN(data.x.size(1), how.hidden, int(data.y.max()) + 1, weights=[0, 1, 1], dropout=how.dropout, trials=10)
    options = {"weight_decay": how.weight_decay, "epochs": how.epochs, "patience": how.patience}
    result = fit(pan, data, seeds=range(10), **options)
    assert 10 * sum(result.test_accuracy) >= least


@pytest.mark.parametrize("seeds", [3, [0.5], "ab"])
def test_seeds_are_whole_numbers(seeds):
    with pytest.raises(TypeError, match="seeds must be a sequence of integers"):
        fit(model(1), small(), seeds=seeds)


def test_other_dtypes_of_features_labels_and_weights():
    data, expected = small(), fit(model(1), small(), epochs=3).history["val_loss"]
    data.x, data.y = data.x.double(), data.y.to(torch.uint8)
    torch.testing.assert_close(fit(model(1), data, epochs=3).history["val_loss"], expected)
    data.edge_weight = torch.ones(data.num_edges, requires_grad=True)
    torch.testing.assert_close(fit(model(1), data, epochs=3).history["val_loss"], expected)
    data.x = data.x / 3
    with pytest.raises(ValueError, match=r"data.x is float64 and would be rounded to the model's torch.float32"):
        fit(model(1), data, epochs=3)
    wide = fit(model(1).double(), small(sparse=True), epochs=3)
    assert wide.history["val_loss"].dtype == torch.float64


def test_the_best_of_one_is_itself():
    result = fit(model(None), small(), epochs=2)
    assert result.best() is result.model


def test_looking_seldom_changes_nothing(monkeypatch):
    """As on a GPU, where epochs go on after every trial has ended."""
    settings = {"seeds": range(3), "epochs": 60, "patience": 4, "lr": 0.1}
    often, told = fit(model(3), small(), **settings), []
    monkeypatch.setitem(train._LOOK_EVERY, "cpu", 10)
    seldom = fit(model(3), small(), callback=told.append, **settings)
    assert max(often.stopped_epoch) % 10
    for name in ("best_epoch", "stopped_epoch", "val_loss", "val_accuracy", "test_accuracy"):
        assert getattr(often, name) == getattr(seldom, name)
    for name, values in often.history.items():
        assert torch.equal(values.nan_to_num(-1), seldom.history[name].nan_to_num(-1))
    assert [p.epoch for p in told] == list(range(10, max(often.stopped_epoch) + 10, 10))
    assert told[-1].running == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("method", range(1, 8))
def test_a_gpu_replays_epochs_to_the_same_end(sparse, method, monkeypatch):
    made, replayed = [], train.Replayed
    monkeypatch.setattr(train, "Replayed", lambda *a: made.append(replayed(*a)) or made[-1])
    settings = {"seeds": range(4), "epochs": 40, "patience": 10, "lr": 0.05}
    cpu, gpu = (fit(model(4, method=method), small(sparse), device=d, **settings) for d in ("cpu", "cuda"))
    assert [step.captured for step in made if step.captured is not False] == [True]  # on the GPU, once
    n = min(len(cpu.history["val_loss"]), len(gpu.history["val_loss"]))
    assert n > 5
    a, b = (run.history["val_loss"][:n].nan_to_num(0) for run in (cpu, gpu))
    torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


def test_no_test_node_is_trained_on():
    data = small()
    data.train_mask[data.test_mask.nonzero()[0]] = True
    with pytest.raises(ValueError, match=r"data\.train_mask and data\.test_mask share 1 nodes"):
        fit(model(1), data)
    data = small()
    data.val_mask[:] = data.test_mask  # no test accuracy is asked for where it is read like this
    assert fit(model(1), data, epochs=1).test_accuracy


@pytest.mark.parametrize("keep", ["metric", "both"])
def test_a_metric_that_has_no_value_is_named(keep):
    """Validation nodes of one class have no area under a curve to choose an epoch by."""
    data = Data(
        x=torch.randn(8, 3), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0, 1, 0, 0, 1, 0, 1, 0])
    )
    data.train_idx, data.test_idx = torch.tensor([0, 1]), torch.tensor([6, 7])
    data.val_idx = torch.tensor([2, 3])
    with pytest.raises(ValueError, match="no trial ever had a validation auc: all nodes that they choose by"):
        fit(PAN(3, 4, 2), data, metric="auc", keep=keep, epochs=3)


RATES = {"lr": [0.1, 0.01, 0.05], "weight_decay": [0.0, 0.3, 0.01], "decay_others": [0.2, 0.0, 0.05]}


@pytest.mark.parametrize("names", [["lr"], ["weight_decay"], ["decay_others"], list(RATES)])
@pytest.mark.parametrize("make", [model, lambda trials: stacked(trials, decay="first.")])
def test_rates_may_differ_by_trial(make, names):
    """Each trial comes out as it does alone with its own."""
    settings = {"epochs": 15, "patience": 15, "lr": 0.05}
    together = fit(make(3), small(), seeds=[7, 8, 9], **{**settings, **{name: RATES[name] for name in names}})
    for s in range(3):
        own = {name: RATES[name][s] for name in names}
        alone = fit(make(1), small(), seeds=[7 + s], **{**settings, **own})
        for name, values in alone.history.items():
            torch.testing.assert_close(values[:, 0], together.history[name][:, s], rtol=1e-3, atol=1e-4)
    plain = fit(make(3), small(), seeds=[7, 8, 9], **settings)
    assert not torch.allclose(plain.history["train_loss"], together.history["train_loss"], rtol=1e-3)


def test_there_are_as_many_rates_as_trials():
    with pytest.raises(ValueError, match="decay_others must be a number, or 2 numbers, one per trial, got 3 of them"):
        fit(model(2), small(), seeds=[0, 1], decay_others=[0.1, 0.2, 0.3])
    assert fit(model(None), small(), lr=[0.05], epochs=2).best_epoch
