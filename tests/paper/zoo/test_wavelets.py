"""Wavelets: the heat kernel and its inverse, sparse."""

import torch
from rings import ring

from panconv.paper.zoo.symmetric import Symmetric, symmetric
from panconv.paper.zoo.wavelets import wavelets


def dense(psi):
    return psi @ torch.eye(psi.scale.size(0))


def exact(M, exponent):
    """exp(exponent · (I − M)) from all eigenvectors."""
    values, U = torch.linalg.eigh(Symmetric(M) @ torch.eye(M.crow.numel() - 1, dtype=torch.float64))
    return (U * torch.exp(exponent * (1 - values))) @ U.T


def test_wavelets_are_the_heat_kernel_and_its_inverse():
    M = symmetric(ring(30, 20), "D^−½AD^−½")
    psi, inverse = wavelets(M, 0.7, threshold=-torch.inf, rows=False)  # nothing left out
    assert torch.allclose(dense(psi), exact(M, -0.7).float(), atol=1e-6)
    assert torch.allclose(dense(inverse), exact(M, 0.7).float(), atol=1e-6)
    assert torch.allclose(dense(psi) @ dense(inverse), torch.eye(30), atol=1e-5)


def test_what_is_below_the_threshold_goes_and_rows_sum_to_one():
    M = symmetric(ring(40, 10), "D^−½AD^−½")
    for made, exponent in zip(wavelets(M, 1.0, 1e-3), (-1.0, 1.0), strict=True):
        expected = exact(M, exponent).float()
        expected[expected < 1e-3] = 0
        expected /= expected.sum(1, keepdim=True)
        assert torch.allclose(dense(made), expected, atol=1e-6)
        assert made.entries.col.numel() == int((expected > 0).sum()) < 40 * 40 / 2


def test_wavelets_do_not_depend_on_the_blocks(monkeypatch):
    M = symmetric(ring(23, 10), "D^−½AD^−½")
    whole = wavelets(M, 0.5, 1e-5)
    monkeypatch.setitem(wavelets.__globals__["_BLOCK"], "cpu", 4 * 23)
    for a, b in zip(whole, wavelets(M, 0.5, 1e-5), strict=True):
        assert torch.equal(dense(a), dense(b))
