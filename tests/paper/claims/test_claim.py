import math

import numpy as np
import pytest
from run_records import make
from scipy import stats

from panconv.paper.claims.claim import (
    CAME_OUT,
    IN_PART,
    NOT,
    OPEN,
    Evidence,
    MissingRecords,
    apart,
    change_by_seed,
    interval,
    verdict,
)
from panconv.records.record import Results


def test_an_interval_is_student_s():
    values = np.random.default_rng(0).normal(3, 2, 10)
    low, high = stats.t.interval(0.95, 9, values.mean(), stats.sem(values))
    found = interval(values.tolist())
    np.testing.assert_allclose([found.mean - found.half, found.mean + found.half], [low, high])
    assert interval([1.0]).half == math.inf  # one value says nothing of others
    assert interval([1.0]).clear is None
    assert (interval([1.0, 2.0]).clear, interval([-1.0, -2.0]).clear) == (None, None)
    assert (interval([1.0, 1.01]).clear, interval([-1.0, -1.01]).clear) == (True, False)


def test_trials_are_compared_seed_by_seed():
    """Each seed has its own level, far apart: only the differences tell."""
    ours = [make(seed, test_accuracy=0.1 * seed + 0.01 + 0.001 * (seed % 2)) for seed in range(8)]
    theirs = [make(seed, test_accuracy=0.1 * seed) for seed in reversed(range(8))]
    change = change_by_seed(ours, theirs)
    assert change.mean == pytest.approx(1.05)
    assert change.above
    assert not change.below
    with pytest.raises(MissingRecords, match="the same seeds"):
        change_by_seed(ours, theirs[1:])
    with pytest.raises(MissingRecords, match="a test of"):
        change_by_seed([make(0, test_accuracy=None)], [make(0)])


def test_two_means_apart():
    first, second = np.random.default_rng(1).normal(0, 1, (2, 10))
    both = ({"mean": each.mean(), "std": each.std(ddof=1)} for each in (first, second))
    found = apart(*both, 10)
    known = stats.ttest_ind(first, second).confidence_interval()
    np.testing.assert_allclose([found.mean - found.half, found.mean + found.half], [known.low, known.high])


def test_a_verdict_is_by_case():
    assert [verdict(of) for of in ([True, True], [True, False], [False, False])] == [CAME_OUT, IN_PART, NOT]
    assert [verdict(of) for of in ([True, None], [None], [False, None])] == [OPEN, OPEN, NOT]


def test_evidence_is_a_folder_and_what_is_further_in_it(tmp_path):
    Results(tmp_path).add([make(seed) for seed in range(3)])
    Results(tmp_path / "further").add([make(seed, test_accuracy=0.5) for seed in range(5)])
    evidence = Evidence.of(tmp_path)
    found = evidence.trials([make(0)], fewest=5)
    assert [run.seed for run in found] == [0, 1, 2, 3, 4]
    assert [run.test_accuracy for run in found] == [0.8, 0.8, 0.8, 0.5, 0.5]  # the first of each training counts
    with pytest.raises(MissingRecords, match="5 of 6 trials of pan on cora are there"):
        evidence.trials([make(0)], fewest=6)
    with pytest.raises(MissingRecords, match="0 of 10 trials"):
        evidence.trials([make(0, method=3)])
