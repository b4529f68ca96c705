"""All walks: G(n) = Aⁿ, each term from the one before, and nothing of the size of Aⁿ formed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import torch
from torch import Tensor

from panconv.base.checks import checked_length
from panconv.compute.series import Repeated, Steps
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paths.family import WIDEST, Counts, PathFamily, counts_of, identity, span_of
from panconv.weights import PathWeights


class Recurrence:
    """Terms of which each is a step's matrix times the one before: G(n) = Bₙ…B₂B₁."""

    adj: Adjacency
    L: int
    num_nodes: int

    @property
    def steps(self) -> Steps:
        """B₁ … B_L."""
        raise NotImplementedError

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """G(0)x, G(1)x … G(L)x for x (N, …)."""
        yield x
        for n in range(1, self.L + 1):
            x = spmm(*self.steps.step(n, x.dtype), x)
            yield x

    def term(self, n: int, x: Tensor) -> Tensor:
        """G(n)x alone, by n products."""
        return next(islice(self.terms(x), n, None))

    def adjoint(self, v: Sequence[Tensor | None]) -> Tensor:
        """Σₙ G(n)ᵀ vₙ by Horner's scheme, v₀ + B₁ᵀ(v₁ + B₂ᵀ(v₂ + …)); None stands for a vₙ of zeros."""
        total = v[-1]
        assert total is not None
        for n in range(len(v) - 1, 0, -1):
            b, b_t = self.steps.step(n, total.dtype)
            total = spmm(b_t, b, total)
            if (term := v[n - 1]) is not None:
                total = total + term
        return total

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        """G(0), G(1) … as sparse matrices: the only thing here whose size is that of Aⁿ."""
        product = identity(self.num_nodes, dtype, self.adj.device)
        yield product
        for n in range(1, self.L + 1):
            step = self.steps.matrix(n, dtype, False).to_coo(product.shape)
            product = torch.sparse.mm(step, product).coalesce()
            yield product


class Walks(Recurrence, PathFamily):
    """All walks up to length L: G(n) = Aⁿ (eq. 5).

    Args:
        adj: the graph, or anything an `Adjacency` is made from.
        L: the longest length, at least 0; hundreds are fine.

    >>> walks = Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2)
    >>> torch.stack(list(walks.terms(torch.ones(3))))
    tensor([[1., 1., 1.],
            [1., 2., 1.],
            [2., 2., 2.]])
    """

    has_every_length = True

    def __init__(self, adj: Adjacency, L: int) -> None:
        self.adj = Adjacency.of(adj)
        self.L = checked_length(L)
        self.num_nodes = self.adj.num_nodes

    def on(self, base: str) -> Walks:
        """The same walks on another base: A, A+I or Â."""
        return Walks(self.adj.base(base), self.L)

    def summands(self, weights: PathWeights) -> tuple[Walks, PathWeights]:
        """Nothing has to be built."""
        return self, weights

    @property
    def steps(self) -> Repeated:
        return Repeated(self.adj)

    def counts(self) -> Counts:
        """D_n = Aⁿ·1, kept with the graph."""
        return self.adj.cached(("walks", self.L), self._count)

    def scaled(self) -> ScaledWalks:
        return ScaledWalks(self, self.counts().frexp())

    def mean_along(self, share: Tensor, quantity: Tensor) -> Tensor:
        """The mean over all walks to i of a sum along their edges, (N,) or (N, S), float64.

        mₙ, the mean over the walks of n steps, obeys mₙ = Pₙ mₙ₋₁ + (Pₙ ∘ q)·1, with Pₙ = D_n⁻¹ A D_{n−1}.

        Args:
            share: the probability of each length at each node, (L+1, N) or (L+1, N, S).
            quantity: q of each stored edge, (nnz,) float64.
        """
        m = torch.zeros(self.num_nodes, dtype=torch.float64, device=self.adj.device)
        total, scaled, mantissa = torch.zeros_like(share[0]), self.scaled(), self.counts().frexp().value
        for n in range(1, self.L + 1):
            p, p_t = (scaled.matrix(n, torch.float64, transposed, mantissa) for transposed in (False, True))
            m = spmm(p, p_t, m) + torch.zeros_like(m).index_add(0, self.adj.row, p.value * quantity)
            total = total + share[n] * m.reshape(-1, *[1] * (total.dim() - 1))
        return total

    def mean_log_product(self, share: Tensor) -> Tensor:
        value = self.adj.operands(torch.float64)[0].value
        return self.mean_along(share, value.where(value > 0, 1.0).log())

    def _count(self) -> Counts:
        ones = torch.ones(self.num_nodes, dtype=torch.float64, device=self.adj.device)
        if self.adj.is_signed:
            return self._with_ratio(Walks(self.adj.absolute(), self.L).counts(), ones)
        D = torch.stack(list(self.terms(ones)))
        if not torch.compiler.is_compiling():
            span = span_of(D)
        else:  # no looking at values while tracing: bounds known from the graph decide
            growth, decay = math.log(max(self.adj.growth, 1.0)), math.log(min(max(self.adj.decay, 1e-300), 1.0))
            span = math.exp(min(self.L * (growth - decay), 700.0))
        if span <= WIDEST[torch.float64]:
            return counts_of(D, span=span)
        pairs = list(self._counts_frexp(ones))
        value, exponent = (torch.stack([pair[i] for pair in pairs]) for i in range(2))
        return Counts(value, exponent, None, math.inf)

    def _with_ratio(self, counts: Counts, ones: Tensor) -> Counts:
        """The counts of |A| with what the signs leave of them, D_n/B_n."""
        if counts.exponent is not None:
            terms = torch.stack(list(ScaledWalks(self, counts).terms(ones)))
        else:
            terms = torch.stack(list(self.terms(ones)))
        return counts._replace(ratio=terms / counts.value.where(counts.arrive, 1))

    def _counts_frexp(self, ones: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """D_n = Σⱼ Aᵢⱼ D_{n−1}(j) by mantissa and exponent, each row in units of its largest term.

        An edge of weight 0 sends nothing, but what it would send is its gradient. Where nothing else arrives, the unit
        is that of what would, were such edges to weigh 1.
        """
        (a, _), row = self.adj.operands(torch.float64), self.adj.row
        weight, size, weighs = *_frexp(a.value), a.value.detach() > 0
        value, exponent = ones, torch.zeros_like(ones)  # −∞ where nothing arrives, nor would
        yield value, exponent
        for _ in range(self.L):
            sent, nothing = exponent[a.col] + size, torch.full_like(ones, -torch.inf)
            arrives = weighs & (value.detach()[a.col] > 0)
            unit = nothing.scatter_reduce(0, row, sent.where(arrives, -torch.inf), "amax")
            unit = unit.where(unit > -torch.inf, nothing.scatter_reduce(0, row, sent, "amax"))
            shift = sent - unit.where(unit > -torch.inf, 0)[row]
            total = torch.zeros_like(ones).index_add(0, row, weight * _power(shift) * value[a.col])
            more = torch.frexp(total.detach())[1].double()
            value, exponent = total * torch.exp2(-more), unit + more
            yield value, exponent


class ScaledWalks(Recurrence):
    """Walks in units of 2^eₙ ≈ B_n: the terms are yₙ = 2^−eₙ Aⁿ x, by the step yₙ = (2^−eₙ A 2^eₙ₋₁) yₙ₋₁.

    The entries of a step's matrix sum to 1 or so along a row, signs aside (or to 0 where no walk arrives), so nothing
    grows with n; and powers of 2 round nothing.
    """

    unit = False
    varies = True  # a matrix per step

    def __init__(self, walks: Walks, counts: Counts) -> None:
        self.adj, self.L, self.num_nodes = walks.adj, walks.L, walks.num_nodes
        assert counts.exponent is not None
        # (L + 1, N) float64. 2^−∞ sends nothing; but what an edge of weight 0 would send on is part of its gradient.
        vanishing = walks.adj.is_tracked and not walks.adj.is_positive
        self._exponent = counts.exponent if vanishing else counts.exponent.where(counts.arrive, -torch.inf)

    @property
    def steps(self) -> ScaledWalks:
        return self

    def step(self, n: int, dtype: torch.dtype) -> tuple[CSR, CSR]:
        return self.matrix(n, dtype, False), self.matrix(n, dtype, True)

    def matrix(self, n: int, dtype: torch.dtype, transposed: bool, mantissa: Tensor | None = None) -> CSR:
        """2^−eₙ A 2^eₙ₋₁, or its transpose; with the mantissas of B_n it is stochastic, B_n⁻¹ A B_{n−1}."""
        both = self.adj.operands(torch.float64)
        a = both[int(transposed)]  # as torch.compile wants it
        row = self.adj.row if a is both[0] else a.row()
        receiver, sender = (a.col, row) if transposed else (row, a.col)
        now = self._exponent[n].masked_fill(self._exponent[n] == -torch.inf, 0)
        weight, size = _frexp(a.value)
        value = weight * _power(size + (self._exponent[n - 1][sender] - now[receiver]))
        if mantissa is not None:
            value = value * mantissa[n - 1][sender] / mantissa[n].where(mantissa[n] > 0, 1)[receiver]
        return a._replace(value=value.to(dtype))


def _frexp(value: Tensor) -> tuple[Tensor, Tensor]:
    """A mantissa and an exponent of 2 for each value."""
    size = torch.frexp(value.detach())[1].double()
    return value * torch.exp2(-size), size


def _power(exponent: Tensor) -> Tensor:
    """2^exponent, bounded: what is larger stands before a 0, and would make it NaN."""
    return torch.exp2(exponent.clamp(max=1000))
