"""Bars that end where the work ends."""

import io

import pytest
from rich.console import Console

from panconv.cli import screen
from panconv.paper.tables import cells
from panconv.training.fit import Progress
from panconv.training.runner import Step


@pytest.fixture
def shown(monkeypatch):
    """What bars leave on a terminal that is none: their last state."""
    stream = io.StringIO()
    monkeypatch.setattr(screen, "console", lambda stderr=False: Console(file=stream, width=120))
    return stream


def epochs(bar, last, trials=10, most=200):
    for epoch in range(1, last + 1):
        bar.show("Cora", epoch / most, Progress(epoch, most, 0 if epoch == last < most else trials, trials, 0.5))


def test_a_training_that_stops_early_is_done(shown):
    with screen.Bar() as bar:
        epochs(bar, 90)
        assert bar._bar.tasks[0].percentage == 100
    assert "90/90 epochs · val. loss 0.500 · done, stopped early (of at most 200)" in shown.getvalue()


def test_a_training_that_takes_all_its_epochs_is_done(shown):
    with screen.Bar() as bar:
        epochs(bar, 200)
    assert "200/200 epochs · val. loss 0.500 · done ·" in shown.getvalue()


def test_a_training_under_way_is_not_done(shown):
    with screen.Bar() as bar:
        bar.show("Cora", 0.1, Progress(20, 200, 7, 10, 0.5))
        assert bar._bar.tasks[0].percentage == 10
    assert " 20/200 epochs · val. loss 0.500 · 7 running" in shown.getvalue()


def test_batches_that_stop_early_are_done(shown):
    tasks = cells.pan_tasks("cora", 3)
    with screen.Batches(6) as bar:
        for batch in range(2):
            for done in (0.0, 0.2, 0.45):
                bar.show(Step(batch, 2, tasks, done))
        assert 0 < bar._bar.tasks[0].percentage < 100
    assert bar._bar.tasks[0].percentage == 100
    assert "6 trainings done" in shown.getvalue()


def test_batches_that_are_broken_off_are_not_done(shown):
    def stopped():
        with screen.Batches(6) as bar:
            for done in (0.0, 0.5):
                bar.show(Step(0, 2, cells.pan_tasks("cora", 3), done))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert "5 left" in shown.getvalue()
    assert "done" not in shown.getvalue()


def test_nothing_to_train_shows_nothing(shown):
    with screen.Batches(0):
        pass
    assert shown.getvalue() == ""


def test_a_bar_grows_with_what_a_search_finds_to_do(shown):
    with screen.Batches(4) as bar:
        for batch in range(3):
            bar.show(Step(batch, 3, cells.pan_tasks("cora", 3), 0.0))
            bar.show(Step(batch, 3, cells.pan_tasks("cora", 3), 1.0))
    assert "9 trainings done" in shown.getvalue()
