import pytest
import torch
import torch.nn.functional as F

from panconv.training.objective import Part, Sample, gathered, losses, measured, picked


def test_loss_and_metric_of_classes_by_trial():
    scores, y, nodes = torch.randn(10, 4, 3), torch.arange(10) % 3, torch.tensor([7, 2, 5])
    loss, accuracy = measured(picked(scores, Part.of(y, nodes)), "accuracy")
    for s in range(4):
        torch.testing.assert_close(loss[s], F.cross_entropy(scores[nodes, s], y[nodes]))
        assert accuracy[s] == (scores[nodes, s].argmax(1) == y[nodes]).float().mean()
    torch.testing.assert_close(losses(picked(scores[:, 0], Part.of(y, nodes))), loss[:1])


@pytest.mark.parametrize("C", [None, 2])
def test_rows_of_each_trial_with_weights(C):
    """A row of weight 0 counts for nothing; classes, or numbers where C is given."""
    scores = torch.randn(6, 2, C or 3)
    y = torch.arange(6) % 3 if C is None else torch.randn(6, C)
    rows, weight = torch.tensor([[0, 5], [3, 1], [0, 4]]), torch.tensor([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    found = losses(picked(scores, Part.of(y, rows, weight)))
    loss = F.cross_entropy if C is None else F.mse_loss
    for s, mine in enumerate(([0, 3], [5, 1, 4])):
        torch.testing.assert_close(found[s], loss(scores[mine, s], y[mine]))


def test_several_labels_per_row_with_weights():
    scores, y = torch.randn(6, 2, 4), torch.rand(6, 4) < 0.4
    rows, weight = torch.tensor([[0, 5], [3, 1], [2, 4]]), torch.tensor([[1.0, 2.0], [0.5, 1.0], [0.0, 3.0]])
    loss, right = measured(picked(scores, Part.of(y, rows, weight)), "label_accuracy")
    for s in range(2):
        mine, share = rows[:, s], weight[:, s] / weight[:, s].sum()
        each = F.binary_cross_entropy_with_logits(scores[mine, s], y[mine].float(), reduction="none").mean(1)
        torch.testing.assert_close(loss[s], share @ each)
        torch.testing.assert_close(right[s], share @ ((scores[mine, s] > 0) == y[mine]).float().mean(1))
    shared = picked(scores, Part.of(y, rows[:, 0], weight[:, :1]))
    torch.testing.assert_close(losses(shared)[0], loss[0])


def test_samples_one_behind_the_other():
    y = torch.arange(6) % 3
    tables = torch.randn(2, 6, 3)
    samples = [Sample((0,), Part.of(y, torch.tensor([1, 2]))), Sample((1,), Part.of(y), {"sign": -1})]
    found = gathered(lambda i, sign=1: sign * tables[i], samples)
    torch.testing.assert_close(found.scores[:, 0], torch.cat([tables[0, 1:3], -tables[1]]))
    assert found.y[:, 0].tolist() == [1, 2, 0, 1, 2, 0, 1, 2]


def test_rows_are_as_many_as_labels():
    with pytest.raises(ValueError, match="the model gives 5 rows of scores, but y has 6"):
        picked(torch.randn(5, 3), Part.of(torch.arange(6)))


@pytest.mark.parametrize("metric", ["accuracy", "mae"])
def test_a_row_without_weight_is_of_no_account_whatever_its_score(metric):
    scores = torch.randn(4, 1, 2, requires_grad=True)
    y = torch.tensor([0, 1, 0, 1]) if metric == "accuracy" else torch.rand(4, 2)
    weight = torch.tensor([[1.0], [1.0], [0.0], [1.0]])
    part = Part.of(y, weight=weight, filled=True)
    wild = torch.cat([scores[:2], torch.full((1, 1, 2), torch.inf) - scores[2:3], scores[3:]])
    for ours, expected in zip(
        measured(picked(wild, part), metric), measured(picked(scores, part), metric), strict=True
    ):
        torch.testing.assert_close(ours, expected)
    (slope,) = torch.autograd.grad(losses(picked(wild, part)).sum(), scores)
    assert slope.isfinite().all()
    assert not slope[2].any()
