"""Σₙ wₙ Aⁿ x as one operation, with a backward of its own that stores nothing it can do without.

    y = alone ⊙ x + outer ⊙ Σₙ wₙ ⊙ Bₙ…B₂B₁ (right ⊙ x)  =  own ⊙ x + outer ⊙ Σₙ₌₁ …

Where every step is the same matrix A and each wₙ is one number for all nodes, the forward is Horner's scheme, and the
gradients come from uₙ = (Aᵀ)ⁿ(outer ⊙ g) alone: that of x is own ⊙ g + right ⊙ Σ wₙuₙ, that of wₙ is <uₙ, right ⊙ x>,
and that of outer is <g, y>/outer: no difference of nearly equal numbers is taken.
No term of the forward is needed, and no product is done twice. Where wₙ differs from node to node (methods 3 and 4)
its gradient asks for the terms themselves: they are kept, or computed once more where memory is to be low.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from panconv.base.autodiff import is_batched, is_differentiating
from panconv.compute.kernels import numbers, paired, step, whole
from panconv.graph.csr import CSR


class Steps(Protocol):
    """The matrices B₁ … B_L of a recurrence."""

    @property
    def unit(self) -> bool:
        """Whether every stored entry is 1."""

    def matrix(self, n: int, dtype: torch.dtype, transposed: bool) -> CSR:
        """Bₙ, or its transpose."""


class Series(NamedTuple):
    """How a sum is to be taken."""

    steps: Steps
    trials: int
    by_node: bool  # whether wₙ is one number per node, or one for all; then every step is the same matrix
    transposed: bool
    low_memory: bool
    again: Callable[..., Tensor]  # the same by differentiable operations, for derivatives of derivatives

    def applied(self, x: Tensor, w: Tensor, alone: Tensor | None, outer: Tensor | None, right: Tensor | None) -> Tensor:
        """The sum for x (N, S·width), of L ≥ 1 steps.

        Args:
            x: float32 or float64.
            w: (L+1, 1 or N[, S]), for n = 0 … L.
            alone: (N[, S]), without a gradient of its own, or None for zeros; it is 0 where outer is not.
            outer, right: (N[, S]), or None for ones. With a w for every node there is no outer.
        """
        if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, w, outer, right)):
            return _Sum.apply(self, x, w, alone, outer, right)
        return self._sum(x, *_by_trial(w, alone, outer, right), None)

    def adjoint(self, g: Tensor, w: Tensor, right: Tensor | None) -> Tensor:
        """The adjoint of the sum with a w for every node, without a gradient."""
        w, _, _, right = _by_trial(w, None, None, right)
        return self._horner(g.contiguous(), _own(w, None, None, right), w[1:], right, None, True)

    def _sum(
        self,
        x: Tensor,
        w: Tensor,
        alone: Tensor | None,
        outer: Tensor | None,
        right: Tensor | None,
        kept: list[Tensor] | None,
    ) -> Tensor:
        x, own = x.contiguous(), _own(w, alone, outer, right)
        if self.by_node:
            assert outer is None
            return self._recurrence(x, own, w[1:], right, kept)
        apart = None if own is w[0] else own
        at_once = whole(*self._at(1, self.transposed, x), x, w, apart, outer, right, None, self.trials)
        if at_once is not None:
            return at_once[0]
        return self._horner(x, own, w[1:], outer, right, self.transposed)

    def _at(self, n: int, transposed: bool, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        crow, col, value = self.steps.matrix(n, x.dtype, transposed)
        return crow, col, None if self.steps.unit else value

    def _horner(
        self, x: Tensor, own: Tensor, w: Tensor, outer: Tensor | None, right: Tensor | None, transposed: bool
    ) -> Tensor:
        """own ⊙ x + outer ⊙ B₁(w₁x' + B₂(w₂x' + …)) with x' = right ⊙ x: a product per length, nothing stored.

        With a w for every node it is the adjoint of `_recurrence`, where w stands before the product.
        """
        (first,), weights = numbers(own.unsqueeze(0)), numbers(w)
        L, h, part = len(weights), x, self._at(1, transposed, x)
        for n in range(L, 0, -1):
            before = scale = None
            if n == L:
                before, scale = (weights[-1], None) if self.by_node else (right, weights[-1])
            if n == 1:
                scale, keep = _product(scale, outer), first
            else:
                keep = weights[n - 2] if self.by_node else _product(weights[n - 2], right)
            if self.by_node:
                part = self._at(n, transposed, x)
            h = _given(step(*part, h, right=before, scale=scale, y0=x, keep=keep, trials=self.trials).out)
        return h

    def _recurrence(self, x: Tensor, own: Tensor, w: Tensor, right: Tensor | None, kept: list[Tensor] | None) -> Tensor:
        """own ⊙ x + Σ wₙ ⊙ tₙ with tₙ = Bₙtₙ₋₁, from t₀ = right ⊙ x; the terms are appended to `kept`."""
        t, total, L = x, x, w.size(0)
        for n in range(1, L + 1):
            found = step(
                *self._at(n, False, x),
                t,
                right=right if n == 1 else None,
                base=total,
                hold=own if n == 1 else None,
                add=w[n - 1],
                store=n < L or kept is not None,
                trials=self.trials,
            )
            t, total = found.out, _given(found.running)  # type: ignore[assignment]
            if kept is not None:
                kept.append(t)
        return total.to(x.dtype)

    def _backward_by_number(
        self, g: Tensor, x: Tensor, own: Tensor, w: Tensor, outer: Tensor | None, right: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """The gradients of x, of w, a number per length, and of right, from uₙ = (Aᵀ)ⁿ(outer ⊙ g)."""
        u, total, L, by_row = g, g, w.size(0), right is not None
        part, all_dots, of_right = self._at(1, not self.transposed, x), [], None
        (first,), weights = numbers(own.unsqueeze(0)), numbers(w)
        for n, weight in enumerate(weights, 1):
            found = step(
                *part,
                u,
                right=outer if n == 1 else None,
                base=total,
                hold=first if n == 1 else None,
                add=_product(weight, right),
                dot=x,
                by_row=by_row,
                store=n < L,
                trials=self.trials,
            )
            u, total, dots = found.out, _given(found.running), _given(found.dots)  # type: ignore[assignment]
            all_dots.append(_weighed(dots, right))
            if by_row:
                of_right = weight * dots if of_right is None else of_right + weight * dots
        return total.to(g.dtype), torch.stack(all_dots), of_right

    def _terms_again(self, x: Tensor, right: Tensor | None, g: Tensor, L: int, by_row: bool) -> list[Tensor]:
        """<tₙ, g> for n = 1 … L, by the forward's recurrence once more."""
        t, dots = x, []
        for n in range(1, L + 1):
            part, before = self._at(n, self.transposed, x), right if n == 1 else None
            found = step(*part, t, right=before, dot=g, by_row=by_row, store=n < L, trials=self.trials)
            t = found.out  # type: ignore[assignment]
            dots.append(_given(found.dots))
        return dots


class _Needed(NamedTuple):
    """Which gradients are asked for."""

    x: bool
    w: bool
    alone: bool  # never: it is a constant
    outer: bool
    right: bool


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        how: Series,
        x: Tensor,
        w: Tensor,
        alone: Tensor | None,
        outer: Tensor | None,
        right: Tensor | None,
    ) -> Tensor:
        needed = _Needed(*ctx.needs_input_grad[1:])
        kept: list[Tensor] | None = [] if how.by_node and needed.w and not how.low_memory else None
        y = how._sum(x, *_by_trial(w, alone, outer, right), kept)
        ctx.how, ctx.like = how, (x.shape, x.dtype, x.device)
        factors = x if any(needed[1:]) else None, w, alone, outer, right
        ctx.save_for_backward(*factors, y if needed.outer else None, *(kept or []))
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        how, needed = ctx.how, _Needed(*ctx.needs_input_grad[1:])
        x, w, alone, outer, right, y, *kept = ctx.saved_tensors
        if torch.is_grad_enabled() or is_differentiating() or is_batched(g):
            return None, *_by_autograd(ctx, needed, g, x, w, alone, outer, right)
        g = g.contiguous()
        if x is not None:
            x = x.contiguous()
        shapes = [() if f is None else f.shape for f in (w, outer, right)]
        factors = _by_trial(w, alone, outer, right)
        at_once = _backward_at_once(how, needed, g, x, *factors)
        if at_once is not None:
            return None, at_once[0], None if at_once[1] is None else at_once[1].view(shapes[0]), None, None, None
        of_x, of_w, of_right = _backward_of_lengths(how, needed, g, x, kept, *factors)
        of_w, of_outer, of_right = _backward_of_factors(how, needed, g, x, y, of_w, of_right, factors)
        cast = [
            grad if grad is None else grad.to(w.dtype).view(shape)
            for grad, shape in zip((of_w, of_outer, of_right), shapes, strict=True)
        ]
        return None, of_x, cast[0], None, cast[1], cast[2]


def _backward_at_once(
    how: Series, needed: _Needed, g: Tensor, x: Tensor | None, w: Tensor, alone: Any, outer: Any, right: Any
) -> tuple[Tensor, Tensor | None] | None:
    """The gradients of x and w in one launch, where nothing else is asked for and there is such a kernel."""
    if how.by_node:
        return None
    part = how._at(1, not how.transposed, g)
    if needed.w and alone is None and outer is None and right is None:
        return whole(*part, g, w, None, None, None, x, how.trials)
    if not any(needed[1:]):
        own = _own(w, alone, outer, right)
        return whole(*part, g, w, None if own is w[0] else own, right, outer, None, how.trials)
    return None


def _backward_of_lengths(
    how: Series, needed: _Needed, g: Tensor, x: Any, kept: list[Tensor], w: Tensor, alone: Any, outer: Any, right: Any
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradient of x, and what the lengths n ≥ 1 give to those of w (L, …) and right."""
    own, lengths = _own(w, alone, outer, right), w[1:]
    of_x: Tensor | None = None
    of_w = of_right = None
    if needed.w and not how.by_node and not how.low_memory:
        return how._backward_by_number(g, x, own, lengths, outer, right)
    if kept:
        of_w = torch.stack([paired(g, t, how.trials) for t in kept])
    elif needed.w:
        dots = how._terms_again(x, right, g, lengths.size(0), how.by_node or outer is not None)
        of_w = torch.stack(dots if how.by_node else [_weighed(dot, outer) for dot in dots])
    if needed.right:
        inner = how._horner(g, torch.zeros_like(own), lengths, None, outer, not how.transposed)
        of_right = paired(inner, x, how.trials)
        of_x = _scaled_and_added(inner, right, g, own, how.trials)
    elif needed.x:
        of_x = how._horner(g, own, lengths, right, outer, not how.transposed)
    return of_x, of_w, of_right


def _backward_of_factors(
    how: Series, needed: _Needed, g: Tensor, x: Any, y: Any, of_w: Any, of_right: Any, factors: tuple[Any, ...]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of w, outer and right, with what the length 0 gives to them."""
    (w, _, outer, right), of_outer = factors, None
    if of_w is not None or of_right is not None:
        # Of own = outer ⊙ w₀ ⊙ right, at each node where one of them differs from node to node.
        of_own = paired(g, x, how.trials, by_row=how.by_node or outer is not None or right is not None)
        if of_w is not None:
            first = _product(_product(of_own, outer), right).sum_to_size(w[0].shape)
            of_w = torch.cat([first.unsqueeze(0).to(of_w.dtype), of_w])
        if of_right is not None:
            of_right = of_right + _product(of_own * w[0], outer)
    if needed.outer:
        of_outer = (paired(g, y, how.trials) / outer).masked_fill(outer == 0, 0)
    return of_w, of_outer, of_right if needed.right else None


def _own(w: Tensor, alone: Tensor | None, outer: Tensor | None, right: Tensor | None) -> Tensor:
    """What a node takes of its own features, (1 or N, S): alone + outer ⊙ w₀ ⊙ right."""
    own = _product(_product(w[0], outer), right)
    return own if alone is None else own + alone


def _by_trial(
    w: Tensor, alone: Tensor | None, outer: Tensor | None, right: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """The factors with a dimension for the trials, of which there may be one: w tells."""
    if w.dim() == 3:
        return w, alone, outer, right
    alone, outer, right = (None if f is None else f.unsqueeze(-1) for f in (alone, outer, right))
    return w.unsqueeze(-1), alone, outer, right


def _by_autograd(ctx: Any, needed: tuple[bool, ...], g: Tensor, x: Tensor | None, *others: Any) -> list[Tensor | None]:
    """The gradients as functions that can be differentiated again."""
    if x is None:  # only its own gradient is asked for, which is the same wherever it stands
        shape, dtype, device = ctx.like
        x = torch.zeros(shape, dtype=dtype, device=device, requires_grad=True)
    wanted = [i for i, asked in enumerate(needed) if asked]
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        # Views of their own: one tensor may stand in two places, and each asks for its own gradient.
        inputs = [None if t is None else t.view_as(t) for t in (x, *others)]
        y = ctx.how.again(ctx.how, *inputs)
        found = torch.autograd.grad(y, [_given(inputs[i]) for i in wanted], g, create_graph=again)
    grads: list[Tensor | None] = [None] * len(inputs)
    for i, grad in zip(wanted, found, strict=True):
        grads[i] = grad
    return grads


def _product(a: Any, b: Any) -> Any:
    """a ⊙ b, where None is 1."""
    if a is None or b is None:
        return a if b is None else b
    return a * b


def _scaled_and_added(x: Tensor, scale: Tensor, y: Tensor, factor: Tensor, trials: int) -> Tensor:
    """scale ⊙ x + factor ⊙ y, in the place of x."""
    x3, y3 = (t.view(t.size(0), trials, t.size(1) // trials) for t in (x, y))
    x3.mul_(scale.unsqueeze(-1)).addcmul_(y3, factor.unsqueeze(-1))
    return x


def _weighed(dots: Tensor, factor: Tensor | None) -> Tensor:
    """The sum over the rows of factor ⊙ dots, (1, S)."""
    if factor is None:
        return dots if dots.size(0) == 1 else dots.sum(0, keepdim=True)
    return (dots * factor).sum(0, keepdim=True)


def _given(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor
