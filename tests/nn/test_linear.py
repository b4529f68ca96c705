import copy

import pytest
import torch
from torch.nn.parameter import UninitializedParameter

from panconv.compute.features import SparseRows
from panconv.nn import Linear
from panconv.testing import close


def test_one_matrix_or_one_a_trial_dense_or_sparse():
    x = torch.randn(6, 5) * (torch.rand(6, 5) < 0.5)
    one, many = Linear(5, 3), Linear(5, 3, trials=4)
    close(one(x), x @ one.weight)
    torch.testing.assert_close(one(SparseRows.of(x.to_sparse())), one(x))
    expected = torch.stack([x @ W for W in many.weight], dim=1)
    torch.testing.assert_close(many(x), expected)
    torch.testing.assert_close(many(SparseRows.of(x.to_sparse())), expected)
    torch.testing.assert_close(many(x.unsqueeze(1).expand(6, 4, 5)), expected)


def test_glorot_start_of_each_trial():
    weight = Linear(40, 60, trials=50).weight
    bound = (6 / 100) ** 0.5
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.95 * bound


@pytest.mark.parametrize("trials", [None, 2])
def test_lazy_width(trials):
    lazy, known = Linear(-1, 3, trials), Linear(5, 3, trials)
    assert isinstance(lazy.weight, UninitializedParameter)
    fresh, loaded = copy.deepcopy(lazy), Linear(-1, 3, trials)
    x = torch.randn(6, 5)
    assert lazy(x).shape[-1] == 3
    assert lazy.in_channels == 5
    loaded.load_state_dict(known.state_dict())
    close(loaded(x), known(x))
    assert loaded.in_channels == 5
    fresh.reset_parameters()
    assert isinstance(fresh.weight, UninitializedParameter)


def test_checked_features():
    lin = Linear(5, 2)
    assert isinstance(lin.checked(torch.randn(3, 5).to_sparse()), SparseRows)
    with pytest.raises(TypeError, match="got list"):
        lin.checked([1.0])
    with pytest.raises(ValueError, match="a row per node"):
        lin.checked(torch.randn(5))
    with pytest.raises(ValueError, match="in_channels = 5 columns"):
        lin.checked(torch.randn(3, 4))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64, torch.complex64])
def test_features_of_another_dtype_are_refused_never_cast(sparse, dtype):
    x = torch.ones(3, 4, dtype=dtype)
    with pytest.raises(TypeError, match=rf"x .*{dtype}.*torch.float32"):
        Linear(4, 2).checked(x.to_sparse() if sparse else x)
