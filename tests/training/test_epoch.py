import pytest
import torch
import torch.nn.functional as F
from torch import nn

from panconv.training.epoch import Epoch, Limits
from panconv.training.objective import Part, Sample


class Plain(nn.Module):
    """Something else than a PAN: S tables of scores, or one."""

    def __init__(self, trials):
        super().__init__()
        self.trials, self.keys = trials, []
        shape = (12, 3) if trials is None else (trials, 12, 3)
        self.table = nn.Parameter(torch.randn(shape))

    def key(self, seeds, epoch):
        self.keys.append((seeds.tolist(), int(epoch)))

    def forward(self, shift):
        table = self.table if self.trials is None else self.table.transpose(0, 1)
        return table + shift * self.training


def sample(y, rows):
    return Sample((torch.zeros(()),), Part.of(y, rows))


def make(trials=3, patience=5, lr=0.1, epochs=30, keep="loss", metric="accuracy", steps=(slice(0, 6),)):
    model = Plain(trials)
    y, nodes = torch.arange(12) % 3, torch.arange(12)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    train, val = [sample(y, nodes[step]) for step in steps], [sample(y, nodes[3:9])]
    return Epoch(model, optimizer, train, val, range(trials or 1), Limits(epochs, patience, keep, metric))


@pytest.mark.parametrize("trials", [None, 3])
def test_an_epoch_is_a_step_and_an_evaluation(trials):
    epoch = make(trials)
    table = epoch.model.table.detach().clone().requires_grad_()
    stacked = table if trials else table[None]
    loss = torch.stack([F.cross_entropy(t[:6], torch.arange(6) % 3) for t in stacked])
    loss.sum().backward()
    after = (table - 0.1 * table.grad).detach()
    epoch()
    torch.testing.assert_close(epoch.model.table.detach(), after)
    torch.testing.assert_close(epoch.history["train_loss"][0], loss.detach())
    y = torch.arange(3, 9) % 3
    expected = torch.stack([F.cross_entropy(t[3:9], y) for t in (after if trials else after[None])])
    torch.testing.assert_close(epoch.history["val_loss"][0], expected)
    torch.testing.assert_close(epoch.best_loss, expected)
    assert epoch.model.keys == [(list(range(trials or 1)), 1)]
    assert torch.isnan(epoch.history["val_loss"][1:]).all()


def test_whatever_changes_is_changed_in_place():
    epoch = make()
    tensors = [t for t in vars(epoch).values() if isinstance(t, torch.Tensor)]
    tensors += [*epoch.best_state, *epoch.history.values(), *epoch.state]
    before = [t.data_ptr() for t in tensors]
    for _ in range(4):
        epoch()
    tensors = [t for t in vars(epoch).values() if isinstance(t, torch.Tensor)]
    tensors += [*epoch.best_state, *epoch.history.values(), *epoch.state]
    assert [t.data_ptr() for t in tensors] == before
    assert epoch.number.item() == 4


def test_epochs_after_a_trials_end_change_nothing_of_it():
    epoch = make(patience=2, lr=0.0)  # nothing ever falls, so the first is the best
    for _ in range(3):
        epoch()
    assert not epoch.running.any()
    kept = [epoch.best_loss.clone(), epoch.best_epoch.clone(), epoch.last_epoch.clone(), epoch.best_state[0].clone()]
    with torch.no_grad():
        epoch.model.table.copy_(100 * F.one_hot(torch.arange(12) % 3, 3))  # the best there could be
    epoch()
    for a, b in zip(kept, [epoch.best_loss, epoch.best_epoch, epoch.last_epoch, epoch.best_state[0]], strict=True):
        assert torch.equal(a, b)
    assert torch.isnan(epoch.history["val_loss"][3:]).all()
    epoch.restore()
    assert torch.equal(epoch.model.table, epoch.best_state[0])
    assert epoch.model.table.grad is None


def test_a_step_for_each_sample():
    """By hand: each step from where the one before has led, each with random numbers of its own."""
    epoch, y = make(None, steps=(slice(0, 6), slice(6, 8))), torch.arange(12) % 3
    table, found = epoch.model.table.detach().clone(), []
    for rows in (slice(0, 6), slice(6, 8)):
        table = table.requires_grad_()
        found.append(F.cross_entropy(table[rows], y[rows]))
        table = (table - 0.1 * torch.autograd.grad(found[-1], table)[0]).detach()
    epoch()
    torch.testing.assert_close(epoch.model.table.detach(), table)
    torch.testing.assert_close(epoch.history["train_loss"][0, 0], (6 * found[0] + 2 * found[1]).detach() / 8)
    epoch()
    assert epoch.model.keys == [([0], step) for step in (1, 2, 3, 4)]


def test_what_runs_along_is_kept_and_restored():
    """A buffer that every step changes, as the running mean of a norm, goes back with the parameters."""
    epoch = make(None, patience=3, lr=0.0, epochs=6)
    epoch.model.register_buffer("seen", torch.zeros((), dtype=torch.long))
    epoch = Epoch(epoch.model, epoch.optimizer, epoch.train, epoch.val, [0], Limits(6, 3))
    epoch.model.register_forward_pre_hook(lambda module, _: module.seen.add_(int(module.training)))
    for _ in range(4):
        epoch()
    assert int(epoch.model.seen) == 4
    epoch.restore()
    assert int(epoch.model.seen) == 1


@pytest.mark.parametrize("keep", ["metric", "both"])
def test_less_is_better_for_some_metrics(keep):
    y = torch.tensor([[0.0], [1.0], [2.0]])
    epoch = make(None, keep=keep, metric="mae", lr=0.0)
    assert epoch.best_metric.tolist() == [torch.inf]
    epoch.model.table = None
    epoch.val = epoch.train = [Sample((), Part.of(y))]
    errors, told = [3.0, 2.0, 2.0, 2.5], []
    epoch.model.key, epoch._step = lambda *_: None, lambda: torch.zeros(1)
    epoch.model.forward = lambda: y + errors[int(epoch.number) - 1]
    epoch.state = epoch.best_state = []
    for _ in errors:
        epoch()
        told.append(int(epoch.best_epoch))
    assert told == [1, 2, 3, 3]
    assert epoch.best_metric.tolist() == [2]
    assert epoch.history["val_mae"][:4, 0].tolist() == errors


def test_the_last_epoch_by_gcns_rule():
    """A trial ends when its loss is above the mean of the `patience` before it, and keeps what it has then."""
    torch.manual_seed(3)
    epoch, patience = make(trials=5, patience=4, lr=0.3, epochs=60, keep="last"), 4
    wrong = (torch.arange(3, 9) + 1) % 3  # what is learned from nodes 3 … 5 is wrong here, so the loss will rise
    epoch.val = [sample(torch.cat([wrong.new_zeros(3), wrong]), torch.arange(3, 9))]
    with torch.no_grad():
        epoch.model.table.mul_(4)
    tables = []
    for _ in range(60):
        epoch()
        tables.append(epoch.model.table.detach().clone())
    ends = []
    for s in range(5):
        losses = [F.cross_entropy(table[s, 3:9], wrong).item() for table in tables]
        rises = (n for n in range(patience + 2, 61) if losses[n - 1] > sum(losses[n - 1 - patience : n - 1]) / patience)
        ends.append(next(rises, 60))
    assert len(set(ends)) > 1
    assert min(ends) < 60
    assert epoch.last_epoch.tolist() == epoch.best_epoch.tolist() == ends
    for s, end in enumerate(ends):
        torch.testing.assert_close(epoch.best_state[0][s], tables[end - 1][s])
