import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric import nn as pyg

from panconv.nn.norms import BatchNorm, LayerNorm

F = 4


def started(norm):
    """With a scale and a shift other than those of the start."""
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2)
        norm.bias.normal_()
    return norm


def alike(norm):
    """PyG's module with the same numbers."""
    if isinstance(norm, BatchNorm):
        theirs = pyg.BatchNorm(F, eps=norm.eps, momentum=norm.momentum)
        theirs.module.load_state_dict(norm.state_dict(), strict=False)
    else:
        theirs = pyg.LayerNorm(F, eps=norm.eps, mode=norm.mode)
        theirs.load_state_dict(norm.state_dict())
    return theirs


@pytest.mark.parametrize(
    "make",
    [
        BatchNorm,
        lambda F, S=None: BatchNorm(F, S, eps=1e-2, momentum=0.3),
        LayerNorm,
        lambda F, S=None: LayerNorm(F, S, eps=1e-2, mode="node"),
    ],
)
@pytest.mark.parametrize("N", [1, 2, 9])
def test_as_in_pyg_alone_and_trial_by_trial(make, N):
    one, many = started(make(F)), started(make(F, 3))
    if N == 1 and isinstance(one, BatchNorm):
        return
    apart = [make(F) for _ in range(3)]
    for s, each in enumerate(apart):
        each.load_state_dict({name: state[s] for name, state in many.state_dict().items()})
    theirs, theirs_apart = alike(one), [alike(each) for each in apart]
    for training in (True, True, False):
        for norm in (one, many, *apart, theirs, *theirs_apart):
            norm.train(training)
        x = torch.randn(N, F, requires_grad=True)
        torch.testing.assert_close(one(x), theirs(x))
        (g,) = torch.autograd.grad(one.eval()(x).square().sum(), x)
        (expected,) = torch.autograd.grad(theirs.eval()(x).square().sum(), x)
        torch.testing.assert_close(g, expected, rtol=1e-3, atol=1e-4)
        side_by_side = torch.randn(N, 3, F)
        y = many(side_by_side)
        for s, each in enumerate(theirs_apart):
            torch.testing.assert_close(y[:, s], each(side_by_side[:, s]))
    if isinstance(one, BatchNorm):
        assert many.running_mean.abs().sum() > 0
        for name in ("running_mean", "running_var"):
            torch.testing.assert_close(getattr(one, name), getattr(theirs.module, name))
            expected = torch.stack([getattr(each.module, name) for each in theirs_apart])
            torch.testing.assert_close(getattr(many, name), expected)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.sampled_from([None, 6]), st.integers(0, 99))
def test_graphs_of_a_batch_are_normalised_apart(graphs, count, seed):
    torch.manual_seed(seed)
    batch, norm = torch.tensor(graphs), started(LayerNorm(F, 2))
    x = torch.randn(len(batch), 2, F)
    y = norm(x, batch, count)
    for s in range(2):
        theirs = pyg.LayerNorm(F)
        theirs.load_state_dict({name: state[s] for name, state in norm.state_dict().items()})
        torch.testing.assert_close(y[:, s], theirs(x[:, s], batch), rtol=1e-4, atol=1e-5)


def test_a_new_start_is_the_first():
    norm = BatchNorm(F, 2)
    first = {name: state.clone() for name, state in norm.state_dict().items()}
    started(norm)(torch.randn(5, 2, F))
    assert all(not torch.equal(state, first[name]) for name, state in norm.state_dict().items())
    norm.reset_parameters()
    assert all(torch.equal(state, first[name]) for name, state in norm.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("make", [BatchNorm, LayerNorm])
def test_the_dtype_stays(make, dtype):
    norm, x = make(F, 2).to(dtype), torch.randn(6, 2, F, dtype=dtype)
    assert norm(x).dtype == dtype
    if make is LayerNorm:
        batch = torch.tensor([0, 0, 1, 1, 1, 2])
        assert norm(x, batch).dtype == dtype
        torch.testing.assert_close(norm(x, batch).float(), LayerNorm(F, 2)(x.float(), batch), rtol=2e-2, atol=2e-2)


@pytest.mark.filterwarnings("error")
def test_no_node_and_one_node():
    for norm in (BatchNorm(F), LayerNorm(F), LayerNorm(F, mode="node")):
        assert norm(torch.zeros(0, F)).shape == (0, F)
        assert norm.eval()(torch.ones(1, F)).isfinite().all()
    norm = BatchNorm(F)
    norm(torch.zeros(0, F))
    assert norm.running_var.tolist() == [1.0] * F
    with pytest.raises(ValueError, match="norm 'batch' needs more than one node while training"):
        norm(torch.zeros(1, F))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BatchNorm(0), "channels must be"),
        (lambda: BatchNorm(4, 0), "trials must be"),
        (lambda: BatchNorm(4, eps=0), "eps must be positive"),
        (lambda: BatchNorm(4, momentum=2), "momentum must be a number of 0 … 1, got 2"),
        (lambda: BatchNorm(4, momentum=None), "momentum must be a number of 0 … 1, got None"),
        (lambda: LayerNorm(4, mode="both"), "mode must be 'graph' or 'node', got 'both'"),
    ],
)
def test_bad_options(make, words):
    with pytest.raises(ValueError, match=words):
        make()
