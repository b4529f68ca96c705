import pytest
import torch

from panconv.features import SparseRows
from panconv.testing import close


@pytest.fixture
def x():
    return (torch.rand(6, 5, dtype=torch.float64) * (torch.rand(6, 5) < 0.4)).double()


def test_product_with_one_matrix_and_with_a_matrix_a_trial(x):
    for form in (x.to_sparse(), x.to_sparse_csr(), x.to_sparse_csc(), SparseRows.of(x.to_sparse())):
        rows = SparseRows.of(form)
        assert rows.shape == (6, 5)
        W = torch.randn(5, 3, dtype=torch.float64)
        close(rows @ W, x @ W)
        stacked = torch.randn(4, 5, 3, dtype=torch.float64)
        close(rows @ stacked, torch.einsum("nf,sfo->nso", x, stacked))


def test_product_with_values_a_trial(x):
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
