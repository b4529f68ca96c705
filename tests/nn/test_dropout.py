import pytest
import torch

from panconv.base import random
from panconv.compute.features import SparseRows
from panconv.nn import Dropout
from panconv.testing import close


def keyed(p, seeds, epoch=1):
    dropout = Dropout(p)
    dropout.keys = random.keys(torch.tensor(seeds), 0, epoch)
    return dropout


@pytest.mark.parametrize("keys", [False, True])
def test_drops_the_share_it_says_and_keeps_the_mean(keys):
    dropout = keyed(0.3, 5) if keys else Dropout(0.3)
    y = dropout(torch.ones(300, 100))
    assert (y == 0).float().mean() == pytest.approx(0.3, abs=0.02)
    assert y.mean() == pytest.approx(1, abs=0.03)
    assert y.unique().tolist() == pytest.approx([0, 1 / 0.7])


def test_each_trial_drops_what_it_would_alone():
    x = torch.randn(30, 20)
    together = keyed(0.5, [3, 8, 9])(x)
    assert together.shape == (30, 3, 20)
    close(together[:, 1], keyed(0.5, 8)(x))
    assert not torch.equal(together[:, 0] == 0, together[:, 1] == 0)
    own = torch.randn(30, 3, 20)
    close(keyed(0.5, [3, 8, 9])(own)[:, 2], keyed(0.5, 9)(own[:, 2]))
    assert not torch.equal(keyed(0.5, 8, epoch=2)(x), keyed(0.5, 8)(x))


def test_sparse_features_lose_stored_values_only():
    x = SparseRows.of((torch.rand(20, 30) < 0.2).float().to_sparse())
    together = keyed(0.5, [1, 2])(x)
    assert together.value.shape == (2, x.value.numel())
    close(together.value[1], keyed(0.5, 2)(x).value)
    assert 0 < (together.value == 0).float().mean() < 1
    assert Dropout(0.5)(x).value.shape == x.value.shape


def test_at_rest_it_does_nothing():
    x = torch.randn(3, 4)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0)(x) is x


@pytest.mark.parametrize("p", [-0.1, 1.0, 2])
def test_bad_probability(p):
    with pytest.raises(ValueError, match=f"dropout must be at least 0 and below 1, got {p}"):
        Dropout(p)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_trial_drops_with_its_own_probability(sparse):
    x, shares = torch.rand(40, 20), [0.0, 0.3, 0.8]
    x = SparseRows.of(x.to_sparse()) if sparse else x
    together = keyed(shares, [3, 8, 9])(x)
    for s, (share, seed) in enumerate(zip(shares, [3, 8, 9], strict=True)):
        alone = keyed(share, seed)(x)
        assert torch.equal(together.value[s], alone.value) if sparse else torch.equal(together[:, s], alone)
    if not sparse:
        own = torch.randn(40, 3, 20)
        assert torch.equal(keyed(shares, [3, 8, 9])(own)[:, 2], keyed(0.8, 9)(own[:, 2]))
        assert keyed(shares, [3, 8, 9]).eval()(x) is x


def test_own_probabilities_by_torchs_generator():
    y = Dropout([0.0, 0.3])(torch.ones(300, 100))
    assert y.shape == (300, 2, 100)
    assert torch.equal(y[:, 0], torch.ones(300, 100))
    assert (y[:, 1] == 0).float().mean() == pytest.approx(0.3, abs=0.02)
    assert y[:, 1].unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert Dropout([0.5]).p == 0.5
