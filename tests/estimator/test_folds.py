import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, TimeSeriesSplit

from panconv.estimator.folds import folds_of


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40), st.integers(2, 6), st.integers(0, 3))
def test_every_class_is_spread_over_the_folds(y, K, seed):
    y = np.array(y)
    folds = folds_of(K, y, True, seed)
    assert torch.equal(folds.train, ~folds.test)
    for each in np.unique(y):
        counts = folds.test[torch.from_numpy(y == each)].sum(0)
        if (y == each).sum() == 1:
            assert not counts.any()
        else:
            assert folds.train[torch.from_numpy(y == each)].any(0).all()  # every fold learns from it
            assert int(counts.sum()) == (y == each).sum()
            assert int(counts.max() - counts.min()) <= 1


def test_splitters_and_pairs():
    y, groups = np.arange(12) % 2, np.arange(12) // 3
    pairs = list(GroupKFold(4).split(y, y, groups))
    folds = folds_of(pairs, y, True)
    assert folds.K == 4
    assert all(len(set(groups[folds.test[:, k].numpy()])) == 1 for k in range(4))
    timed = folds_of(TimeSeriesSplit(3), y, True)
    assert not timed.held_out[:3].any()
    assert not timed.train[:, 0][3:].any()
    scores = torch.arange(12.0).reshape(12, 1, 1).expand(12, 3, 1)
    out = timed.out_of_fold(scores).squeeze(1)
    assert out[:3].isnan().all()
    assert torch.equal(out[3:], torch.arange(3.0, 12.0))
    assert folds.of(torch.arange(6)).K == 2  # the folds of those that are left


def test_cv_is_refused_in_a_line():
    with pytest.raises(ValueError, match="cv must be an integer of at least 2, got 1"):
        folds_of(1, np.arange(4), True)
    with pytest.raises(TypeError, match="cv must be a number of folds, a splitter or pairs"):
        folds_of(0.5, np.arange(4), True)
    for cv in (GroupKFold(3), LeaveOneGroupOut()):
        with pytest.raises(ValueError, match=r"by groups, which fit is not told: give the pairs .* cv=list\("):
            folds_of(cv, np.arange(12) % 2, True)
    with pytest.raises(ValueError, match="Cannot have number of folds=9"):  # what scikit-learn says well
        folds_of(TimeSeriesSplit(8), np.arange(4), True)
