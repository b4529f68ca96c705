import pytest
import torch
import torch.nn.functional as F
from torch import nn

from panconv.training.epoch import Epoch, Limits, Nodes, score


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


def make(trials=3, patience=5, lr=0.1, epochs=30, keep="loss"):
    model = Plain(trials)
    y, nodes = torch.arange(12) % 3, torch.arange(12)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    inputs = (torch.zeros(()),)
    chosen, limits = Nodes(y, nodes[:6], nodes[3:9]), Limits(epochs, patience, keep)
    return Epoch(model, optimizer, inputs, chosen, range(trials or 1), limits)


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
    tensors += [*epoch.best_state, *epoch.history.values(), *epoch.parameters]
    before = [t.data_ptr() for t in tensors]
    for _ in range(4):
        epoch()
    tensors = [t for t in vars(epoch).values() if isinstance(t, torch.Tensor)]
    tensors += [*epoch.best_state, *epoch.history.values(), *epoch.parameters]
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


def test_score_is_cross_entropy_and_accuracy_by_trial():
    scores, nodes, y = torch.randn(10, 4, 3), torch.tensor([7, 2, 5]), torch.tensor([0, 2, 1])
    loss, accuracy = score(scores, nodes, y)
    for s in range(4):
        torch.testing.assert_close(loss[s], F.cross_entropy(scores[nodes, s], y))
        assert accuracy[s] == (scores[nodes, s].argmax(1) == y).float().mean()
    torch.testing.assert_close(score(scores[:, 0], nodes, y)[0], loss[:1])


def test_the_last_epoch_by_gcns_rule():
    """A trial ends when its loss is above the mean of the `patience` before it, and keeps what it has then."""
    torch.manual_seed(3)
    epoch, patience = make(trials=5, patience=4, lr=0.3, epochs=60, keep="last"), 4
    wrong = (torch.arange(3, 9) + 1) % 3  # what is learned from nodes 3 … 5 is wrong here, so the loss will rise
    epoch.val = (torch.arange(3, 9), wrong)
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
