"""A basis of eigenstates together with what undoes it, for filters in the basis of M."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_count, kind_of
from panconv.met import MET
from panconv.spectral.eigs import checked_number, leading

_SAME = 1e-8  # eigenvalues that differ by less are one eigenvalue


class Basis(NamedTuple):
    """Leading eigenstates: M ≈ right · diag(values) · left, and exactly so where all N are there."""

    values: Tensor  # (k,) float64, falling
    right: Tensor  # (N, k), the eigenvectors
    left: Tensor  # (k, N), left · right = I
    group: Tensor  # (k,), which values are equal: numbered from 0


def basis(M: MET, k: int) -> Basis:
    """The k leading eigenstates of M, or a few more: a group of equal eigenvalues is taken whole.

    Part of such a group would be the solver's choice and no property of the graph. Of methods 1, 7, 8, 10 and 11,
    with M = Z^−½ S Z^½ and S = ΦΛΦᵀ, the eigenvectors are Z^−½Φ, undone by ΦᵀZ^½.

    Args:
        M: a `MET` that is symmetric or similar to a symmetric operator; 3, 4 and directed graphs are refused.
        k: how many at least; N where it is larger than N.
    """
    if not isinstance(M, MET):
        raise TypeError(f"M must be a MET, such as MET(Walks(adj, L), method=2), got {kind_of(M)}")
    N = M.shape[0]
    S, log_Z = M.similar()
    root = torch.exp(0.5 * log_Z.double()).unsqueeze(1)  # Z^½
    if not N:
        return Basis(root.ravel(), root[:, :0], root[:, :0].T, log_Z.long())
    k = checked_number(M, min(checked_count(k, "k"), N))
    with torch.no_grad():
        ask = min(k + 1, N)
        while True:
            values, phi = leading(S, ask, symmetric=True)
            apart = values[:-1] - values[1:] > _SAME * values.abs().max()
            group = torch.cat([apart.new_zeros(1), apart]).cumsum(0)
            whole = int((group <= group[k - 1]).sum())
            if whole < ask or ask == N:
                phi = phi[:, :whole]
                return Basis(values[:whole], phi / root, (phi * root).T, group[:whole])
            ask = min(2 * ask, N)  # the last group may go on
