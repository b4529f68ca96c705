"""Each trial's features times its own matrix, all at once and block by block of the nodes."""

import pytest
import torch

from panconv.nn.by_trial_product import blocks_of, in_blocks, plus_times, times


def operands(N, S=3, F=4, out=5):
    g = torch.Generator().manual_seed(N)
    x, W = (torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((N, S, F), (S, F, out)))
    return x.requires_grad_(), W.requires_grad_()


def by_hand(x, W):
    return torch.stack([x[:, s] @ W[s] for s in range(W.size(0))], 1)


@pytest.mark.parametrize(("N", "blocks"), [(12, 4), (13, 4), (1, 1), (5, 7), (0, 1)])
def test_block_by_block_with_gradients(N, blocks):
    x, W = operands(N)
    expected, total = by_hand(x, W), torch.ones(N, 3, 5, dtype=torch.float64)
    found = in_blocks(x, W, blocks)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(times(x, W), expected)
    torch.testing.assert_close(plus_times(total, x, W), total + expected)
    weights = torch.arange(found.numel(), dtype=torch.float64).reshape(found.shape)
    ours = torch.autograd.grad((found * weights).sum(), (x, W))
    theirs = torch.autograd.grad((expected * weights).sum(), (x, W))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("N", "S", "F", "out", "blocks"),
    [
        (10_000, 10, 64, 64, 26),
        (10_000, 1, 64, 64, 39),
        (100, 10, 64, 64, 1),
        (2000, 10, 256, 256, 2),
        (10**6, 300, 64, 64, 1),
    ],
)
def test_how_many_blocks(N, S, F, out, blocks):
    assert blocks_of(torch.empty(N, S, F, device="meta"), torch.empty(S, F, out, device="meta")) == blocks


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_as_by_hand():
    x, W = operands(3001, S=2)
    cx, cW = (each.detach().cuda().requires_grad_() for each in (x, W))
    assert blocks_of(cx, cW) > 1
    torch.testing.assert_close(times(cx, cW).cpu(), by_hand(x, W))
    ours = torch.autograd.grad(times(cx, cW).square().sum(), (cx, cW))
    theirs = torch.autograd.grad(by_hand(x, W).square().sum(), (x, W))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.cpu(), b)
