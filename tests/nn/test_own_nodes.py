"""Batch norm by a trial's own nodes: what it would be if there were no others."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from panconv.nn.norms import BatchNorm
from panconv.nn.own_nodes import Own, moments, normalised

N, S, F = 9, 3, 2


def started(norm):
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2)
        norm.bias.normal_()
    return norm.double()


def twins():
    """A norm of S trials, and one for each."""
    many = started(BatchNorm(F, S, momentum=0.3))
    apart = [BatchNorm(F, momentum=0.3).double() for _ in range(S)]
    for s, each in enumerate(apart):
        each.load_state_dict({name: state[s] for name, state in many.state_dict().items()})
    return many, apart


@given(st.lists(st.lists(st.booleans(), min_size=S, max_size=S), min_size=N, max_size=N), st.integers(0, 99))
def test_each_trial_as_if_its_nodes_were_all_there_are(own, seed):
    torch.manual_seed(seed)
    own, (many, apart) = torch.tensor(own), twins()
    for own_now in (own, own.double(), own):
        x = torch.randn(N, S, F, dtype=torch.float64, requires_grad=True)
        g = torch.randn(N, S, F, dtype=torch.float64) * own.unsqueeze(-1)  # as a loss gives it
        y = many(x, own_now)
        found = torch.autograd.grad(y, (x, many.weight, many.bias), g)
        for s, each in enumerate(apart):
            rows = own[:, s]
            each.train(int(rows.sum()) > 1)  # fewer have no variance: the running ones stand in, and stay
            expected = each(x[rows, s])
            torch.testing.assert_close(y[rows, s], expected)
            theirs = torch.autograd.grad(expected, (x, each.weight, each.bias), g[rows, s])
            torch.testing.assert_close(found[0][:, s], theirs[0][:, s])
            for ours, their in zip(found[1:], theirs[1:], strict=True):
                torch.testing.assert_close(ours[s], their)
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(many, name), torch.stack([getattr(each, name) for each in apart]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("large", [1e20, -1e30, math.inf, -math.inf, math.nan])
def test_what_stands_at_nodes_of_others_is_of_no_account(large, dtype):
    """Neither in what comes out at a trial's own nodes, nor in gradients, nor in what a norm remembers of them."""
    torch.manual_seed(0)
    own, x, found = torch.rand(N, S) < 0.7, torch.randn(N, S, F).to(dtype), []
    own[:, 2] = False
    own[0, 2] = True  # too few for a variance
    g = torch.randn(N, S, F).to(dtype) * own.unsqueeze(-1)
    for value in (0, large):
        norm = BatchNorm(F, S).to(dtype)
        at_hand = x.where(own.unsqueeze(-1), torch.tensor(value, dtype=dtype)).requires_grad_()
        y = norm(at_hand, own)
        y.backward(g)
        remembered = norm.running_mean, norm.running_var
        found.append((y[own], at_hand.grad, norm.weight.grad, norm.bias.grad, *remembered))
    for without, beside in zip(*found, strict=True):
        assert without.isfinite().all()
        assert torch.equal(without, beside)


def test_what_is_not_finite_at_an_own_node_shows():
    for value in (math.inf, math.nan):
        norm, x = BatchNorm(F), torch.randn(N, F)
        x[0, 0] = value
        y = norm(x.requires_grad_(), torch.ones(N))
        y.sum().backward()
        for each in (y[1:], x.grad, norm.running_mean, norm.running_var, norm.weight.grad):
            assert each[..., 0].isnan().all() or each[..., 0].isinf().all()
            assert each[..., 1].isfinite().all()


def test_nodes_counted_in_another_dtype_than_the_features():
    own, (norm, _) = torch.rand(N, S) < 0.7, twins()
    x = torch.randn(N, S, F, dtype=torch.float64, requires_grad=True)
    found = []
    for counted in (own, Own.of(own, torch.float32)):
        y = norm(x, counted)
        found.append((y, *torch.autograd.grad(y.pow(3).sum(), x)))
    for exact, narrow in zip(*found, strict=True):
        torch.testing.assert_close(narrow, exact, rtol=1e-5, atol=1e-5)


def test_gradients_of_all_nodes():
    own, x = torch.rand(N, S) < 0.7, torch.randn(N, S, F, dtype=torch.float64, requires_grad=True)
    own[:, 1] = False
    scale, shift = (torch.randn(S, F, dtype=torch.float64, requires_grad=True) for _ in range(2))
    held = torch.zeros(S, F).double(), torch.ones(S, F).double()

    def function(x, scale, shift):
        counted = Own.of(own, x.dtype)
        return normalised(x, counted, moments(x, counted, *held), scale, shift, 1e-5)

    assert torch.autograd.gradcheck(function, (x, scale, shift))


def test_in_blocks_as_at_once(monkeypatch):
    (many, _), x = twins(), torch.randn(100, S, F, dtype=torch.float64, requires_grad=True)
    own = torch.rand(100, S) < 0.7
    found = []
    for block in (2**16, 70):
        monkeypatch.setattr("panconv.nn.own_nodes._BLOCK", block)
        y = many(x, own)
        found.append((y, *torch.autograd.grad(y.pow(3).sum(), (x, many.weight))))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_all_nodes_are_a_trials_own():
    x = torch.randn(N, S, F, dtype=torch.float64)
    (many, _), (plain, _) = twins(), twins()
    plain.load_state_dict(many.state_dict())
    for own in (torch.ones(N), torch.ones(N, S)):
        torch.testing.assert_close(many(x, own), plain(x))
    torch.testing.assert_close(many.running_var, plain.running_var)
    one, alone = started(BatchNorm(F)), torch.ones(N)
    torch.testing.assert_close(one(x[:, 0], alone), one(x[:, 0]))


def test_evaluated_it_looks_at_no_node():
    x, norm = torch.randn(N, S, F), BatchNorm(F, S).eval()
    assert torch.equal(norm(x, torch.zeros(N, S)), norm(x))


@pytest.mark.parametrize("nodes", [0, 1])
def test_no_node_and_one_node(nodes):
    norm = BatchNorm(F, S)
    y = norm(torch.ones(nodes, S, F, requires_grad=True), torch.ones(nodes, S))
    y.sum().backward()
    assert y.isfinite().all()
    assert norm.running_var.eq(1).all()


def test_half_precision_is_added_in_float32():
    norm, x = BatchNorm(F, S).bfloat16(), torch.randn(500, S, F).bfloat16().requires_grad_()
    own = torch.rand(500, S) < 0.5
    y = norm(x, own)
    y.square().sum().backward()
    assert y.dtype == x.grad.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), BatchNorm(F, S)(x.detach().float(), own), rtol=3e-2, atol=3e-2)
