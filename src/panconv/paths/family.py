"""What every family of paths offers, and the row sums D_n by their logarithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.weights import PathWeights

# Counts between these stay far enough inside float32 for the features and weights they are multiplied with.
LARGEST, SMALLEST = 1e30, 1e-30


class Weighing(Protocol):
    """The weights of some terms: `PathWeights`, or what a family makes of them."""

    @property
    def positive(self) -> bool: ...

    def __call__(self) -> Tensor: ...

    def log(self) -> Tensor: ...


class Terms(Protocol):
    """The linear maps G(0), G(1) … G(L), or one for every level of length, applied."""

    adj: Adjacency
    num_nodes: int

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """G(0)x, G(1)x … G(L)x for x (N, …)."""

    def term(self, n: int, x: Tensor) -> Tensor:
        """G(n)x alone."""

    def adjoint(self, v: Sequence[Tensor | None]) -> Tensor:
        """Σₙ G(n)ᵀ vₙ; None stands for a vₙ of zeros, and the last is never None."""

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        """G(0), G(1) … as sparse matrices."""


class CountedTerms(Terms, Protocol):
    """Terms that know their row sums."""

    def counts(self) -> Counts:
        """D_n = G(n)·1, kept with the graph."""

    def scaled(self) -> Terms:
        """The twin whose terms are D_n⁻¹G(n)x, for counts that leave the range of floating point."""


class PathFamily(Protocol):
    """Which paths are counted on a graph."""

    adj: Adjacency
    L: int

    def on(self, base: str) -> PathFamily:
        """The same family on another base of its graph."""

    def ready(self, weights: PathWeights) -> tuple[CountedTerms, Weighing]:
        """What is summed, and with what weights: asked for anew whenever the operator is applied."""


class Counts(NamedTuple):
    """The row sums D_n of G(n) by their logarithm: on Cora D₂₀₀ spans 10⁰ to 10²³²."""

    log: Tensor  # (L + 1, N) float64, log |D_n|; −∞ where no path arrives
    sign: Tensor | None  # (L + 1, N), or None where no D_n is negative
    fit: bool  # whether every D_n and its inverse is well inside float32


def counts_of(D: Tensor, signed: bool, fit: bool) -> Counts:
    """The counts from D (L + 1, N), float64, where float64 holds them."""
    zero = D == 0
    log = D.abs().masked_fill(zero, 1).log().masked_fill(zero, -torch.inf)
    return Counts(log, D.detach().sign() if signed else None, fit)


def within_range(D: Tensor) -> bool:
    """Whether every D_n and its inverse is well inside float32."""
    size = D.detach().abs()
    return bool(((size == 0) | ((size >= SMALLEST) & (size <= LARGEST))).all())


def identity(N: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """G(0) = I as a sparse matrix."""
    nodes = torch.arange(N, device=device)
    ones = torch.ones(N, dtype=dtype, device=device)
    return torch.sparse_coo_tensor(torch.stack([nodes, nodes]), ones, (N, N), is_coalesced=True)
