"""Epochs over a set of graphs whose steps a GPU replays: what comes out is what would have otherwise."""

import gc
import weakref

import pytest
import torch
from recording import recording
from torch_geometric.data import Data

from panconv import fit
from panconv.data import GraphBatches, GraphSet, graph_folds
from panconv.graph import filled
from panconv.training import by_batch
from panconv.training import fit as train
from panconv.training.consistency import Consistency
from panconv.training.graph_models import PANGraph


def made(count=40, weighted=False, numbers=False, directed=False):
    """Paths of one to eight nodes, some closed to a ring."""
    draw, data = torch.Generator().manual_seed(0), []
    for i in range(count):
        n = 1 + i % 8
        line = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
        ring = torch.tensor([[0], [n - 1]]) if i % 3 == 0 and n > 2 else line[:, :0]
        edges = torch.cat([line, ring] if directed else [line, line.flip(0), ring, ring.flip(0)], 1)
        weight = {"edge_weight": torch.ones(edges.size(1)) / 2} if weighted else {}
        x, y = torch.rand(n, 3, generator=draw) + 0.2 * (i % 2), i / 2 if numbers else i % 2
        data.append(Data(x=x.double(), edge_index=edges, y=y, **weight))
    return GraphSet.of(data)


def both(monkeypatch, graphs, parts, seeds=(0, 1, 2), epochs=4, **options):
    """The same training as ever, and by batches that are filled up, without a look from the host at their steps."""
    trials = None if len(seeds) == 1 else len(seeds)
    found = []
    for where in ((), ("cpu",)):
        monkeypatch.setattr(train, "_BY_BATCH", where)
        model = PANGraph(3, 5, 1 if graphs.y.is_floating_point() else 2, 2, trials=trials, **options).double()
        loaders = GraphBatches.for_fit(graphs, parts, batch_size=8)
        found.append(fit(model, **loaders, seeds=seeds, epochs=epochs, patience=epochs, lr=0.02))
    return found


@pytest.fixture
def steps(monkeypatch):
    """How many steps were taken on batches that are filled up, each as a recording would have it."""
    taken = []

    class Watched:
        def __init__(self, step, device):
            self.step, (self.owner,) = step, step.args
            taken.append(f"{self.owner().part} is made")

        def __call__(self):
            with recording(monkeypatch):
                self.step()
            taken.append(self.owner().part)

    monkeypatch.setattr(by_batch, "Replayed", Watched)
    return taken


def check_alike(plain, by_batches):
    for name, values in plain.history.items():
        near = 1e-8 if "loss" in name else 1e-7  # a share of rows that weigh the same is float32
        torch.testing.assert_close(by_batches.history[name], values, equal_nan=True, rtol=near, atol=near)
    assert by_batches.best_epoch == plain.best_epoch
    assert by_batches.test_metric == pytest.approx(plain.test_metric, nan_ok=True)
    for name, values in plain.model.state_dict().items():
        torch.testing.assert_close(by_batches.model.state_dict()[name], values, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"dropout": 0.3},
        {"dropout": [0.0, 0.2, 0.5], "method": 5, "concat": False, "readout": "mean"},
        {"conv": "gin", "readout": "max", "dropout": 0.2},
        {"conv": "gcn", "readout": "attention"},
        {"conv": "sage", "norm": "layer", "jk": "last"},
        {"conv": "none", "norm": None, "residual": "layer"},
    ],
)
def test_folds_side_by_side(options, steps, monkeypatch):
    graphs = made()
    check_alike(*both(monkeypatch, graphs, graph_folds(graphs.y, 3), **options))
    assert {part: steps.count(part) for part in ("train", "val")} == {"train": 3 * 5, "val": 3 * 2}


@pytest.mark.parametrize("numbers", [False, True])
def test_one_trial_and_edges_that_weigh(numbers, steps, monkeypatch):
    graphs, folds = made(weighted=True, numbers=numbers), graph_folds(made().y, 3)
    check_alike(*both(monkeypatch, graphs, folds.run(1), seeds=[4], dropout=0.2))
    assert "train" in steps


@pytest.mark.parametrize("options", [{}, {"conv": "gin"}, {"method": 2, "concat": False}])
def test_edges_that_lead_one_way(options, steps, monkeypatch):
    graphs = made(directed=True)
    check_alike(*both(monkeypatch, graphs, graph_folds(graphs.y, 3), **options))
    assert "train" in steps


def test_a_trial_alone_takes_no_step_on_a_batch_without_its_graphs(steps, monkeypatch):
    """Batches are drawn from all graphs, so that it has the same alone and among others."""
    graphs, found = made(), []
    for where in ((), ("cpu",)):
        monkeypatch.setattr(train, "_BY_BATCH", where)
        loaders = GraphBatches.for_fit(graphs, graph_folds(graphs.y, 3).run(1), batch_size=3)
        loaders["data"].kept.fill_(True)
        model = PANGraph(3, 5, 2, 2, trials=1, dropout=0.3).double()
        found.append(fit(model, **loaders, seeds=[3], epochs=4, lr=0.02))
    check_alike(*found)
    assert steps.count("train") < 3 * 14


def test_an_order_that_was_asked_for_is_kept(steps, monkeypatch):
    graphs, found = made(), []
    folds = graph_folds(graphs.y, 3)
    for where in ((), ("cpu",)):
        monkeypatch.setattr(train, "_BY_BATCH", where)
        learned = GraphBatches(graphs, folds, batch_size=8, shuffle=False)
        val = GraphBatches(graphs, folds, "val", batch_size=8)
        found.append(fit(PANGraph(3, 5, 2, 2, trials=3).double(), learned, val=val, seeds=[0, 1, 2], epochs=4, lr=0.02))
    check_alike(*found)
    assert "train" in steps


def test_nothing_that_fills_up_is_heard_or_counts(steps, monkeypatch):
    """Few nodes and many entries to fill up: methods that do not divide would add up powers of their number."""
    draw, data = torch.Generator().manual_seed(0), []
    for i in range(60):
        A = torch.rand(20, 20, generator=draw) < (0.1 if i % 2 else 0.95)
        edges = (A.triu(1) | A.triu(1).T).nonzero().T
        data.append(Data(x=torch.rand(20, 3, generator=draw), edge_index=edges, y=float(i % 2)))
    graphs, found = GraphSet.of(data), []
    parts = graph_folds(torch.arange(60) % 2, 3).run(0)
    for where in ((), ("cpu",)):
        monkeypatch.setattr(train, "_BY_BATCH", where)
        model = PANGraph(3, 8, 1, 4, method=2, concat=False, L=4, norm=None)
        found.append(fit(model, **GraphBatches.for_fit(graphs, parts, batch_size=30), epochs=4, lr=1e-3))
    plain, by_batches = (each.history["train_loss"] for each in found)
    assert by_batches.isfinite().all()
    torch.testing.assert_close(by_batches, plain, rtol=1e-3, atol=1e-3)


def test_nothing_holds_what_was_recorded(monkeypatch):
    monkeypatch.setattr(train, "_BY_BATCH", ("cpu",))
    kept = []
    monkeypatch.setattr(
        by_batch.Pass, "one", lambda self, one=by_batch.Pass.one: (kept.append(weakref.ref(self)), one(self))
    )
    graphs = made()
    gc.collect()
    gc.disable()
    try:
        fit(PANGraph(3, 5, 2, 2).double(), **GraphBatches.for_fit(graphs, graph_folds(graphs.y, 3).run(0)), epochs=3)
        assert kept
        assert all(each() is None for each in kept)
    finally:
        gc.enable()


def test_what_has_no_room_is_taken_as_it_is(steps, monkeypatch):
    monkeypatch.setattr(filled, "_DEVIATIONS", 0)
    monkeypatch.setattr(filled, "_ROUND", 1)
    graphs = made()
    check_alike(*both(monkeypatch, graphs, graph_folds(graphs.y, 3), dropout=0.2))
    assert 0 < steps.count("train") < 3 * 5


def test_a_trial_that_has_no_graph_in_a_batch_takes_no_step_there(steps, monkeypatch):
    graphs = made(12)
    folds = graph_folds(graphs.y, 3)
    folds.train[torch.arange(12) % 4 != 0, 1] = False
    check_alike(*both(monkeypatch, graphs, folds))
    assert steps.count("train is made") == 2  # anew, since the trials then count their own steps
    assert steps.count("val is made") == 1


def test_trials_that_have_ended_are_left_behind(steps, monkeypatch):
    graphs, found = made(), []
    folds = graph_folds(graphs.y, 3)
    for where in ((), ("cpu",)):
        monkeypatch.setattr(train, "_BY_BATCH", where)
        model = PANGraph(3, 5, 2, 2, trials=3).double()
        loaders = GraphBatches.for_fit(graphs, folds, batch_size=8)
        cut = lambda done, history, best: torch.tensor([True, done < 3, done < 3])  # noqa: E731
        found.append(fit(model, **loaders, seeds=[0, 1, 2], epochs=7, patience=7, lr=0.02, cut=cut))
    check_alike(*found)


@pytest.mark.parametrize("options", [{"pool": {"ratio": 0.5}}, {"norm": "graph"}, {"paths": "shortest"}])
def test_models_that_nodes_of_no_graph_would_change_are_called_as_they_are(options, steps, monkeypatch):
    graphs = made()
    check_alike(*both(monkeypatch, graphs, graph_folds(graphs.y, 3).run(0), seeds=[0], epochs=2, **options))
    assert not steps


def test_a_regulariser_looks_at_batches_as_they_are(steps, monkeypatch):
    monkeypatch.setattr(train, "_BY_BATCH", ("cpu",))
    graphs = made()
    loaders = GraphBatches.for_fit(graphs, graph_folds(graphs.y, 3), batch_size=8)
    model = PANGraph(3, 5, 2, 2, trials=3, dropout=0.2).double()
    fit(model, **loaders, seeds=[0, 1, 2], epochs=2, regularizer=Consistency(2, 0.0))
    assert not steps


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("conv", ["pan", "gin", "gcn", "none"])
def test_a_gpu_replays_steps_to_the_same_end(conv, monkeypatch):
    graphs, made_steps, replayed = made(), [], by_batch.Replayed
    monkeypatch.setattr(by_batch, "Replayed", lambda *a: made_steps.append(replayed(*a)) or made_steps[-1])
    results = []
    for device in ("cpu", "cuda"):
        loaders = GraphBatches.for_fit(graphs.to(device), graph_folds(graphs.y, 3), batch_size=8)
        model = PANGraph(3, 5, 2, 2, trials=3, conv=conv, dropout=0.3).double()
        results.append(fit(model, **loaders, seeds=[0, 1, 2], epochs=6, patience=6, lr=0.02, device=device))
    assert [step.captured for step in made_steps] == [True, True]
    for name, values in results[0].history.items():
        torch.testing.assert_close(results[1].history[name][:6], values, rtol=1e-5, atol=1e-6, equal_nan=True)
