"""How an operator is applied: alone ⊙ x + outer ⊙ Σₙ leftₙ ⊙ Gₙ (rightₙ ⊙ x), by a family's recurrence."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import is_differentiating, may_look
from panconv.compute.series import Factors, Series, Steps
from panconv.compute.series_gradient import apply_series
from panconv.compute.spmm import spmm
from panconv.paths.family import WIDEST, Terms, align, span_of

_SIDE_BY_SIDE = 2**20  # values of several lengths of method 6 that go through a step at once: few enough for the caches


class Plan(NamedTuple):
    """alone ⊙ x + outer ⊙ Σₙ leftₙ ⊙ Gₙ (rightₙ ⊙ x), all factors in one dtype.

    At a node that nothing reaches `alone` is 1, even where w₀ and Z are both too small for floating point.
    """

    family: Terms
    factors: Factors
    right_varies: bool = False  # with n
    low_memory: bool = False

    @property
    def dtype(self) -> torch.dtype:
        return self.factors.left.dtype

    def between(self, roots: Tensor) -> Plan:
        """diag(roots) · M · diag(roots)⁻¹, in float64 where the roots, (N,) float64, lie too far apart for less."""
        wide = not may_look() or span_of(roots.unsqueeze(0)) > WIDEST[torch.float32]
        left, alone, outer, right = self.factors.to(torch.float64 if wide else self.dtype)
        root = align((roots / roots.amax()).to(left.dtype) if len(roots) else roots, left[0])
        if outer is None:
            left = left * root
        else:
            outer = outer * root
        return self._replace(factors=Factors(left, alone, outer, 1 / root if right is None else right / root))

    def apply(self, x: Tensor) -> Tensor:
        return self._as_one(x, transposed=False) if self._is_one_operation() else self._term_by_term(x)

    def adjoint(self, y: Tensor) -> Tensor:
        if self._is_one_operation() and not (self._is_by_node() and self._asks_for_gradients(y)):
            return self._as_one(y, transposed=True)
        return self._adjoint_term_by_term(y)

    def _asks_for_gradients(self, y: Tensor) -> bool:
        return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (y, *self.factors))

    # ------------------------------------------------------------------ all terms in one operation

    def _is_one_operation(self) -> bool:
        """Whether it is a recurrence, of which nothing but a gradient can be asked for."""
        return (
            self.family.steps is not None
            and self.factors.left.size(0) > 1
            and not self.right_varies
            and not self.family.adj.is_tracked
            and not torch.compiler.is_compiling()
            and not is_differentiating()
        )

    def _is_by_node(self) -> bool:
        return self.factors.left.size(1) != 1 or self.family.steps is None or self.family.steps.varies

    def _as_one(self, x: Tensor, transposed: bool) -> Tensor:
        assert self.family.steps is not None
        left, alone, outer, right = self.factors
        trials = left.size(2) if left.dim() == 3 else 1
        series = Series(
            self.family.steps, trials, self._is_by_node(), transposed, self.low_memory, self._differentiable
        )
        flat = x if x.dim() == 2 else x.flatten(1) if x.dim() > 1 else x.unsqueeze(1)
        if transposed and series.by_node:
            y = series.adjoint(flat, left, right)
        else:
            y = apply_series(series, flat, Factors(left, alone, right, outer) if transposed else self.factors)
        return y if x.dim() == 2 else y.view(x.shape)

    def _differentiable(self, series: Series, x: Tensor, *factors: Any) -> Tensor:
        """What `series` does, term by term, for derivatives of derivatives."""
        w, alone, outer, right = factors
        by_trial = x if w.dim() == 2 else x.view(x.size(0), series.trials, x.size(1) // series.trials)
        if series.transposed:
            y = Plan(self.family, Factors(w, alone, right, outer))._adjoint_term_by_term(by_trial)
        else:
            y = Plan(self.family, Factors(w, alone, outer, right))._term_by_term(by_trial)
        return y.view(x.shape)

    # ------------------------------------------------------------------ term by term

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """The terms of n = 0 … L."""
        left = self.factors.left if self.factors.outer is None else self.factors.outer * self.factors.left
        scaled = (_times(factor, term) for factor, term in zip(left, self._inner(x), strict=True))
        if self.factors.alone is None:
            return scaled
        return chain([next(scaled) + _times(self.factors.alone, x)], scaled)

    def numbered(self, x: Tensor) -> tuple[Tensor, Iterator[Tensor]] | None:
        """A number for each length, (L+1,) or (L+1, S), and the terms without it, where it is all that scales them."""
        if self.right_varies or not self.factors.is_plain() or self.factors.left.size(1) != 1:
            return None
        return self.factors.left[:, 0], self._inner(x)

    def adjoint_terms(self, y: Tensor) -> Iterator[Tensor]:
        """The transposed terms of n = 0 … L, applied."""
        inner = y if self.factors.outer is None else _times(self.factors.outer, y)
        for n, term in enumerate(self._adjoint_of_each([_times(left, inner) for left in self.factors.left])):
            if self.factors.right is not None:
                term = _times(self.factors.right[n] if self.right_varies else self.factors.right, term)
            alone = self.factors.alone if n == 0 else None
            yield term if alone is None else term + _times(alone, y)

    def _term_by_term(self, x: Tensor) -> Tensor:
        total: Tensor | None = None
        for left, term in zip(self.factors.left, self._inner(x), strict=True):
            total = _times(left, term) if total is None else torch.addcmul(total, align(left, term), term)
        assert total is not None
        if self.factors.outer is not None:
            total = _times(self.factors.outer, total)
        return total if self.factors.alone is None else total + _times(self.factors.alone, x)

    def _inner(self, x: Tensor) -> Iterator[Tensor]:
        if self.right_varies:
            # Method 6: each length starts from an x of its own, so the recurrence cannot be shared.
            if self.family.steps is not None:
                return _terms_of_each(self.family.steps, self._rights(), x)
            return (self.family.term(n, _times(r, x)) for n, r in enumerate(self._rights()))
        return self.family.terms(x if self.factors.right is None else _times(self.factors.right, x))

    def adjoint_sum(self, v: Sequence[Tensor]) -> Tensor:
        """Σₙ (the transposed term of length n) vₙ."""
        outer = self.factors.outer
        inner = v if outer is None else [_times(outer, each) for each in v]
        return self._back([_times(left, each) for left, each in zip(self.factors.left, inner, strict=True)], v[0])

    def _adjoint_term_by_term(self, y: Tensor) -> Tensor:
        inner = y if self.factors.outer is None else _times(self.factors.outer, y)
        return self._back([_times(left, inner) for left in self.factors.left], y)

    def _back(self, scaled: list[Tensor], first: Tensor) -> Tensor:
        """Behind the factors on the left; `first` is what the term of no steps is applied to."""
        total = self._adjoint_of_terms(scaled)
        return total if self.factors.alone is None else total + _times(self.factors.alone, first)

    def _adjoint_of_terms(self, scaled: list[Tensor]) -> Tensor:
        if self.right_varies:
            return sum_of(map(_times, self._rights(), self._adjoint_of_each(scaled)))
        total = self.family.adjoint(scaled)
        return total if self.factors.right is None else _times(self.factors.right, total)

    def _adjoint_of_each(self, v: list[Tensor]) -> Iterator[Tensor]:
        if self.family.steps is not None:
            return _adjoint_of_each(self.family.steps, v)
        nothing: list[Tensor | None] = [None] * len(v)
        return (self.family.adjoint([*nothing[:n], v[n]]) for n in range(len(v)))

    def matrix(self) -> Tensor:
        N = self.family.num_nodes
        total: Tensor | None = None
        for n, G in enumerate(self.family.matrices(self.factors.left.dtype)):
            row, col = G.indices()
            value = self.factors.left[n].expand(N)[row] * G.values()
            if self.factors.outer is not None:
                value = value * self.factors.outer[row]
            if self.factors.right is not None:
                value = value * (self.factors.right[n] if self.right_varies else self.factors.right)[col]
            if n == 0 and self.factors.alone is not None:
                value = value + self.factors.alone[row]
            term = torch.sparse_coo_tensor(G.indices(), value, (N, N))
            total = term if total is None else total + term
        assert total is not None
        return total.coalesce()

    def entries(
        self,
        row: Tensor,  # (k,)
        col: Tensor,  # (k,)
        G: Tensor,  # (L+1, k)
    ) -> Tensor:
        """Some entries, (k[, S]), from those of each G(n)."""
        left, alone, outer, right = self.factors
        N = self.family.num_nodes

        def there(factor: Tensor, index: Tensor, dim: int) -> Tensor:
            shape = list(factor.shape)
            shape[dim] = N
            return factor.expand(shape).index_select(dim, index)

        weighed = there(left, row, 1)
        weighed = weighed * G.reshape(*G.shape, *[1] * (weighed.dim() - 2))
        if right is not None:
            weighed = weighed * there(right, col, 1 if self.right_varies else 0)
        total = weighed.sum(0)
        if outer is not None:
            total = total * there(outer, row, 0)
        if alone is None:
            return total
        return total + there(alone, row, 0) * align((row == col).to(total.dtype), total)

    def _rights(self) -> Sequence[Tensor]:
        assert self.factors.right is not None
        return self.factors.right.unbind(0)


def _terms_of_each(steps: Steps, rights: Sequence[Tensor], x: Tensor) -> Iterator[Tensor]:
    """G(n)(rightₙ ⊙ x) for n = 0 … L.

    That is L(L+1)/2 products. The lengths that a step still has before them stand side by side, so that each step is
    made and applied once for all of them, or for as many as `_SIDE_BY_SIDE` values hold.
    """
    yield _times(rights[0], x)
    at_once = _at_once(x, len(rights))
    for first in range(1, len(rights), at_once):
        last = min(first + at_once, len(rights))
        block = torch.stack([_times(right, x) for right in rights[first:last]], 1)  # (N, lengths, …)
        for n in range(1, last):
            block = spmm(*steps.step(n, block.dtype), block)
            if n >= first:
                yield block[:, 0]
                block = block[:, 1:]


def _adjoint_of_each(steps: Steps, v: Sequence[Tensor]) -> Iterator[Tensor]:
    """G(n)ᵀvₙ for n = 0 … L, as many lengths side by side as in `_terms_of_each`."""
    yield v[0]
    at_once = _at_once(v[0], len(v))
    for start in range(1, len(v), at_once):
        last = min(start + at_once, len(v)) - 1
        block = v[last].unsqueeze(1)  # (N, lengths, …)
        for n in range(last, 0, -1):
            if start <= n < last:
                block = torch.cat([v[n].unsqueeze(1), block], 1)
            a, a_t = steps.step(n, block.dtype)
            block = spmm(a_t, a, block)
        yield from block.unbind(1)


def _at_once(x: Tensor, lengths: int) -> int:
    """How many lengths go through a step side by side; all, where a program is made for x of any size."""
    return max(1, _SIDE_BY_SIDE // max(1, x.numel())) if isinstance(x.numel(), int) else lengths


def sum_of(terms: Iterable[Tensor]) -> Tensor:
    """The sum of at least one term, each let go when it has been added."""
    return functools.reduce(torch.add, terms)


def _times(factor: Tensor, x: Tensor) -> Tensor:
    return align(factor, x) * x
