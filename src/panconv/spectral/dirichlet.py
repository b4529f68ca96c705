"""The Dirichlet energy of features: how much neighbours differ, which is what falls to 0 as layers smooth."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import checked_flag, checked_operand
from panconv.graph import Adjacency

_AT_ONCE = 2**22  # numbers of the edges that are looked at together


@torch.no_grad()
def dirichlet_energy(
    adj: Any,
    x: Tensor,  # H, (N, F) or (N, S, F)
    relative: bool = False,
) -> Tensor:
    """E(H) = ½ Σᵢⱼ Aᵢⱼ ‖hᵢ/√(1+dᵢ) − hⱼ/√(1+dⱼ)‖², where d are the degrees.

    It is taken edge by edge in float64: of features that are nearly smooth, nothing is lost in a difference of large
    numbers.

    Args:
        adj: a graph, or anything an `Adjacency` is made from.
        x: the features H.
        relative: whether to divide it by ‖H‖², which leaves out how large the features are; 0 where all features are 0.

    Shapes:
        x (N, F) → (); with trials (N, S, F) → (S,); float64.

    >>> round(float(dirichlet_energy(torch.tensor([[0, 1], [1, 0]]), torch.tensor([[1.0], [3.0]]))), 6)
    2.0
    """
    adj = Adjacency.of(adj, num_nodes=x.shape[0] if isinstance(x, Tensor) and x.dim() else None)
    x = checked_operand(x, adj.num_nodes, adj.device)
    if x.dim() < 2:
        raise ValueError(
            f"x must be (N, F) or (N, S, F), got shape {tuple(x.shape)}: of one feature take x.unsqueeze(1)"
        )
    value = torch.ones_like(adj.col) if adj.value is None else adj.value
    scale = (1 + adj.row_sums().double()).rsqrt().reshape(-1, *[1] * (x.dim() - 1))
    energy = torch.zeros(x.shape[1:-1], dtype=torch.float64, device=x.device)
    edges = max(1, _AT_ONCE // max(1, x[:1].numel()))
    for row, col, weight in zip(*(part.split(edges) for part in (adj.row, adj.col, value)), strict=True):
        apart = (x[row].double() * scale[row] - x[col].double() * scale[col]).square().sum(-1)  # (edges, …)
        energy += torch.tensordot(weight.double(), apart, 1) / 2
    if not checked_flag(relative, "relative"):
        return energy
    size = x.double().square().sum((0, -1))
    return energy / size.where(size > 0, 1)
