"""The paper's prototype of the high-temperature limit: the identity plus the leading eigenstate (Section 3)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.paths.family import align
from panconv.spectral.perron import perron
from panconv.spectral.undirected import OnUndirected


class HighTemperature(OnUndirected):
    """I + ψ₁ψ₁ᵀ, with ψ₁ the Perron vector of each connected component: identity plus rank one on every component.

    As the temperature rises, the longest paths outnumber all others, and Aⁿ = Σᵢ λᵢⁿ ψᵢψᵢᵀ (eq. 11) is left with the
    largest eigenvalue's term. Never dense: ψᵀx is a sum over each component, which every node of it gets back by its
    own share.

    Args:
        adj: an undirected graph with weights of at least 0, or anything an `Adjacency` is made from.

    >>> M = HighTemperature(torch.tensor([[0, 1], [1, 0]]))
    >>> M @ torch.tensor([1.0, 0.0])
    tensor([1.5000, 0.5000])
    """

    def __init__(self, adj: Any) -> None:
        super().__init__(Adjacency.of(adj))
        self.vector = perron(self.adj).vector  # (N,) float64

    def _product(self, x: Tensor) -> Tensor:
        """x + ψ(ψᵀx)."""
        psi = align(self.vector.to(x.dtype), x)
        overlap = torch.zeros_like(x).index_add(0, self.adj.components, psi * x)
        return x + psi * overlap[self.adj.components]

    def __repr__(self) -> str:
        return f"HighTemperature({self.adj})"
