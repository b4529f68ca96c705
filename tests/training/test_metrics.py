import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, mean_absolute_error, r2_score, roc_auc_score

from panconv.training.metrics import CLASSES, METRICS, NUMBERS, accuracy, auc, checked_metric, macro_f1, mae, r2


@st.composite
def measured(draw, classes=(2, 5)):
    """Scores of few different values, so that many are equal, of classes of which some may be missing."""
    n, S, C = draw(st.integers(2, 12)), draw(st.integers(1, 3)), draw(st.integers(*classes))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    scores = torch.randint(-2, 3, (n, S, C), generator=generator).float()
    y = torch.randint(0, C, (n, S), generator=generator)
    kept = torch.rand(n, S, generator=generator) < 0.7
    kept[0] = True
    return scores, y, kept


def by_trial(metric, scores, y, kept):
    """What the metric gives with weights of 0 and 1, and each trial's rows that count."""
    found = metric(scores, y, kept.float())
    assert found.shape == scores.shape[1:2]
    torch.testing.assert_close(metric(scores, y, torch.ones(y.shape[:2])), metric(scores, y, None), equal_nan=True)
    for s in range(scores.size(1)):
        rows = kept[:, s]
        yield float(found[s]), scores[rows, s], y[rows, s]


@given(measured())
@settings(max_examples=60)
def test_of_classes(case):
    for found, scores, y in by_trial(accuracy, *case):
        assert found == pytest.approx(float((scores.argmax(1) == y).double().mean()))
    for found, scores, y in by_trial(macro_f1, *case):
        assert found == pytest.approx(f1_score(y, scores.argmax(1), average="macro"))


@given(measured())
@settings(max_examples=60)
def test_auc_with_ties(case):
    """scikit-learn refuses a class that is missing; here the others alone count."""
    for found, scores, y in by_trial(auc, *case):
        C, levels = scores.size(1), scores.double().log_softmax(1)
        if C == 2:
            levels = (scores[:, 1:] - scores[:, :1]).expand(-1, 2)
        able = [c for c in range(C) if 0 < int((y == c).sum()) < len(y) and (C > 2 or c == 1)]
        each = [roc_auc_score(y == c, levels[:, c]) for c in able]
        assert found == pytest.approx(sum(each) / len(each)) if each else found != found


def test_of_several_labels_per_row():
    generator = torch.Generator().manual_seed(0)
    scores, y = torch.randn(30, 2, 3, generator=generator), torch.rand(30, 2, 3, generator=generator) < 0.4
    y[:, 1, 2] = False  # a label that nobody has
    for s in range(2):
        able = [c for c in range(3) if y[:, s, c].any()]
        each = [roc_auc_score(y[:, s, c], scores[:, s, c]) for c in able]
        assert float(METRICS["label_auc"].of(scores, y, None)[s]) == pytest.approx(sum(each) / len(each))
        right = ((scores[:, s] > 0) == y[:, s]).float().mean()
        assert float(METRICS["label_accuracy"].of(scores, y, None)[s]) == pytest.approx(float(right))


@pytest.mark.parametrize("C", [2, 3, 6])
def test_auc_of_probabilities(C):
    scores, y = torch.randn(50, 2, C), (torch.arange(50).unsqueeze(1) + torch.arange(2)) % C
    if C == 2:
        y = y ^ (torch.arange(50) % 3 == 0).long().unsqueeze(1)
    for s, found in enumerate(auc(scores, y).tolist()):
        p = scores[:, s].double().softmax(1)
        assert found == pytest.approx(roc_auc_score(y[:, s], p[:, 1] if C == 2 else p, multi_class="ovr"))


@given(measured(), st.booleans())
@settings(max_examples=60)
def test_of_numbers(case, constant):
    scores, _, kept = case
    y = torch.randint(0, 3, scores.shape).float() if not constant else scores[:1].expand_as(scores).clone()
    for found, ours, theirs in by_trial(mae, scores, y, kept):
        assert found == pytest.approx(mean_absolute_error(theirs, ours), abs=1e-6)
    for found, ours, theirs in by_trial(r2, scores, y, kept):
        if len(theirs) > 1:
            assert found == pytest.approx(r2_score(theirs, ours), abs=1e-6)


def test_auc_of_scores_that_a_softmax_would_make_equal():
    scores = torch.tensor([[0.0, 100.0], [0.0, 200.0], [0.0, 150.0]]).unsqueeze(1)
    assert auc(scores, torch.tensor([[0], [1], [1]])).tolist() == [1]
    assert auc(scores * torch.nan, torch.tensor([[0], [1], [1]])).isnan().all()


def test_names():
    assert checked_metric(None, CLASSES) == "accuracy"
    assert checked_metric(None, NUMBERS) == "mae"
    assert [name for name, metric in METRICS.items() if metric.sign < 0] == ["mae"]
    with pytest.raises(
        ValueError, match="metric must be one of mae, r2 where y holds floating-point numbers, got 'auc'"
    ):
        checked_metric("auc", NUMBERS)
