import pytest
import torch
import torch.nn.functional as F
from torch import nn
from two_communities import small

from panconv import PAN, Adjacency, fit
from panconv.nn import DropNodes, Dropout, Stacked
from panconv.training.consistency import Consistency, _some, _with_drawn
from panconv.training.inputs import Inputs
from panconv.training.objective import losses, picked
from panconv.training.parts import part_of

SETTINGS = {"epochs": 12, "patience": 6, "lr": 0.05}


class Net(nn.Module):
    """An own model of a PyG programmer's."""

    def __init__(self):
        super().__init__()
        self.nodes, self.first = DropNodes(0.5), nn.Linear(6, 8)
        self.drop, self.second = Dropout(0.5), nn.Linear(8, 2)

    def forward(self, x, adj):
        return self.second(self.drop(self.first(self.nodes(x)).relu()))


class PlainNet(Net):
    """Without a dropout of its own."""

    def forward(self, x, adj):
        return self.second(self.first(x).relu())


def plain_loop(scores, y, rows, weight, sharpening):
    """The loss of one trial by its scores (N, draws, C), draw after draw and node after node."""
    draws = scores.size(1)
    entropy = sum(F.cross_entropy(scores[rows, d], y[rows]) for d in range(draws)) / draws
    p = [scores[:, d].softmax(-1) for d in range(draws)]
    target = (sum(p) / draws).detach() ** (1 / sharpening)
    target = torch.stack([row / row.sum() for row in target])
    apart = [((p[d][i] - target[i]) ** 2).sum() for d in range(draws) for i in range(len(y))]
    return entropy + weight * sum(apart) / len(apart)


@pytest.mark.parametrize("own_rows", [False, True])
@pytest.mark.parametrize("trials", [None, 1, 2])
def test_by_a_plain_loop(trials, own_rows):
    data, S = small(), trials or 1
    model = PAN(6, 8, 2, trials=trials)
    model.seed(list(range(S)))
    model.train().key(torch.arange(S), 3)
    mask = data.train_mask
    if own_rows and trials:
        mask = torch.stack([data.train_mask, data.val_mask], 1)[:, :S]
    adj, weight, sharpening = Adjacency.of(data.edge_index), [0.7, 2.0][:S], [0.3, 0.9][:S]
    sample = Inputs((data.x, adj), {}).with_part(part_of(data.y, mask))
    found = Consistency(3, weight, sharpening)(model, sample)
    scores = model.drawn((data.x, adj), {}, 3)
    assert found.shape == (S,)
    gradient = torch.autograd.grad(found.sum(), list(model.parameters()), retain_graph=True)
    rows = [(mask if mask.dim() == 1 else mask[:, s]).nonzero().squeeze(1) for s in range(S)]
    expected = [plain_loop(scores[:, s], data.y, rows[s], weight[s], sharpening[s]) for s in range(S)]
    torch.testing.assert_close(found, torch.stack(expected))
    by_hand = torch.autograd.grad(sum(expected), list(model.parameters()))
    for a, b in zip(gradient, by_hand, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_nodes_that_the_model_is_unsure_of_are_left_alone():
    data, model = small(), PAN(6, 8, 2, trials=2)
    model.seed([0, 1])
    model.train().key(torch.arange(2), 3)
    inputs = (data.x, Adjacency.of(data.edge_index))
    sample = Inputs(inputs, {}).with_part(part_of(data.y, data.train_mask))
    p = model.drawn(inputs, {}, 3).softmax(-1).detach()
    surest = p.mean(2).amax(-1)  # (N, S)
    bound = surest.median(0).values
    target = p.mean(2, keepdim=True) ** 2
    apart = (p - target / target.sum(-1, keepdim=True)).square().sum(-1)  # (N, S, draws)
    expected = torch.where((surest >= bound).unsqueeze(-1), apart, 0).mean((0, 2))
    found, plain = (Consistency(3, w, 0.5, bound.tolist())(model, sample).detach() for w in (2.0, 0.0))
    torch.testing.assert_close(found, plain + 2 * expected)
    assert Consistency(confidence=[0, 0.5]).narrowed([1]).confidence == 0.5


@pytest.mark.parametrize("own_rows", [False, True])
@pytest.mark.parametrize("trials", [None, 2])
def test_on_some_nodes(trials, own_rows):
    """The loss is that of the training nodes and of nodes that are drawn, and each trial draws its own."""
    data, S = small(), trials or 1
    inputs = {"propagate": True, "drop_nodes": 0.3, "nearest": 3}
    model = PAN(6, 8, 2, 1, jk="last", L=2, weights=[0.5, 0.3, 0.2], dropout=0.2, trials=trials, inputs=inputs)
    model.seed(list(range(S)))
    model.train().key(torch.arange(S), 3)
    mask = data.train_mask
    if own_rows and trials:
        mask = torch.stack([data.train_mask, data.val_mask | (torch.arange(40) % 4 == 2)], 1)
    sample = Inputs((data.x, Adjacency.of(data.edge_index)), {}).with_part(part_of(data.y, mask))
    consistency = Consistency(2, 0.7, 0.4, nodes=9)
    rows = _with_drawn(model, sample, 9)
    n = len(rows) - 9
    assert rows.shape == (20 + 9, S)
    assert 0 <= int(rows.min()) <= int(rows.max()) < 40
    if trials:
        assert not torch.equal(rows[n:, 0], rows[n:, 1])
    scores = model.drawn(sample.inputs, {"rows": rows}, 2)
    y = data.y[rows]
    expected = [plain_loop(scores[:, s], y[:, s], torch.arange(n), 0.7, 0.4) for s in range(S)]
    torch.testing.assert_close(consistency(model, sample), torch.stack(expected))


def test_the_weight_grows_over_the_first_steps():
    data = small()
    model = PAN(6, 8, 2)
    model.seed([0])
    model.train().key(torch.tensor([0]), 1)
    sample = Inputs((data.x, Adjacency.of(data.edge_index)), {}).with_part(part_of(data.y, data.train_mask))
    none, whole = (Consistency(2, weight)(model, sample) for weight in (0.0, 1.0))
    for step, share in ((1, 0.25), (3, 0.75), (4, 1.0), (9, 1.0)):
        found = Consistency(2, 1.0, ramp=4)(model, sample._replace(step=torch.tensor(step)))
        torch.testing.assert_close(found, none + share * (whole - none))
    histories = [
        fit(PAN(6, 8, 2), data, regularizer=Consistency(2, 2.0, ramp=r), **SETTINGS).history for r in (0, 1, 9)
    ]
    torch.testing.assert_close(histories[0], histories[1], equal_nan=True)
    assert histories[0]["train_loss"][0] > histories[2]["train_loss"][0]


def test_one_draw_of_no_weight_is_the_plain_training():
    for make in (lambda: PAN(6, 8, 2, trials=2), lambda: Stacked(Net, 6, 2, trials=2), Net):
        plain = fit(make(), small(), seeds=[0, 1], **SETTINGS)
        drawn = fit(make(), small(), seeds=[0, 1], regularizer=Consistency(1, 0.0), **SETTINGS)
        torch.testing.assert_close(plain.history, drawn.history, equal_nan=True, rtol=1e-4, atol=1e-5)


def by_rows(S, weights=(0.5, 0.3, 0.2)):
    inputs = {"propagate": True, "drop_nodes": 0.3, "nearest": 4, "norm": "batch"}
    weights = list(weights) if isinstance(weights, tuple) else weights
    return PAN(6, 8, 2, 1, jk="last", L=2, weights=weights, trials=S, inputs=inputs).double()


def averaged(S):
    inputs = {"propagate": True, "drop_nodes": 0.3, "nearest": 4, "norm": "batch", "averaged": True}
    weights = {"kind": "power-law", "alpha": 1.0, "temperature": 2.0, "trained": False}
    return PAN(6, 8, 2, 1, L=2, method=7, weights=weights, trials=S, inputs=inputs).double()


@pytest.mark.parametrize("trials", [None, 2])
@pytest.mark.parametrize("nodes", [None, 5])
def test_a_few_labels_at_a_time(trials, nodes):
    """The cross entropy is that of the labels drawn, each trial's own, and of none twice; without consistency the rest
    counts for nothing."""
    data, S = small(), trials or 1
    make = (lambda: averaged(trials)) if nodes else (lambda: PAN(6, 8, 2, trials=trials, dropout=0.0).double())
    model, x = make(), data.x.double()
    model.seed(list(range(S)))
    adj = Adjacency.of(data.edge_index)
    sample = Inputs((x, adj), {}).with_part(part_of(data.y, data.train_mask))
    rows, seen = data.train_mask.nonzero().squeeze(1), []
    for step in range(1, 6):
        model.train().key(torch.arange(S), step)
        part = _some(model, sample, 3)
        assert part.rows.shape == part.y.shape == (3, S)
        assert torch.equal(part.y, data.y[part.rows])
        assert all(len(set(column.tolist())) == 3 <= len(rows) for column in part.rows.T)
        assert torch.isin(part.rows, rows).all()
        seen.append(part.rows)
        if nodes is None:
            found = Consistency(1, 0.0, labelled=3)(model, sample)
            torch.testing.assert_close(found, losses(picked(model(x, adj), part)))
    assert len({tuple(each.flatten().tolist()) for each in seen}) > 1  # drawn anew at each step
    if trials:
        assert any(not torch.equal(each[:, 0], each[:, 1]) for each in seen)
    all_of_them = Consistency(2, 1.0, nodes=nodes, labelled=len(rows))(model, sample)
    torch.testing.assert_close(all_of_them, Consistency(2, 1.0, nodes=nodes)(model, sample))


@pytest.mark.parametrize(
    ("make", "nodes"),
    [
        (lambda S: PAN(6, 8, 2, trials=S, norm="batch").double(), None),
        (lambda S: Net().double(), None),
        (lambda S: PlainNet().double(), None),
        (by_rows, 7),
        (lambda S: averaged(S), 7),
        (lambda S: by_rows(S, {"kind": "power-law", "alpha": 1.0, "temperature": 2.0, "trained": True}), 7),
    ],
)
def test_a_trial_among_others_is_the_trial_alone(make, nodes):
    weight, sharpening, data = [0.0, 1.0, 2.0], [0.5, 0.2, 1.0], small()
    data.x = data.x.double()  # in which rounding does not grow into a difference that is seen
    some = {"nodes": nodes, "ramp": 7, "labelled": 3}
    together = fit(make(3), data, seeds=[4, 5, 6], regularizer=Consistency(2, weight, sharpening, **some), **SETTINGS)
    for s in range(3):
        one = Consistency(2, weight[s], sharpening[s], **some)
        alone = fit(make(None), data, seeds=[4 + s], regularizer=one, **SETTINGS)
        last = len(alone.history["val_loss"])
        for name, values in alone.history.items():
            torch.testing.assert_close(values[:, 0], together.history[name][:last, s], rtol=1e-7, atol=1e-9)


def test_any_function_is_a_regularizer():
    def half(model, sample):
        return 0.5 * losses(picked(sample.scores(model), sample.part))

    plain = fit(PAN(6, 8, 2), small(), **SETTINGS).history["train_loss"]
    found = fit(PAN(6, 8, 2), small(), regularizer=half, **SETTINGS).history["train_loss"]
    torch.testing.assert_close(found[0], 0.5 * plain[0])


def test_what_is_wrong():
    with pytest.raises(ValueError, match="draws must be an integer of at least 1, got 0"):
        Consistency(0)
    with pytest.raises(ValueError, match="labelled must be an integer of at least 1, got 0"):
        Consistency(labelled=0)
    with pytest.raises(ValueError, match="sharpening must be positive and finite, got 0"):
        Consistency(sharpening=0)
    with pytest.raises(ValueError, match="weight must be at least 0 and finite, got -1"):
        Consistency(weight=-1)
    with pytest.raises(ValueError, match="weight must be a number, or 2, one per trial, got 3 of them"):
        fit(PAN(6, 8, 2, trials=2), small(), seeds=[0, 1], regularizer=Consistency(weight=[1, 2, 3]))
    with pytest.raises(ValueError, match="nodes goes with a PAN, got nodes = 3 with another module"):
        fit(Net(), small(), regularizer=Consistency(nodes=3))
    data = small()
    data.train_mask = torch.stack([data.train_mask, data.train_mask & (torch.arange(40) < 20)], 1)
    with pytest.raises(ValueError, match="nodes goes with splits of one size for all trials, got nodes = 3: leave it"):
        fit(by_rows(2).float(), data, seeds=[0, 1], regularizer=Consistency(nodes=3))
    with pytest.raises(ValueError, match="ramp must be an integer of at least 0, got -1"):
        Consistency(ramp=-1)
    data = small()
    data.y = data.x[:, :2]
    with pytest.raises(ValueError, match="Consistency goes with classes, but y holds numbers"):
        fit(PAN(6, 8, 2), data, regularizer=Consistency())
