"""What every family of paths offers, and the row sums D_n."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from panconv.base.checks import kind_of
from panconv.compute.series import Steps
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

    def held(self) -> Tensor: ...

    def log(self) -> Tensor: ...

    def over(self, reference: Tensor) -> Tensor: ...

    def over_frexp(self, reference: Tensor) -> tuple[Tensor, Tensor]: ...


class Terms(Protocol):
    """The linear maps G(0), G(1) … G(L), or one for every level of length, applied."""

    @property
    def adj(self) -> Adjacency: ...

    @property
    def num_nodes(self) -> int: ...

    @property
    def steps(self) -> Steps | None:
        """The matrices that make each term of the one before, where it is a recurrence."""

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


class PathFamily:
    """Which paths are counted on a graph, and what goes with them. A family of your own is a subclass."""

    adj: Adjacency
    L: int

    methods: ClassVar[tuple[int, ...] | None] = None  # that have a meaning for it; None for all
    natural_weights: ClassVar[str | None] = None  # the kind taken where none are named; None for the method's own
    counts_steps: ClassVar[bool] = True  # whether a length is a number of steps, 0 … L on any graph
    # Whether on an undirected graph each node is reached by paths of every length, or by that of length 0 alone.
    has_every_length: ClassVar[bool] = False

    def on(self, base: str) -> PathFamily:
        """The same family on another base of its graph."""
        raise NotImplementedError

    def summands(self, weights: PathWeights) -> tuple[CountedTerms, Weighing]:
        """What is summed, and with what weights: asked for anew whenever the operator is applied."""
        raise NotImplementedError

    @staticmethod
    def check_weights(weights: PathWeights) -> None:
        """Refuses weights that the family cannot take."""

    def mean_length(self, weights: PathWeights, share: Tensor) -> Tensor:
        """⟨n⟩ᵢ, float64, where p(n; i) is `share`, (L+1, N[, S])."""
        n = torch.arange(share.size(0), dtype=share.dtype, device=share.device)
        return torch.tensordot(n, share, dims=1)

    def mean_energy(self, weights: PathWeights, share: Tensor) -> Tensor:
        """⟨E⟩ᵢ/T, float64."""
        energy = -weights.log().double().unsqueeze(1)
        # A length with w = 0 is never taken: 0 · ∞ is 0 here.
        return (share * energy.masked_fill(energy == torch.inf, 0)).sum(0)

    def mean_log_product(self, share: Tensor) -> Tensor | float:
        """⟨log v⟩ᵢ, float64, where v is the product of a path's edge weights."""
        raise NotImplementedError


def checked_paths(paths: Any) -> PathFamily:
    """The family of paths itself, if it is one."""
    if not isinstance(paths, PathFamily):
        raise TypeError(f"paths must be a family of paths, got {kind_of(paths)}: write MET(Walks(adj, L=2), …)")
    return paths


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

    def held_by(self, dtype: torch.dtype) -> bool:
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

    def frexp(self) -> Counts:
        """The same with mantissa and exponent, as terms that are scaled take it: powers of 2 round nothing."""
        if self.exponent is not None:
            return self
        exponent = torch.frexp(self.value.detach())[1].to(self.value.dtype) - 1  # that of B₀ = 1 is 0
        return self._replace(value=self.value * torch.exp2(-exponent), exponent=exponent)

    def join(self, others: Sequence[Counts]) -> Counts | None:
        """These counts with those of other graphs behind them; None where they are not of one kind."""
        every = [self, *others]
        if any(c.exponent is not None or c.ratio is not None or c.without_zeros != self.without_zeros for c in every):
            return None
        joined = counts_of(torch.cat([counts.value for counts in every], dim=1))
        return joined._replace(without_zeros=self.without_zeros)

    def part(self, nodes: slice | Tensor) -> Counts:
        """The counts of some nodes, which no path leaves."""
        value, exponent, ratio = (None if each is None else each[:, nodes] for each in self[:3])
        assert value is not None
        return self._replace(value=value, exponent=exponent, ratio=ratio)


def counts_of(B: Tensor, ratio: Tensor | None = None, span: float | None = None) -> Counts:
    """The counts from B (L + 1, N), float64, which holds them."""
    counts = Counts(B, None, ratio, span_of(B) if span is None else span)
    return counts if counts.held_by(torch.float64) else counts.frexp()


def span_of(B: Tensor) -> float:
    """How far the counts lie apart."""
    size = B.detach()
    if not size.numel():
        return 1.0
    widest = float(size.max() / size.where(size > 0, torch.inf).min().clamp(max=torch.finfo(size.dtype).max))
    return widest if math.isfinite(widest) else math.inf


def align(factor: Tensor, x: Tensor) -> Tensor:
    """A factor (N or 1[, S]) with dimensions of 1 behind it, to multiply x (N[, S], …)."""
    return factor.reshape(*factor.shape, *[1] * (x.dim() - factor.dim()))


def identity(N: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """G(0) = I as a sparse matrix."""
    nodes = torch.arange(N, device=device)
    ones = torch.ones(N, dtype=dtype, device=device)
    return torch.sparse_coo_tensor(torch.stack([nodes, nodes]), ones, (N, N), is_coalesced=True)
