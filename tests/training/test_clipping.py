"""Gradients that are cut to a length, beside torch's own way for one model."""

import math

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from two_communities import small

from panconv import PAN, fit
from panconv.training.clipping import Clip

SETTINGS = {"epochs": 8, "patience": 8, "lr": 0.05}


def with_gradients(*shapes, scale=1.0):
    found = [nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in shapes]
    for i, p in enumerate(found):
        p.grad = scale * torch.randn(p.shape, generator=torch.Generator().manual_seed(i), dtype=torch.float64)
    return found


@pytest.mark.parametrize("longest", [0.5, (0.5, 3.0, math.inf), 100.0])
def test_each_trial_as_torch_cuts_a_model(longest):
    parameters, alone = with_gradients((3, 4, 2), (3, 5), (3,)), with_gradients((3, 4, 2), (3, 5), (3,))
    untouched = nn.Parameter(torch.zeros(3))  # has no gradient
    Clip(longest)([*parameters, untouched], by_trial=True)
    for s in range(3):
        limit = longest[s] if isinstance(longest, tuple) else longest
        own = [nn.Parameter(p.detach()[s]) for p in alone]
        for p, q in zip(own, alone, strict=True):
            p.grad = q.grad[s].clone()
        clip_grad_norm_(own, limit)
        for p, q in zip(own, parameters, strict=True):
            torch.testing.assert_close(q.grad[s], p.grad)


@pytest.mark.parametrize("by_trial", [False, True])
@pytest.mark.parametrize(("dtype", "size"), [(torch.float16, 300.0), (torch.float16, 1e-4), (torch.bfloat16, 1e20)])
def test_half_precision_is_summed_in_float32(dtype, size, by_trial):
    p = nn.Parameter(torch.zeros(1, 1000, dtype=dtype))
    p.grad = torch.full_like(p, size)
    Clip(1e-3)([p], by_trial)
    if size < 1e19:  # whose square float32 holds
        assert float(p.grad.float().norm()) == pytest.approx(1e-3, rel=0.2)
    assert bool(p.grad.isfinite().all())


def test_an_infinite_limit_is_none_even_where_the_length_overflows():
    p = nn.Parameter(torch.zeros(2, 3))
    p.grad = torch.full_like(p, 1e20)
    Clip((math.inf, 1.0))([p], by_trial=True)
    assert torch.equal(p.grad[0], torch.full((3,), 1e20))
    assert bool(p.grad[1].isfinite().all())


def test_a_model_without_trials_is_cut_as_a_whole():
    ours, theirs = with_gradients((4, 2), (5,)), with_gradients((4, 2), (5,))
    Clip(0.5)(ours, by_trial=False)
    clip_grad_norm_(theirs, 0.5)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    Clip(0.5)([nn.Parameter(torch.zeros(2))], by_trial=False)


def test_a_trial_among_others_is_the_trial_alone():
    data, limits = small(), [0.01, 0.1, math.inf]
    data.x = data.x.double()
    together = fit(PAN(6, 8, 2, trials=3).double(), data, seeds=[4, 5, 6], clip=limits, **SETTINGS)
    for s, limit in enumerate(limits):
        one = None if limit == math.inf else limit
        alone = fit(PAN(6, 8, 2).double(), data, seeds=[4 + s], clip=one, **SETTINGS)
        for name, values in alone.history.items():
            torch.testing.assert_close(values[:, 0], together.history[name][: len(values), s], rtol=1e-7, atol=1e-9)
    assert len({tuple(column.tolist()) for column in together.history["val_loss"].T}) == 3


def test_those_that_are_left_keep_their_own():
    assert Clip((0.1, 0.2, 0.3)).narrowed([2, 0]).longest == (0.3, 0.1)
    assert Clip(0.1).narrowed([2, 0]).longest == 0.1


@pytest.mark.parametrize("clip", [0, -1.0, "x", [1.0, 2.0, 3.0], float("nan")])
def test_what_is_wrong(clip):
    with pytest.raises(ValueError, match="clip must be"):
        fit(PAN(6, 8, 2, trials=2), small(), seeds=[0, 1], clip=clip)
