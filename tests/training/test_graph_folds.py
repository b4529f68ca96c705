"""`fit` over graphs, with a split of its own for each trial: alone or among others, a trial comes out the same."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

from panconv import Adjacency, fit
from panconv.graph import block_diagonal
from panconv.training import narrowing
from panconv.training.graph_models import PANGraph
from panconv.training.present import scores_of

S, COUNT, BATCH, F = 3, 24, 6, 4
SETTINGS = {"lr": 0.02, "epochs": 4, "weight_decay": 0.01, "decay_others": 0.02}


def graph(i):
    draw = torch.Generator().manual_seed(i)
    nodes = int(torch.randint(1, 7, (), generator=draw))
    edges = torch.randint(nodes, (2, 2 * nodes), generator=draw)
    edges = edges[:, edges[0] != edges[1]]
    edges = torch.cat([edges, edges.flip(0)], 1).unique(dim=1)
    x = torch.rand(nodes, F, generator=draw, dtype=torch.float64) + 0.3 * (i % 2)
    return SimpleNamespace(x=x, adj=Adjacency.from_edge_index(edges, num_nodes=nodes), y=i % 2, edges=edges)


GRAPHS = [graph(i) for i in range(COUNT)]
FOLD = torch.arange(COUNT) * 7 % S
VAL, TEST = (torch.stack([(FOLD + shift) % S == s for s in range(S)], 1) for shift in (0, 1))
TRAIN = ~VAL & ~TEST
PARTS = {"train_mask": TRAIN, "val_mask": VAL, "test_mask": TEST}
# So that some batches have no graph for some of the trials: in turn, and one that has none for any.
GAPS = TRAIN & (torch.arange(COUNT).unsqueeze(1) // BATCH != torch.tensor([0, 2, 3])) & (FOLD.unsqueeze(1) < 3)


def batches(masks, graphs=GRAPHS, order=None):
    """As the loader of a set of graphs gives them."""
    order = list(range(len(graphs))) if order is None else order
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        some = [graphs[i] for i in rows]
        yield SimpleNamespace(
            x=torch.cat([each.x for each in some]),
            adj=block_diagonal([each.adj for each in some]),
            batch=torch.cat([torch.full((len(each.x),), i) for i, each in enumerate(some)]),
            y=torch.tensor([each.y for each in some]),
            num_graphs=len(some),
            **{name: mask[rows] for name, mask in masks.items()},
        )


def fitted(masks, seeds, graphs=GRAPHS, model=None, trials=None, **options):
    model = model or PANGraph(F, 5, 2, 2, trials=trials, dropout=0.2, **options).double()
    loader = list(batches(masks, graphs))
    return fit(model, loader, val=loader, test=loader, seeds=seeds, **SETTINGS)


def column(masks, s):
    return {name: mask[:, s] for name, mask in masks.items()}


def assert_alike(many, s, one):
    for name, values in many.history.items():
        torch.testing.assert_close(values[:, s], one.history[name][:, 0], rtol=1e-6, atol=1e-7)
    found, alone = many.model.trial(s).state_dict(), one.model.state_dict()
    for name, state in alone.items():
        torch.testing.assert_close(found[name], state.reshape(found[name].shape), rtol=1e-9, atol=1e-12)
    assert many.test_metric[s] == pytest.approx(one.test_metric[0])
    assert many.best_epoch[s] == one.best_epoch[0]


@pytest.mark.parametrize("train", [TRAIN, GAPS])
@pytest.mark.parametrize("options", [{}, {"conv": "gin", "readout": "attention", "norm": "layer"}])
def test_a_fold_alone_is_the_fold_among_others(train, options):
    masks = {**PARTS, "train_mask": train}
    many = fitted(masks, [5, 6, 7], trials=S, **options)
    for s in range(S):
        assert_alike(many, s, fitted(column(masks, s), [5 + s], **options))
    single = {name: mask[:, :1] for name, mask in masks.items()}  # one trial with a dimension of its own
    assert_alike(many, 0, fitted(single, [5], trials=1, **options))
    assert many.predicted.shape == (COUNT, S)


def test_the_graphs_of_one_trial_alone_are_what_a_loader_of_them_gives():
    one = fitted(column(PARTS, 1), [3])
    rows = {name: mask[:, 1].nonzero().squeeze(1).tolist() for name, mask in PARTS.items()}
    model = PANGraph(F, 5, 2, 2).double()
    loader = list(batches(column(PARTS, 1)))
    masked = fit(PANGraph(F, 5, 2, 2).double(), loader, val=loader, **SETTINGS)
    drawn = [[i for i in rows["train_mask"] if i // BATCH == b] for b in range(COUNT // BATCH)]
    own = [batch for order in drawn for batch in batches({}, order=order)]
    apart = fit(model, own, val=list(batches({}, order=rows["val_mask"])), **SETTINGS)
    torch.testing.assert_close(masked.history["train_loss"], apart.history["train_loss"])
    torch.testing.assert_close(masked.history["val_loss"], apart.history["val_loss"])
    assert one.predicted.shape == (len(rows["test_mask"]), 1)


def test_no_test_graph_is_looked_at():
    other = [SimpleNamespace(**vars(each)) for each in GRAPHS]
    hidden = TEST[:, 0]
    for i in hidden.nonzero().squeeze(1).tolist():
        other[i].x, other[i].y = 50 * other[i].x, 1 - other[i].y
    before, after = (fitted(PARTS, [1, 2, 3], graphs, trials=S) for graphs in (GRAPHS, other))
    for name, values in before.history.items():
        torch.testing.assert_close(values[:, 0], after.history[name][:, 0])
    assert not torch.allclose(before.history["val_loss"][:, 1], after.history["val_loss"][:, 1])


def test_a_trial_without_a_graph_in_a_batch_stays_where_it_is():
    masks = {**PARTS, "train_mask": TRAIN & (torch.arange(S) > 0)}
    loader, seen = list(batches(masks)), []
    loader[0].train_mask = TRAIN[:BATCH]  # that of trial 0 alone, which is in no other

    class Watched(PANGraph):
        def forward(self, *inputs, **named):
            if self.training:
                seen.append({name: state[0].clone() for name, state in self.state_dict().items()})
            return super().forward(*inputs, **named)

    watched = Watched(F, 5, 2, 2, trials=S, dropout=0.2).double()
    result = fit(watched, loader, val=loader, seeds=[1, 2, 3], **{**SETTINGS, "epochs": 3})
    for first in range(0, len(seen), COUNT // BATCH):
        before, *after = seen[first : first + COUNT // BATCH]
        assert all(not torch.equal(state, before[name]) for name, state in after[0].items() if "weights" not in name)
        for later in after[1:]:
            assert all(torch.equal(state, after[0][name]) for name, state in later.items())
    assert result.history["train_loss"].isfinite().all()


def test_most_trials_have_ended(monkeypatch):
    masks, seeds = {**PARTS, "train_mask": GAPS}, [5, 6, 7]
    loader, model = list(batches(masks)), PANGraph(F, 5, 2, 2, trials=S, dropout=0.2).double()

    def cut(done, history, best):
        return torch.tensor([False, True, False]) if done == 1 else None

    found = []
    for least in (2, 99):
        monkeypatch.setitem(narrowing._LEAST, "cpu", least)
        found.append(fit(model, loader, val=loader, test=loader, seeds=seeds, cut=cut, **SETTINGS))
        found[-1].model.state = {name: state.clone() for name, state in model.state_dict().items()}
    assert found[0].stopped_epoch == [1, 4, 1]
    for name, state in found[0].model.state.items():
        torch.testing.assert_close(state, found[1].model.state[name])
    torch.testing.assert_close(found[0].history["val_loss"][:, 1], found[1].history["val_loss"][:, 1])


def test_a_batch_of_one_trials_graphs_is_evaluated_for_that_trial_alone(monkeypatch):
    model = PANGraph(F, 5, 2, 2, trials=S, weights=[[1.0, 2, 3], [1, 1, 1], [0.5, 0.2, 0.1]]).double()
    mixed = list(batches(PARTS))
    order = [int(i) for s in range(S) for i in VAL[:, s].nonzero()]
    apart = [batch for s in range(S) for batch in batches(PARTS, order=[i for i in order if VAL[i, s]])]
    calls, forward = [], PANGraph.forward
    monkeypatch.setattr(PANGraph, "forward", lambda self, *a, **b: calls.append(self.trials) or forward(self, *a, **b))
    results = [fit(model, mixed, val=val, seeds=[1, 2, 3], **SETTINGS).history for val in (mixed, apart)]
    for name, values in results[0].items():
        torch.testing.assert_close(values, results[1][name])
    assert 1 in calls
    model.eval()
    inputs, named = (mixed[0].x, mixed[0].adj), {"batch": mixed[0].batch, "batch_size": BATCH}
    with torch.no_grad():
        few = scores_of(model, inputs, named, torch.tensor([False, True, False]))
        expected = model(*inputs, **named)
    torch.testing.assert_close(few[:, [0, 2]], expected[:, [0, 2]])
    assert not few[:, 1].any()


class Told(nn.Module):
    """Another module that asks which graphs count."""

    def __init__(self):
        super().__init__()
        self.conv, self.seen = GCNConv(F, 2), []

    def forward(self, x, edge_index, batch, graph_weight=None):
        self.seen.append(graph_weight)
        return global_mean_pool(self.conv(x, edge_index), batch)


def in_pyg(masks):
    parts = [
        Data(each.x.float(), each.edges, y=torch.tensor([each.y]), **{name: m[i : i + 1] for name, m in masks.items()})
        for i, each in enumerate(GRAPHS)
    ]
    return DataLoader(parts, BATCH)


def test_any_module_that_asks_is_told_which_graphs_count():
    model, loader = Told(), in_pyg(column(PARTS, 0))
    fit(model, loader, val=loader, epochs=1)
    told = [each for each in model.seen if each is not None]
    assert torch.equal(torch.cat(told), TRAIN[:, 0].float())
    with pytest.raises(ValueError, match="train_mask has a column for each of 3 trials, but the model takes graph_wei"):
        fit(Told(), in_pyg(PARTS), val=in_pyg(PARTS), seeds=[1, 2, 3], epochs=1)


def test_a_pyg_batch_with_a_mask_per_trial():
    loader = in_pyg(PARTS)
    found = fit(PANGraph(F, 5, 2, 2, trials=S), loader, val=loader, test=loader, seeds=[5, 6, 7], epochs=2)
    assert len(found.test_metric) == S
    rows = {**PARTS, "train_mask": TRAIN}
    ours = fit(
        PANGraph(F, 5, 2, 2, trials=S).double(), [*batches(rows)], val=[*batches(rows)], seeds=[5, 6, 7], epochs=2
    )
    torch.testing.assert_close(found.history["val_loss"].double(), ours.history["val_loss"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (
            {**PARTS, "train_mask": TRAIN[:, :2]},
            r"the masks of a batch must be boolean, \(n,\) or \(n, 3\), .* \(6, 2\)",
        ),
        ({**PARTS, "val_mask": VAL.float()}, "the masks of a batch must be boolean, .* torch.float32"),
        ({**PARTS, "val_mask": VAL & (torch.arange(S) != 1)}, "val gives no row whose val_mask is true for trial 1"),
        ({**PARTS, "train_mask": TRAIN & (torch.arange(S) < 2)}, "data gives no row whose train_mask is .* trial 2"),
        ({**PARTS, "train_mask": TRAIN & False}, "data gives no batch with a row to train on"),
    ],
)
def test_refusals(masks, words):
    with pytest.raises(ValueError, match=words):
        fitted(masks, [1, 2, 3], trials=S)


def test_a_trial_without_a_test_graph_has_no_metric():
    found = fitted({**PARTS, "test_mask": TEST & (torch.arange(S) != 1)}, [1, 2, 3], trials=S)
    assert [metric == metric for metric in found.test_metric] == [True, False, True]
