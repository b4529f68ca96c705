"""The symmetric operator that the spectral methods of the zoo take functions of, its eigenvalues within −1 … 1."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base.checks import checked_dtype
from panconv.base.random import keys, uniform
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR, weak_components
from panconv.spectral import ritz

_STEPS = 50  # of Lanczos, after which the largest eigenvalue is known well


def symmetric(adj: Adjacency, base: str | None) -> CSR:
    """A base of the graph, such as Â, in float64; with None the graph's own weights, symmetrised and scaled.

    Weights that are an operator of their own may have any spectrum, which powers and Chebyshev polynomials do not
    bear: they are divided by their largest eigenvalue in magnitude.
    """
    adj = undirected(adj)
    if base is not None:
        return adj.base(base).operands(torch.float64)[0]
    a, _ = adj.operands(torch.float64)
    with torch.no_grad():
        random = start(adj.num_nodes, adj.device).double()
        largest = ritz(Symmetric(a), random, min(_STEPS, adj.num_nodes)).values.abs().max()
    return CSR(a.crow, a.col, a.value / largest.clamp(min=torch.finfo(torch.float64).tiny))


def undirected(adj: Adjacency) -> Adjacency:
    """The graph itself where it is symmetric, (A + Aᵀ)/2 of one that is not."""
    if adj.is_symmetric:
        return adj
    half, (row, col) = adj.operands(torch.float64)[0].value / 2, (adj.row.long(), adj.col.long())
    edges = torch.cat([torch.stack([col, row]), torch.stack([row, col])], dim=1)
    return Adjacency.from_edge_index(edges, half.repeat(2), adj.num_nodes)


def start(N: int, device: torch.device) -> Tensor:
    """Where Lanczos starts on N nodes, (N,): random, and the same for all trials."""
    return uniform(keys(torch.zeros((), dtype=torch.long, device=device)), (N,)) - 0.5


class Symmetric:
    """A matrix that equals its transpose, as an operator for Lanczos; gradients reach its values."""

    is_symmetric = True

    def __init__(self, entries: CSR) -> None:
        self.entries, N = entries, entries.crow.numel() - 1
        self.shape, self.device, self.dtype = (N, N), entries.value.device, entries.value.dtype

    def __matmul__(self, x: Tensor) -> Tensor:
        return spmm(self.entries, self.entries, x)

    @property
    def T(self) -> Symmetric:
        return self

    @property
    def components(self) -> Tensor:
        return weak_components(self.entries)

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        return (self @ torch.eye(self.shape[0], dtype=self.dtype, device=self.device)).to(checked_dtype(dtype))
