import pytest
import torch

from panconv.base import random
from panconv.compute import features
from panconv.compute.features import SparseRows
from panconv.testing import close


@pytest.fixture
def x():
    return (torch.rand(6, 5, dtype=torch.float64) * (torch.rand(6, 5) < 0.4)).double()


def test_product_with_one_matrix_and_with_a_matrix_per_trial(x):
    for form in (x.to_sparse(), x.to_sparse_csr(), x.to_sparse_csc(), SparseRows.of(x.to_sparse())):
        rows = SparseRows.of(form)
        assert rows.shape == (6, 5)
        W = torch.randn(5, 3, dtype=torch.float64)
        close(rows @ W, x @ W)
        stacked = torch.randn(4, 5, 3, dtype=torch.float64)
        close(rows @ stacked, torch.einsum("nf,sfo->nso", x, stacked))


def test_product_with_values_per_trial(x):
    rows = SparseRows.of(x.to_sparse())
    values = torch.randn(4, rows.value.numel(), dtype=torch.float64)
    W = torch.randn(4, 5, 3, dtype=torch.float64)
    alone = [rows.with_values(value) @ w for value, w in zip(values, W, strict=True)]
    close(rows.with_values(values) @ W, torch.stack(alone, dim=1))


def test_gradients(x):
    rows = SparseRows.of(x.to_sparse())
    W = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True)
    value = torch.randn(4, rows.value.numel(), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda W: rows @ W, W)
    assert torch.autograd.gradcheck(lambda value, W: rows.with_values(value) @ W, (value, W))


def test_moves_and_takes_the_dtype_of_the_matrix(x):
    rows = SparseRows.of(x.float().to_sparse())
    assert (rows.to("cpu") @ torch.ones(5, 2, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize("trials", [None, 3])
def test_float64_stays_float64(x, trials):
    rows, S = SparseRows.of((x + 1e-12).to_sparse()), () if trials is None else (trials,)
    W = torch.randn(*S, 5, 2, requires_grad=True)
    keys = random.keys(torch.arange(trials) if trials else torch.tensor(3), 1)
    for one in (rows, rows.drop(keys, 0.0), rows.with_values(rows.value.expand(*S, -1))):
        y = one @ W
        expected = (x + 1e-12) @ W.double()
        assert y.dtype == torch.float64
        torch.testing.assert_close(y if trials is None else y.transpose(0, 1), expected, rtol=1e-15, atol=1e-15)
        assert torch.autograd.grad(y.sum(), W)[0].dtype == W.dtype


@pytest.mark.parametrize("block", [1, 40, 2**20])  # a trial, some, all at a time
@pytest.mark.parametrize("trials", [None, 7])
def test_dropped_values_are_used_as_they_are_found(x, block, trials, monkeypatch):
    monkeypatch.setitem(features._BLOCK, "cpu", block)
    rows, p = SparseRows.of(x.to_sparse()), 0.4
    keys = random.keys(torch.arange(trials) if trials else torch.tensor(3), 1)
    dropped = rows.drop(keys, p)
    S = () if trials is None else (trials,)
    assert dropped.value.shape == (*S, rows.value.numel())
    index = x.nonzero().T
    dense = torch.zeros(*S, 6, 5, dtype=torch.float64)
    dense[..., index[0], index[1]] = dropped.value
    W = torch.randn(*S, 5, 3, dtype=torch.float64, requires_grad=True)
    expected = (dense @ W).movedim(0, -2) if trials else dense @ W
    close(dropped @ W, expected)
    g = torch.randn_like(expected)
    close(*(torch.autograd.grad(y, W, g)[0] for y in (dropped @ W, expected)))
    assert torch.autograd.gradgradcheck(lambda W: dropped @ W, W)
    close(torch.func.jvp(lambda W: dropped @ W, (W,), (W,))[1], expected)
    again = rows.with_values(dropped.value).drop(keys, p)  # the same mask once more
    close(again.value, dropped.value / (1 - p))
    close(dropped.drop(keys, p).to("cpu").value, dropped.value / (1 - p))


def test_a_gradient_in_the_values_goes_through_dropout(x):
    rows, keys = SparseRows.of(x.to_sparse()), random.keys(torch.arange(3), 1)
    value, W = rows.value.clone().requires_grad_(), torch.randn(3, 5, 2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda value: rows.with_values(value).drop(keys, 0.5) @ W, value)


def test_the_transposed_values_are_made_once(x, monkeypatch):
    rows, made = SparseRows.of(x.float().to_sparse()), []
    operands = features.Pattern.operands
    monkeypatch.setattr(features.Pattern, "operands", lambda *a: made.append(1) or operands(*a))
    W = torch.randn(4, 5, 3, requires_grad=True)
    with torch.inference_mode():
        assert (rows @ W).shape == (6, 4, 3)
    (rows @ W).sum().backward()  # what inference made serves training
    keys = random.keys(torch.arange(4), 1)
    (rows.drop(keys, 0.5) @ W).sum().backward()
    assert len(made) == 1
    rows @ W.double()
    assert len(made) == 2


def test_values_changed_in_place_are_other_values():
    rows = SparseRows.of(torch.eye(3).to_sparse_csr())
    W = torch.randn(3, 2, requires_grad=True)
    (rows @ W).sum().backward()
    first, W.grad = W.grad.clone(), None
    rows.value.mul_(2)
    y = rows @ W
    y.sum().backward()
    torch.testing.assert_close(y, 2 * W)
    torch.testing.assert_close(W.grad, 2 * first)


@pytest.mark.parametrize("block", [1, 2**20])
def test_probabilities_by_trial_drop_what_each_drops_alone(x, block, monkeypatch):
    monkeypatch.setitem(features._BLOCK, "cpu", block)
    rows, keys, p = (
        SparseRows.of(x.to_sparse()),
        random.keys(torch.arange(3), 1),
        torch.tensor([0.0, 0.3, 0.8]).double(),
    )
    dropped, W = rows.drop(keys, p), torch.randn(3, 5, 2, dtype=torch.float64, requires_grad=True)
    y = dropped.to("cpu") @ W
    g = torch.randn_like(y)
    (grad,) = torch.autograd.grad(y, W, g)
    (many,) = torch.autograd.grad(dropped @ W, W, torch.stack([g, 2 * g]), is_grads_batched=True)
    for s in range(3):
        alone = rows.drop(keys[s], float(p[s]))
        assert torch.equal(dropped.value[s], alone.value)
        mine = W.detach()[s].requires_grad_()
        close(y[:, s], alone @ mine)
        close(grad[s], torch.autograd.grad(alone @ mine, mine, g[:, s])[0])
        close(many[1, s], 2 * grad[s])
    assert torch.equal(dropped.value[0], rows.value)
    drawn = rows.drop(None, p).value  # by torch's generator
    assert torch.equal(drawn[0], rows.value)
    assert torch.equal(
        rows.drop(keys[0], p).value, torch.stack([rows.drop(keys[0], each).value for each in p.tolist()])
    )


@pytest.mark.parametrize("shape", [(6, 1), (6, 3, 1)])
def test_rows_times_numbers(x, shape):
    rows, factor = SparseRows.of(x.to_sparse()), torch.randn(shape, dtype=torch.float64)
    scaled, keys = rows.times(factor), random.keys(torch.arange(3), 1)
    dense = x * factor if len(shape) == 2 else (x.unsqueeze(1) * factor).transpose(0, 1)  # (S, N, F)
    for W in (torch.randn(5, 2, dtype=torch.float64), torch.randn(3, 5, 2, dtype=torch.float64)):
        expected = dense @ W
        close(scaled @ W, expected.transpose(0, 1) if expected.dim() == 3 else expected)
    index = x.nonzero().T
    close(scaled.value, dense[..., index[0], index[1]])
    assert scaled.dtype == torch.float64
    W = torch.randn(3, 5, 2, dtype=torch.float64)
    close(
        scaled.to("cpu").drop(keys, 0.5) @ W,
        (rows.drop(keys, 0.5) @ W) * (factor[:, None] if len(shape) == 2 else factor),
    )
    if len(shape) == 2:
        close(scaled.operands(torch.float64)[0].value, scaled.value)


def test_a_module_that_begins_with_a_linear_map_takes_them(x):
    rows, layer = SparseRows.of(x.to_sparse()), torch.nn.Linear(5, 3).double()
    close(layer(rows), layer(x))
    close(torch.matmul(rows, layer.weight.T), x @ layer.weight.T)
    close(torch.matmul(rows, other=layer.weight.T), x @ layer.weight.T)
    close(torch.nn.functional.linear(input=rows, weight=layer.weight), x @ layer.weight.T)
    assert (rows.dim(), rows.size(0), rows.size(-1), tuple(rows.size())) == (2, 6, 5, (6, 5))
    with pytest.raises(TypeError):
        torch.nn.functional.relu(rows)
    with pytest.raises(TypeError):
        torch.matmul(layer.weight, rows)


def test_a_linear_map_by_trial_drops_what_each_would_alone(x):
    rows, W = SparseRows.of(x.to_sparse()), torch.randn(4, 3, 5, dtype=torch.float64)
    keys = random.keys(torch.arange(4), 0, 1)
    together = torch.func.vmap(lambda key, w: torch.nn.functional.linear(rows.drop(key, 0.5), w))(keys, W)
    alone = [rows.drop(key, 0.5).to_dense() @ w.T for key, w in zip(keys, W, strict=True)]
    close(together, torch.stack(alone))
    assert not torch.equal(together[0], x @ W[0].T)
