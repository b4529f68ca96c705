from dataclasses import replace

import pytest
import torch

from panconv.records.record import SETTINGS, pan_task
from panconv.training.halving import Halving, cutting, survivors

NOBODY = torch.zeros(8, dtype=torch.bool)
PAIRS = torch.arange(4).repeat_interleave(2)  # four settings with two seeds each


def flat(values, epochs=12):
    """Curves that never change after the first epoch, (epochs, S)."""
    return torch.tensor(values).expand(epochs, -1).clone()


def falling(loss, trial, at):
    """Trial's lowest loss is at an epoch, from 1."""
    loss[at - 1, trial] = 0.9 * loss[0, trial]
    return loss


def test_the_worse_half_is_cut_by_the_mean_over_the_seeds():
    accuracy = flat([0.9, 0.1, 0.6, 0.6, 0.7, 0.7, 0.2, 0.3])  # means .5, .6, .7, .25
    goes_on = survivors(flat([1.0] * 8), accuracy, PAIRS, NOBODY)
    assert goes_on.tolist() == [False, False, True, True, True, True, False, False]


def test_the_best_so_far_counts_and_not_the_last():
    accuracy = flat([0.5] * 8)
    accuracy[3, 6:] = 0.9  # once
    accuracy[8:, 6:] = torch.nan  # and stopped since
    accuracy[:, 4:6] = 0.6
    goes_on = survivors(flat([1.0] * 8), accuracy, PAIRS, NOBODY)
    assert goes_on.tolist() == [False] * 4 + [True] * 4


def test_a_tie_goes_to_the_lower_loss():
    goes_on = survivors(flat([1.0, 1.0, 0.5, 0.5, 0.7, 0.7, 0.9, 0.9]), flat([0.5] * 8), PAIRS, NOBODY)
    assert goes_on.tolist() == [False, False, True, True, True, True, False, False]


@pytest.mark.parametrize(("at", "kept"), [(8, False), (9, True), (12, True)])
def test_what_moved_in_the_last_third_goes_on_in_any_of_its_trials(at, kept):
    accuracy = flat([0.1, 0.1, 0.5, 0.5, 0.7, 0.7, 0.6, 0.6])
    goes_on = survivors(falling(flat([1.0] * 8), 1, at), accuracy, PAIRS, NOBODY)
    assert goes_on.tolist() == [kept, kept, False, False, True, True, True, True]


@pytest.mark.parametrize(("at", "kept"), [(8, False), (9, True), (12, True)])
def test_where_the_metric_is_kept_its_rise_is_a_move_too(at, kept):
    accuracy = flat([0.1, 0.1, 0.5, 0.5, 0.7, 0.7, 0.6, 0.6])
    accuracy[at - 1 :, 1] = 0.2  # it rises once and stays there
    curves = (flat([1.0] * 8), accuracy, PAIRS, NOBODY)
    assert survivors(*curves, by_metric=True).tolist() == [kept, kept, False, False, True, True, True, True]
    assert survivors(*curves).tolist() == [False] * 4 + [True] * 4
    sinking = falling(flat([1.0] * 8), 3, 12)  # the loss counts as before
    assert survivors(sinking, *curves[1:], by_metric=True).tolist()[2:4] == [True, True]


def test_an_odd_one_stays_and_one_alone_is_never_cut():
    three = torch.arange(3)
    goes_on = survivors(flat([1.0] * 3), flat([0.1, 0.2, 0.3]), three, NOBODY[:3])
    assert goes_on.tolist() == [False, True, True]
    assert survivors(flat([1.0]), flat([0.1]), three[:1], NOBODY[:1]).tolist() == [True]


def test_a_loss_that_was_never_finite_is_the_worst():
    loss = flat([1.0] * 8)
    loss[:, :2] = torch.nan
    accuracy = flat([0.5] * 8)
    accuracy[:, :2] = torch.nan
    assert survivors(loss, accuracy, PAIRS, NOBODY).tolist()[:2] == [False, False]


def run(loss, accuracy, settings, rungs, every=1):
    """The epochs each trial runs under `Halving`, as `fit` would ask it."""
    cut, running = Halving(settings, rungs), torch.ones(len(settings), dtype=torch.bool)
    ends, history = torch.zeros(len(settings), dtype=torch.long), torch.full_like(loss, torch.nan)
    found = history.clone()
    for epoch in range(1, len(loss) + 1):
        history[epoch - 1], found[epoch - 1] = (each[epoch - 1].where(running, torch.nan) for each in (loss, accuracy))
        ends[running] = epoch
        if epoch % every == 0:
            seen = {"train_loss": history[:epoch], "val_loss": history[:epoch], "val_accuracy": found[:epoch]}
            goes_on = cut(epoch, seen, ends)
            running &= True if goes_on is None else goes_on
    return ends.tolist(), found


def test_a_slow_setting_that_is_the_worst_at_the_rung_survives_and_wins():
    """One with a small step: behind at every rung, moving all the time, and the best at the end."""
    epoch = torch.arange(1.0, 101).unsqueeze(1)
    quick = torch.tensor([0.70, 0.72, 0.60, 0.65])
    accuracy = torch.cat([quick * (1 - (-epoch / 3).exp()), 0.9 * epoch / 100], 1)
    stalled = 1 + 0.001 * epoch  # their loss rises from the start
    loss = torch.cat([stalled.expand(-1, 4), 2 - epoch / 100], 1)
    assert accuracy[24].argmin() == accuracy[49].argmin() == 4
    ends, found = run(loss, accuracy, range(5), [25, 50])
    assert ends == [100, 100, 25, 50, 100]  # the worse half, of five and then of four, but for the slow one
    assert found.nan_to_num(0).max(0).values.argmax() == 4


def test_a_rung_is_at_the_first_look_at_or_after_it():
    loss, accuracy = flat([1.0] * 4, 40), flat([0.1, 0.2, 0.3, 0.4], 40)
    assert run(loss, accuracy, range(4), [12, 24], every=10)[0] == [20, 20, 30, 40]
    assert run(loss, accuracy, range(4), [12, 14], every=10)[0] == [20, 20, 40, 40]  # two at once are one
    assert run(loss, accuracy, range(4), [], every=10)[0] == [40] * 4


def test_halving_is_asked_for_by_a_setting_of_the_tasks():
    how = {**SETTINGS, "halving": [50, 100]}
    tasks = [pan_task("cora", 5, "free", 2, {**how, "lr": lr}, seed) for lr in (0.1, 0.2) for seed in (0, 1)]
    cut = cutting(tasks)["cut"]
    assert cut.settings.tolist() == [0, 0, 1, 1]
    assert cut.rungs == [50, 100]
    assert cutting(tasks[:2]) == {}  # one setting alone
    assert cutting([replace(task, settings=SETTINGS) for task in tasks]) == {}


@pytest.mark.parametrize(
    ("keep", "by_metric"), [("metric", True), ("accuracy", True), ("both", True), ("loss", False), (None, False)]
)
def test_what_is_kept_says_what_counts_as_moving(keep, by_metric):
    how = {**SETTINGS, "halving": [4], **({} if keep is None else {"keep": keep})}
    cut = cutting([pan_task("cora", 5, "free", 2, {**how, "lr": lr}, 0) for lr in (0.1, 0.2)])["cut"]
    assert cut.by_metric == by_metric
    rising = torch.tensor([[0.1, 0.5], [0.1, 0.5], [0.2, 0.5], [0.3, 0.5]])
    goes_on = cut(4, {"val_loss": flat([1.0, 1.0], 4), "val_accuracy": rising}, torch.ones(2))
    assert goes_on.tolist() == [by_metric, True]
