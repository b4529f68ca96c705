"""Where a trained temperature lands, by the records of its trainings."""

import math
from statistics import pstdev

import pytest
from run_records import make

from panconv.paper.studies.temperature import STARTS, SweepOf, landed, sweep
from panconv.records.record import Results
from panconv.training.runner import missing

LAW = {"kind": "power-law", "alpha": 1.0, "temperature": 0.3, "trained": True}
ASKED = SweepOf("cora", [1], [0.0, 0.5], trials=1, epochs=2)


def test_a_landing_is_the_geometric_mean_of_the_trials_and_the_spread_of_their_logarithms():
    runs = [make(0, weights=LAW, temperatures=[0.1, 2.0]), make(1, weights=LAW, temperatures=[0.4, 2.0])]
    found = landed(2, 0.3, runs)
    assert (found.L, found.start, found.trials) == (2, 0.3, 2)
    assert found.temperatures == pytest.approx([0.2, 2.0])
    assert found.spreads == pytest.approx([pstdev([math.log(0.1), math.log(0.4)]), 0.0])
    assert (found.test_accuracy, found.std, found.val_accuracy) == pytest.approx((0.8, 0, 0.7))


@pytest.mark.parametrize("trial", [[None, 2.0], [0.0, 2.0], [None, None], []])
def test_a_landing_has_none_where_a_trial_has_no_finite_logarithm(trial):
    """Nor where it was not kept: in a layer of each trial, but not in the others."""
    found = landed(2, 0.3, [make(0, weights=LAW, temperatures=[0.1, 2.0]), make(1, weights=LAW, temperatures=trial)])
    second = trial[1:] == [2.0]
    assert found.temperatures == [None, pytest.approx(2.0) if second else None]
    assert found.spreads == [None, 0.0 if second else None]


def test_a_sweep_goes_on_where_it_stopped(tmp_path):
    results, steps = Results(tmp_path), []
    first = sweep(ASKED, results, callback=steps.append)
    assert sum(len(step.tasks) for step in steps if not step.done) == missing(ASKED.tasks(), []) == 4
    assert [(each.L, each.start) for each in first.landings] == [(1, start) for start in STARTS]
    assert sweep(ASKED, results, callback=lambda _: pytest.fail("it is trained")) == first
    (hot,) = (path for path in tmp_path.iterdir() if '"temperature": 3.0' in path.read_text())
    hot.unlink()
    assert missing(ASKED.tasks(), results.read()) == 1
    steps.clear()
    assert sweep(ASKED, results, callback=steps.append) == first == sweep(ASKED)
    assert [task.weights["temperature"] for step in steps if not step.done for task in step.tasks] == [3.0]


def test_files_of_landings_that_earlier_versions_wrote_disturb_nothing(tmp_path, recwarn):
    """Whether they said what they are or not; nor do damaged ones."""
    first = sweep(ASKED, results := Results(tmp_path))
    for i, text in enumerate(('{"schema": "panconv-landing-1", "L": 1, "start": 0.3}', '{"L": 1}', "{", "[]")):
        (tmp_path / f"cora-temperature-{i}.json").write_text(text)
    assert len(results.read()) == 4
    assert sweep(ASKED, results, callback=lambda _: pytest.fail("it is trained")) == first
    assert not recwarn
