"""The laws must be able to fail: each is shown an operator or a layer that breaks it."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import MET, PANConv, Walks
from panconv.testing import assert_equivariant, assert_gradients, assert_operator


def operator(method=2):
    return MET(Walks(TRIANGLE_AND_TAIL, 2), torch.rand(3, dtype=torch.float64), method)


class Broken(MET):
    """An operator whose product, transpose, dense form or word is not its own."""

    def __init__(self, fault):
        super().__init__(Walks(TRIANGLE_AND_TAIL, 2), [1.0, 0.5, 0.25], 1)
        self.fault = fault

    def __matmul__(self, x):
        y = self.apply(x)
        return {"affine": y + 1, "nonlinear": y + y.square(), "detached": y.detach() + 0 * x}.get(self.fault, y)

    @property
    def T(self):
        return self if self.fault == "transpose" else super().T

    @property
    def is_symmetric(self):
        return self.fault == "symmetric" or super().is_symmetric

    @property
    def components(self):
        return torch.arange(4) if self.fault == "components" else super().components

    def to_sparse(self, dtype=None):
        return super().to_sparse(dtype) * (2 if self.fault == "sparse" else 1)


def test_a_sound_operator_passes():
    assert_operator(operator())
    assert_operator(Broken(None))


@pytest.mark.parametrize("fault", ["affine", "nonlinear", "transpose", "sparse", "detached", "symmetric", "components"])
def test_a_broken_operator_is_caught(fault):
    with pytest.raises((AssertionError, RuntimeError)):
        assert_operator(Broken(fault))


def test_a_wrong_gradient_is_caught():
    p = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert_gradients(lambda: p.square(), p)
    with pytest.raises(RuntimeError):
        assert_gradients(lambda: p * p.detach(), p)


def test_a_layer_that_looks_at_the_numbering_is_caught():
    x = torch.randn(4, 5)
    assert_equivariant(PANConv(5, 2), x, TRIANGLE_AND_TAIL)
    conv = PANConv(5, 2)
    with pytest.raises(AssertionError):
        assert_equivariant(lambda x, *rest: conv(x, *rest) + torch.arange(4.0)[:, None], x, TRIANGLE_AND_TAIL)
