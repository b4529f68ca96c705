import pytest
import torch

from panconv.estimator.losses import LOSSES
from panconv.estimator.together import gain_of_seeds

ROWS, SEEDS, C = 7, 5, 4


def drawn(size=2.0):
    return size * torch.randn(ROWS, SEEDS, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def lost(scores, targets, loss):
    """(rows,) of scores (rows, C)."""
    if loss == "squared":
        return (scores - targets).square().mean(1)
    return LOSSES[loss].value(scores.unsqueeze(1), targets.unsqueeze(1)).squeeze(1)


@pytest.mark.parametrize("loss", ["softmax", "logistic", "squared"])
@pytest.mark.parametrize("truth", range(C))
def test_it_is_the_mean_loss_of_the_seeds_less_that_of_their_mean_whatever_is_true(loss, truth):
    scores, targets = drawn(), torch.eye(C).double()[truth].expand(ROWS, -1)
    one_by_one = torch.stack([lost(scores[:, s], targets, loss) for s in range(SEEDS)]).mean(0)
    gain = gain_of_seeds(scores, loss)
    torch.testing.assert_close(gain, one_by_one - lost(scores.mean(1), targets, loss))
    assert bool((gain > 0).all())


def test_seeds_that_agree_gain_nothing():
    same = drawn()[:, :1].expand(-1, SEEDS, -1)
    for loss in ("softmax", "logistic", "squared"):
        torch.testing.assert_close(gain_of_seeds(same, loss), torch.zeros(ROWS).double(), atol=1e-12, rtol=0)


def test_scores_that_are_sure_stay_finite():
    assert bool(gain_of_seeds(drawn(1e4), "softmax").isfinite().all())
    assert bool(gain_of_seeds(drawn(1e4), "logistic").isfinite().all())


def test_squares_count_in_units_of_their_column():
    unit = torch.tensor([1.0, 4.0, 0.25, 2.0]).double()
    torch.testing.assert_close(gain_of_seeds(drawn(), "squared", unit), gain_of_seeds(drawn() / unit.sqrt(), "squared"))
