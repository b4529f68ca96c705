"""Σₙ wₙ Aⁿ x as one operation: how the sum is taken; its derivatives are in `series_gradient`.

    y = alone ⊙ x + outer ⊙ Σₙ wₙ ⊙ Bₙ…B₂B₁ (right ⊙ x)  =  own ⊙ x + outer ⊙ Σₙ₌₁ …

Where every step is the same matrix A and each wₙ is one number for all nodes, it is Horner's scheme, which stores
nothing; else a recurrence of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from panconv.compute.kernels import has_kernels, multiply, numbers, plain_whole, step, whole
from panconv.compute.kernels.plain import Factor
from panconv.graph import Adjacency
from panconv.graph.csr import CSR

Launch = Callable[..., tuple[Tensor, "Tensor | None"]]


class Steps(Protocol):
    """The matrices B₁ … B_L of a recurrence."""

    @property
    def unit(self) -> bool:
        """Whether every stored entry is 1."""

    @property
    def varies(self) -> bool:
        """Whether they differ from each other."""

    def matrix(self, n: int, dtype: torch.dtype, transposed: bool) -> CSR:
        """Bₙ, or its transpose."""

    def step(self, n: int, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """Bₙ and its transpose."""


@dataclass(frozen=True)
class Repeated:
    """The matrix of a graph in every step."""

    adj: Adjacency
    varies: ClassVar[bool] = False

    @property
    def unit(self) -> bool:
        return self.adj.value is None and self.adj.left is None and self.adj.right is None

    def matrix(self, n: int, dtype: torch.dtype, transposed: bool) -> CSR:
        return self.adj.operand(dtype, transposed)

    def step(self, n: int, dtype: torch.dtype) -> tuple[CSR, CSR]:
        return self.adj.operands(dtype)


class Factors(NamedTuple):
    """What stands around the products; a node that nothing reaches may stand alone, where outer is 0."""

    left: Tensor  # (L+1, 1 or N[, S]): wₙ, for n = 0 … L, with what it is divided by
    alone: Tensor | None = None  # (N[, S]), a constant, to which no gradient goes; None for zeros
    outer: Tensor | None = None  # (N[, S]), or None for ones. With a w for every node there is no outer
    right: Tensor | None = None  # (N[, S]), or (L+1, N[, S]) for one per length; None for ones

    def own(self) -> Tensor:
        """What a node takes of its own features, (1 or N[, S]): alone + outer ⊙ w₀ ⊙ right."""
        own: Tensor = times(times(self.left[0], self.outer), self.right)
        return own if self.alone is None else own + self.alone

    def is_plain(self) -> bool:
        """Whether there is nothing but w, one number for all nodes or one per node."""
        return self.alone is None and self.outer is None and self.right is None

    def numbers(self) -> tuple[Factor, Sequence[Factor]]:
        """What a node takes of its own features, and w₁ … w_L, as the kernels take them."""
        if self.is_plain():
            own, *weights = numbers(self.left)
            return own, weights
        return numbers(self.own().unsqueeze(0))[0], numbers(self.left[1:])

    def by_trial(self) -> Factors:
        """The same with a dimension for the trials, of which there may be one: w tells."""
        return self if self.left.dim() == 3 else self._each(lambda factor: factor.unsqueeze(-1))

    def to(self, dtype: torch.dtype) -> Factors:
        return self._each(lambda factor: factor.to(dtype))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Factors:
        return Factors(change(self.left), *(None if factor is None else change(factor) for factor in self[1:]))


class Series(NamedTuple):
    """How a sum is to be taken. The factors that its functions take have a dimension for the trials."""

    steps: Steps
    trials: int
    by_node: bool  # whether wₙ is one number per node, or one for all; then every step is the same matrix
    transposed: bool
    low_memory: bool
    differentiable: Callable[..., Tensor]  # the same by operations of torch, for derivatives of derivatives

    def apply(self, x: Tensor, factors: Factors, kept: list[Tensor] | None = None) -> Tensor:
        """The sum for x (N, S·width), of L ≥ 1 steps; where a recurrence makes terms, they are appended to `kept`."""
        x, (w, _, outer, right) = x.contiguous(), factors
        if self.by_node:
            assert outer is None
            return self._recurrence(x, factors.own(), w[1:], right, kept)
        if has_kernels(x):
            at_once = self.in_one_launch(x, self.transposed, w, factors.own(), outer, right)
            if at_once is not None:
                return at_once[0]
        elif self.trials == 1 and factors.is_plain():
            return self._plain(x, w.flatten().tolist())
        return self.horner(x, *factors.numbers(), outer, right, self.transposed)

    def adjoint(self, g: Tensor, w: Tensor, right: Tensor | None) -> Tensor:
        """The adjoint of the sum with a w for every node, without a gradient."""
        factors = Factors(w, right=right).by_trial()
        return self.horner(g.contiguous(), *factors.numbers(), factors.right, None, True)

    def part(self, n: int, transposed: bool, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Bₙ, or its transpose, as the kernels take it: no values where all are 1."""
        crow, col, value = self.steps.matrix(n, x.dtype, transposed)
        return crow, col, None if self.steps.unit else value

    def in_one_launch(
        self,
        x: Tensor,
        transposed: bool,
        w: Tensor,
        own: Tensor | None,
        outer: Tensor | None,
        right: Tensor | None,
        dot: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None] | None:
        """The whole sum in one launch, and its terms' dots, where there is such a kernel."""
        return whole(*self.part(1, transposed, x), x, w, own, outer, right, dot, self.trials)

    def launches(self, x: Tensor, factors: Factors) -> tuple[Launch, Launch] | None:
        """The sum and its adjoint as a launch each, where there is but a number per length, and such a kernel."""
        if self.by_node or self.trials != 1 or not factors.is_plain() or not has_kernels(x):
            return None
        ways = (self.transposed, not self.transposed)
        there, back = (plain_whole(*self.part(1, way, x), x, factors.left.size(0)) for way in ways)
        return None if there is None or back is None else (there, back)

    def horner(
        self,
        x: Tensor,
        own: Factor,
        weights: Sequence[Factor],  # w₁ … w_L
        outer: Tensor | None,
        right: Tensor | None,
        transposed: bool,
    ) -> Tensor:
        """own ⊙ x + outer ⊙ B₁(w₁x' + B₂(w₂x' + …)) with x' = right ⊙ x: a product per length, nothing stored.

        With a w for every node it is the adjoint of `_recurrence`, where w stands before the product.
        """
        L, h, part = len(weights), x, self.part(1, transposed, x)
        for n in range(L, 0, -1):
            before = scale = None
            if n == L:
                before, scale = (weights[-1], None) if self.by_node else (right, weights[-1])
            if n == 1:
                scale, keep = times(scale, outer), own
            else:
                keep = weights[n - 2] if self.by_node else times(weights[n - 2], right)
            if self.by_node:
                part = self.part(n, transposed, x)
            h = expect(step(*part, h, right=before, scale=scale, y0=x, keep=keep, trials=self.trials).out)
        return h

    def _plain(self, x: Tensor, weights: list[float]) -> Tensor:
        """`horner` where there is nothing but a number per length, in fewer words."""
        *before, last = weights
        part, h, scale = self.part(1, self.transposed, x), x, last
        for weight in reversed(before):
            h = multiply(*part, x.size(0), h)
            if scale != 1:
                h.mul_(scale)
            h.add_(x, alpha=weight)
            scale = 1.0
        return h

    def _recurrence(self, x: Tensor, own: Tensor, w: Tensor, right: Tensor | None, kept: list[Tensor] | None) -> Tensor:
        """own ⊙ x + Σ wₙ ⊙ tₙ with tₙ = Bₙtₙ₋₁, from t₀ = right ⊙ x."""
        t, total, L = x, x, w.size(0)
        for n in range(1, L + 1):
            found = step(
                *self.part(n, False, x),
                t,
                right=right if n == 1 else None,
                base=total,
                hold=own if n == 1 else None,
                add=w[n - 1],
                store=n < L or kept is not None,
                trials=self.trials,
            )
            t, total = found.out, expect(found.running)  # type: ignore[assignment]
            if kept is not None:
                kept.append(t)
        return total.to(x.dtype)


def times(a: Any, b: Any) -> Any:
    """a ⊙ b, where None is 1."""
    if a is None or b is None:
        return a if b is None else b
    return a * b


def expect(tensor: Tensor | None) -> Tensor:
    """A tensor that was asked for, and so is there."""
    assert tensor is not None
    return tensor
