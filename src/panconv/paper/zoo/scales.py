"""The layer of LanczosNet: each scale has a matrix of its own, short ones as powers, long ones in a Krylov space.

X' = Σₛ Mˢ·X·Wₛ + Σₚ Q·Gₚ·Qᵀ·X·Wₚ, which is the concatenation of all scales through one W; Gₚ (K, K) stands for a power
of M far beyond what products reach. Liao, Zhao, Urtasun & Zemel, LanczosNet, ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR


class Scales(nn.Module):
    """One layer.

    Args:
        inputs, outputs: features of a node before and after.
        M: the symmetric operator of the short scales.
        short: its powers, of at least 1.
        long: how many long scales there are.
    """

    def __init__(self, inputs: int, outputs: int, M: CSR, short: Sequence[int], long: int) -> None:
        super().__init__()
        self.M, self.short = M, tuple(short)
        scales = len(self.short) + long
        self.weight = nn.Parameter(torch.empty(scales, inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        bound = (6 / (scales * inputs + outputs)) ** 0.5  # Glorot's, of the one W
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor, Q: Tensor, G: Tensor) -> Tensor:
        """x (N, F) → (N, O), with the basis Q (N, K) and a matrix per long scale, G (E, K, K)."""
        scales, _, outputs = self.weight.shape
        parts = (x @ self.weight.transpose(0, 1).flatten(1)).unflatten(1, (scales, outputs)).unbind(1)
        far = torch.stack(parts[len(self.short) :])  # (E, N, O)
        out = Q @ (G @ (Q.T @ far)).sum(0) + self.bias
        return out + self._near(dict(zip(self.short, parts, strict=False)))

    def _near(self, parts: dict[int, Tensor]) -> Tensor:
        """Σₛ Mˢ Yₛ by Horner's scheme."""
        total = torch.zeros_like(parts[self.short[0]])
        for s in range(max(self.short), 0, -1):
            total = spmm(self.M, self.M, total + parts[s] if s in parts else total)
        return total
