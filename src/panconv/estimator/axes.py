"""Principal axes: features of some rows on coordinates in which a ridge is nearly diagonal, and the way back.

With fewer rows than features the axes come from the Gram matrix ZZᵀ = U S² Uᵀ (n, n), and Z·V = U·S with V = ZᵀU/S:
nothing of the size of F × F is formed, and the minimum is the same, since a ridge never leaves the span of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_LEAST = 1e-12  # of the largest eigenvalue of ZZᵀ in float64: below it is rounding


class Axes(NamedTuple):
    """The rows on their principal axes."""

    Q: Tensor  # (n, r): Z·V
    squares: Tensor  # (r,): Σᵢ q_ij², where all rows weigh as they were given
    V: Tensor | None  # (p, r); None where it is Zᵀ·U/S
    over: Tensor | None  # (n, r): U/S, of which V = Zᵀ·over

    @staticmethod
    def of(Z: Tensor, weight: Tensor) -> Axes:
        """Of rows Z (n, p), float32 or float64, and weights (n,)."""
        n, p = Z.shape
        root = weight.to(Z.dtype).sqrt().unsqueeze(1)
        if p <= n:
            squares, V = torch.linalg.eigh((root * Z).T @ (root * Z))
            return Axes(Z @ V, squares.clamp_min(0), V, None)
        wide = Z.double()
        squares, U = torch.linalg.eigh(wide @ wide.T)
        kept = squares > _LEAST * squares[-1:].clamp_min(1e-300)
        size, U = squares[kept].sqrt(), U[:, kept]
        return Axes(U * size, squares[kept], None, U / size)

    def back(self, Z: Tensor, W: Tensor) -> Tensor:
        """Coefficients (p, …) of the features from those of the axes (r, …), float64."""
        if self.V is not None:
            return self.V.to(W.dtype) @ W
        assert self.over is not None
        return Z.to(W.dtype).T @ (self.over.to(W.dtype) @ W)
