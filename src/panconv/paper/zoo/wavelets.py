"""Graph wavelets ψ = exp(−sL) and their inverse ψ⁻¹ = exp(sL), L = I − M, as sparse matrices.

exp(xM) = Σₖ cₖ Tₖ(M) with Chebyshev's polynomials and the Bessel functions cₖ = (2 − δₖ₀) Iₖ(x) (Hammond,
Vandergheynst & Gribonval, Wavelets on graphs via spectral graph theory, 2011), applied to blocks of unit vectors.
"""

from __future__ import annotations

import math

import torch
from scipy.special import iv
from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR, compress, narrow
from panconv.paper.zoo.symmetric import Symmetric

_BLOCK = {"cpu": 2**22, "cuda": 2**26}  # entries of a block of columns; about six such blocks are held at a time


class Wavelets(Symmetric):
    """diag(scale) · entries, where the entries are symmetric, so that their product is its own backward.

    Args:
        entries: of a matrix that equals its transpose.
        scale: (N, 1): 1/Σⱼ|ψᵢⱼ|, or ones.
        transposed: whether it stands for the transpose, entries · diag(scale).
    """

    is_symmetric = False  # rows may be scaled

    def __init__(self, entries: CSR, scale: Tensor, transposed: bool = False) -> None:
        super().__init__(entries)
        self.scale, self.transposed = scale, transposed

    @property
    def T(self) -> Wavelets:
        return Wavelets(self.entries, self.scale, not self.transposed)

    def __matmul__(self, x: Tensor) -> Tensor:  # (N, …)
        scale = self.scale.reshape(-1, *[1] * (x.dim() - 1))
        product = super().__matmul__(scale * x if self.transposed else x)
        return product if self.transposed else scale * product


def wavelets(M: CSR, s: float, threshold: float, order: int = 12, rows: bool = True) -> tuple[Wavelets, Wavelets]:
    """ψ and ψ⁻¹ of scale s, entries below the threshold left out, the rows then scaled to a sum of 1.

    As in the paper, "below" has no magnitude in it. ψ has positive entries alone; in ψ⁻¹ the negative ones, between
    nodes an odd number of steps apart, go. Left in, a constant filter would undo the graph altogether.

    Args:
        M: symmetric, float64, with its eigenvalues within −1 … 1.
        s: the scale, 0 for the identity.
        threshold: the smallest entry that is kept, above 0.
        order: of the polynomial.
        rows: whether rows are scaled.
    """
    N, device = M.crow.numel() - 1, M.value.device
    kept: tuple[list[tuple[Tensor, Tensor, Tensor]], ...] = ([], [])
    width = max(1, _BLOCK[device.type] // max(N, 1))
    signs = (s, -s)  # of M in the exponent of ψ and of ψ⁻¹
    for first in range(0, N, width):
        columns = torch.arange(first, min(first + width, N), device=device)
        found = _exponentials(M, columns, signs, order)
        for parts, block, x in zip(kept, found, signs, strict=True):
            block = block.mul_(math.exp(-x)).T.contiguous()  # by symmetry, the rows of these nodes
            row, col = (block >= threshold).nonzero(as_tuple=True)
            parts.append((row + first, narrow(col, N), block[row, col].float()))
    made = []
    for parts in kept:
        row, col, value = (torch.cat(part) for part in zip(*parts, strict=True))
        crow = narrow(compress(row, N), max(N, row.numel()))
        matrix = CSR(crow, col.to(crow.dtype), value)
        sums = matrix.row_sums()
        scale = 1 / sums.where(sums > 0, 1.0) if rows else torch.ones_like(sums)
        made.append(Wavelets(matrix, scale.unsqueeze(1)))
    return made[0], made[1]


def _exponentials(M: CSR, columns: Tensor, exponents: tuple[float, ...], order: int) -> list[Tensor]:
    """The columns of exp(xM) for each x, (N, B), from one recurrence of Tₖ(M)."""
    N = M.crow.numel() - 1
    before = M.value.new_zeros(N, columns.numel())
    before[columns, torch.arange(columns.numel(), device=columns.device)] = 1  # T₀
    sums = [float(iv(0, x)) * before for x in exponents]
    now = spmm(M, M, before)  # T₁
    for k in range(1, order + 1):
        for total, x in zip(sums, exponents, strict=True):
            total.add_(now, alpha=2 * float(iv(k, x)))
        if k < order:
            before, now = now, spmm(M, M, now).mul_(2).sub_(before)
    return sums
