"""What every family of paths offers, and the row sums D_n."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.weights import PathWeights

# How far counts may lie apart for a dtype to hold them together with the features and weights they are multiplied with:
# single precision leaves features of 10^±20 and path weights that differ by 10¹⁷ unharmed.
WIDEST = {torch.float32: 1e8, torch.float64: 1e150}


class Weighing(Protocol):
    """The weights of some terms: `PathWeights`, or what a family makes of them."""

    @property
    def positive(self) -> bool: ...

    @property
    def may_overflow(self) -> bool: ...

    def exact(self) -> Tensor: ...

    def log(self) -> Tensor: ...

    def over(self, reference: Tensor) -> Tensor: ...

    def apart(self, reference: Tensor) -> tuple[Tensor, Tensor]: ...


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
        """The twin whose terms are 2^−exponent G(n)x, for counts that leave the range of floating point."""


class PathFamily(Protocol):
    """Which paths are counted on a graph."""

    adj: Adjacency
    L: int

    def on(self, base: str) -> PathFamily:
        """The same family on another base of its graph."""

    def ready(self, weights: PathWeights) -> tuple[CountedTerms, Weighing]:
        """What is summed, and with what weights: asked for anew whenever the operator is applied."""


class Counts(NamedTuple):
    """How many paths of each length arrive: B_n = |G|(n)·1, with every weight taken positive, and D_n = G(n)·1.

    Without negative edge weights the two are one. With them D_n may cancel to 0 while paths do arrive, so only B_n
    tells whether they do, and D_n/B_n how much of it is left.
    """

    value: Tensor  # (L + 1, N) float64: B_n, or its mantissa, 0 where no path arrives
    exponent: Tensor | None  # (L + 1, N) float64: B_n = value · 2^exponent where float64 does not hold B_n itself
    ratio: Tensor | None  # (L + 1, N) float64, D_n/B_n; None where it is 1
    span: float  # the largest B_n over the smallest above 0
    without_zeros: bool = False  # whether an edge of weight 0 is left out, as of paths that are formed: it is constant

    def fit(self, dtype: torch.dtype) -> bool:
        """Whether the plain recurrence can be taken in a dtype."""
        return self.span <= WIDEST[dtype]

    @property
    def arrive(self) -> Tensor:
        """Whether a path of length n arrives at i, (L + 1, N)."""
        return self.value > 0

    @property
    def log(self) -> Tensor:
        """log B_n, −∞ where no path arrives."""
        log = self.value.where(self.arrive, 1).log().where(self.arrive, -torch.inf)
        return log if self.exponent is None else log + math.log(2) * self.exponent

    def apart(self) -> Counts:
        """The same with mantissa and exponent, as terms that are scaled take it: powers of 2 round nothing."""
        if self.exponent is not None:
            return self
        exponent = torch.frexp(self.value.detach())[1].to(self.value.dtype) - 1  # that of B₀ = 1 is 0
        return self._replace(value=self.value * torch.exp2(-exponent), exponent=exponent)


def counts_of(B: Tensor, ratio: Tensor | None = None, span: float | None = None) -> Counts:
    """The counts from B (L + 1, N), float64, which holds them."""
    counts = Counts(B, None, ratio, span_of(B) if span is None else span)
    return counts if counts.fit(torch.float64) else counts.apart()


def span_of(B: Tensor) -> float:
    """How far the counts lie apart."""
    size = B.detach()
    if not size.numel():
        return 1.0
    widest = float(size.max() / size.where(size > 0, torch.inf).min().clamp(max=torch.finfo(size.dtype).max))
    return widest if math.isfinite(widest) else math.inf


def identity(N: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """G(0) = I as a sparse matrix."""
    nodes = torch.arange(N, device=device)
    ones = torch.ones(N, dtype=dtype, device=device)
    return torch.sparse_coo_tensor(torch.stack([nodes, nodes]), ones, (N, N), is_coalesced=True)
