"""How an operator is applied: Σₙ leftₙ ⊙ Gₙ (rightₙ ⊙ x), by the recurrence of a family of paths."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.paths.family import Terms


class Plan(NamedTuple):
    """Σₙ leftₙ ⊙ Gₙ (rightₙ ⊙ x), everything in one dtype."""

    family: Terms
    left: Tensor  # (L+1, 1 or N[, S])
    right: Tensor | None  # (N[, S]), or (L+1, N[, S]) where it varies with n
    right_varies: bool

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """leftₙ ⊙ Gₙ (rightₙ ⊙ x), one a length."""
        return (_times(left, term) for left, term in zip(self.left, self._inner(x), strict=True))

    def applied(self, x: Tensor) -> Tensor:
        total: Tensor | None = None
        for left, term in zip(self.left, self._inner(x), strict=True):
            total = _times(left, term) if total is None else torch.addcmul(total, _spread(left, term), term)
        assert total is not None
        return total

    def _inner(self, x: Tensor) -> Iterator[Tensor]:
        if self.right_varies:
            # Method 6: each length starts from an x of its own, so the recurrence cannot be shared: L(L+1)/2 products.
            return (self.family.term(n, _times(r, x)) for n, r in enumerate(self._rights()))
        return self.family.terms(x if self.right is None else _times(self.right, x))

    def adjoint(self, y: Tensor) -> Tensor:
        scaled: list[Tensor | None] = [_times(left, y) for left in self.left]
        if self.right_varies:
            nothing: list[Tensor | None] = [None] * len(scaled)
            parts = [_times(r, self.family.adjoint([*nothing[:n], scaled[n]])) for n, r in enumerate(self._rights())]
            return torch.stack(parts).sum(0)
        total = self.family.adjoint(scaled)
        return total if self.right is None else _times(self.right, total)

    def matrix(self) -> Tensor:
        N = self.family.num_nodes
        total: Tensor | None = None
        for n, G in enumerate(self.family.matrices(self.left.dtype)):
            row, col = G.indices()
            value = self.left[n].expand(N)[row] * G.values()
            if self.right is not None:
                value = value * (self.right[n] if self.right_varies else self.right)[col]
            term = torch.sparse_coo_tensor(G.indices(), value, (N, N))
            total = term if total is None else total + term
        assert total is not None
        return total.coalesce()

    def _rights(self) -> Sequence[Tensor]:
        assert self.right is not None
        return self.right.unbind(0)


def sum_of(terms: Iterable[Tensor]) -> Tensor:
    """The sum of at least one term, each let go when it has been added."""
    return functools.reduce(torch.add, terms)


def _spread(factor: Tensor, x: Tensor) -> Tensor:
    """A factor (N or 1[, S]) with dimensions of 1 behind it, to multiply x (N[, S], …)."""
    return factor.reshape(*factor.shape, *[1] * (x.dim() - factor.dim()))


def _times(factor: Tensor, x: Tensor) -> Tensor:
    return _spread(factor, x) * x
