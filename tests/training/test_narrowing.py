import pytest
import torch
import two_communities
from torch import nn

from panconv import PAN, fit
from panconv.nn import Dropout, Stacked
from panconv.training import fit as train
from panconv.training import narrowing
from panconv.training.consistency import Consistency

S = 8
SETTINGS = {"seeds": list(range(S)), "epochs": 40, "patience": 5, "lr": 0.1}


class Net(nn.Module):
    """A norm with running means, and dropout of its own in each trial."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)
        self.drop = Dropout([0.1 * s for s in range(S)])

    def forward(self, x, adj):
        return self.second(self.drop(self.norm(self.first(x)).relu()))


def pan():
    k = torch.rand(3, S, generator=torch.Generator().manual_seed(1))
    return PAN(6, 8, 2, norm="batch", trials=S, weights=k.tolist(), dropout=[0.1 * s for s in range(S)]).double()


def deep():
    """Its residual has settings by trial, which those that are left may share."""
    shares = {"share": [0.1 * (1 + s % 2) for s in range(S)], "identity": [0.5 + 0.1 * (s % 3) for s in range(S)]}
    return PAN(6, 8, 2, num_layers=4, trials=S, residual={"kind": "input", **shares}).double()


def stacked():
    return Stacked(Net, 6, 2, trials=S, decay="first.").double()


def small():
    """In float64, where rounding does not grow into a difference that is seen."""
    data = two_communities.small()
    data.x = data.x.double()
    return data


def splits(data):
    """A split for each trial, of different sizes."""
    turn = (torch.arange(40)[:, None] // 2 + torch.arange(S)) % 4
    data.train_mask, data.val_mask, data.test_mask = turn == 0, turn == 1, turn == 2
    data.train_mask[3:9, 2:5] = False
    return data


@pytest.fixture
def widths(monkeypatch):
    """How many trials there were after each narrowing."""
    seen, before = [], narrowing.narrowed
    monkeypatch.setattr(narrowing, "narrowed", lambda *a: seen.append(len(a[1])) or before(*a))
    return seen


def both(monkeypatch, make, data, **settings):
    """With narrowing, and without."""
    narrow = fit(make(), data, **{**SETTINGS, **settings})
    with monkeypatch.context() as patch:
        patch.setattr(narrowing.Narrowing, "narrow", lambda *_: False)
        return narrow, fit(make(), data, **{**SETTINGS, **settings})


def assert_same(a, b):
    for name in ("best_epoch", "stopped_epoch", "val_metric", "test_metric"):
        assert getattr(a, name) == pytest.approx(getattr(b, name)), name
    torch.testing.assert_close(a.val_loss, b.val_loss, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(a.history, b.history, rtol=1e-7, atol=1e-9, equal_nan=True)
    assert torch.equal(a.predicted, b.predicted)
    assert a.model.trials == b.model.trials == S
    for p, q in zip(a.model.state_dict().values(), b.model.state_dict().values(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-6, atol=1e-8)


OPTIONS = {
    "as they are": {},
    "rates by trial": {"lr": [0.02 * (s + 1) for s in range(S)], "decay_others": [1e-3 * s for s in range(S)]},
    "consistency": {"regularizer": Consistency(2, [0.3 * s for s in range(S)], [0.5 + 0.1 * s for s in range(S)])},
    "by both": {"keep": "both", "patience": 3},
    "the last": {"keep": "last", "patience": 3},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("make", [pan, stacked])
def test_trials_that_go_on_alone_come_out_as_among_all(monkeypatch, widths, make, options):
    data = splits(small()) if options != "rates by trial" else small()
    assert_same(*both(monkeypatch, make, data, **OPTIONS[options]))
    assert widths
    assert all(2 * b < a for a, b in zip([S, *widths], widths, strict=False))


def halving(done, history, best_epoch):
    """After 4 epochs the better half by validation goes on, after 8 the best quarter."""
    assert best_epoch.shape == (S,)
    assert {name: values.shape for name, values in history.items()} == dict.fromkeys(history, (done, S))
    if done not in (4, 8):
        return None
    best = history["val_loss"].nan_to_num(torch.inf).min(0).values
    return best.argsort().argsort() < (3 if done == 4 else 1)


@pytest.mark.parametrize("make", [pan, stacked, deep])
def test_trials_are_cut(monkeypatch, widths, make):
    told = []
    cut, whole = both(monkeypatch, make, small(), patience=30, lr=0.02, cut=halving, callback=told.append)
    assert widths == [3, 1]
    assert_same(cut, whole)
    assert sorted(cut.stopped_epoch)[:7] == [4] * 5 + [8] * 2
    assert max(cut.stopped_epoch) > 30
    plain = fit(make(), small(), **{**SETTINGS, "patience": 30, "lr": 0.02})
    for s in range(S):  # a trial that is cut was what it would have been
        until = cut.stopped_epoch[s]
        torch.testing.assert_close(
            cut.history["val_loss"][:until, s], plain.history["val_loss"][:until, s], rtol=1e-7, atol=1e-9
        )
        assert cut.history["val_loss"][until:, s].isnan().all()
    told = told[: len(told) // 2]
    assert {each.trials for each in told} == {S}
    assert [each.running for each in told[:10]] == [8] * 3 + [3] * 4 + [1] * 3
    assert told[-1].best_val_loss == pytest.approx(sum(cut.val_loss) / S)


def test_all_may_be_cut():
    result = fit(pan(), small(), **SETTINGS, cut=lambda done, *_: torch.full((S,), done < 3))
    assert result.stopped_epoch == [3] * S


def test_what_cut_gives_is_checked():
    with pytest.raises(ValueError, match=r"cut must give a boolean tensor \(8,\), one per trial, or None, got"):
        fit(pan(), small(), **SETTINGS, cut=lambda *_: torch.ones(3, dtype=torch.bool))


def test_a_regularizer_that_knows_all_trials_is_left_with_all(widths):
    seen = []

    def plain(model, sample):
        seen.append(model.trials)
        return Consistency(1, 0.0)(model, sample)

    fit(pan(), small(), **SETTINGS, regularizer=plain)
    assert set(seen) == {S}
    assert not widths


def test_a_new_epoch_is_recorded_anew(monkeypatch, widths):
    """On a GPU a recording is of one set of tensors."""
    made = []

    class Replayed:
        def __init__(self, function, device):
            made.append(function)
            self.function = function

        def __call__(self):
            assert made[-1] is self.function
            self.function()

    monkeypatch.setattr(train, "Replayed", Replayed)
    fit(pan(), small(), **{**SETTINGS, "cut": halving})
    assert [len(each.running) for each in made] == [S, 3, 1]


def test_a_gpu_is_left_with_few_trials(monkeypatch, widths):
    monkeypatch.setitem(narrowing._LEAST, "cpu", S + 1)
    fit(pan(), small(), **SETTINGS)
    assert not widths
    monkeypatch.setitem(narrowing._LEAST, "cpu", S)
    fit(pan(), small(), **SETTINGS)
    assert len(widths) == 1
