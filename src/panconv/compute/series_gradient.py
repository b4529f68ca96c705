"""The series with a backward of its own, which stores nothing it can do without.

Where every step is the same matrix A and each wₙ is one number for all nodes, the gradients come from
uₙ = (Aᵀ)ⁿ(outer ⊙ g) alone: that of x is own ⊙ g + right ⊙ Σ wₙuₙ, that of wₙ is <uₙ, right ⊙ x>, and that of outer is
<g, y>/outer: no difference of nearly equal numbers is taken. No term of the forward is needed, and no product is done
twice. Where wₙ differs from node to node (methods 3 and 4) its gradient asks for the terms themselves: they are kept,
or computed once more where memory is to be low.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import is_batched, is_differentiating
from panconv.compute.kernels import has_kernels, multiply, numbers, row_dots, step
from panconv.compute.series import Factors, Launch, Series, expect, times


def apply_series(how: Series, x: Tensor, factors: Factors) -> Tensor:
    """The sum for x (N, S·width), float32 or float64, of L ≥ 1 steps, with gradients where they are asked for."""
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, *factors)):
        launches = how.launches(x, factors)
        if launches is not None:
            return _InOneLaunch.apply(how, launches, x.contiguous(), factors.left)
        return _Sum.apply(how, x, *factors)
    return how.apply(x, factors.by_trial())


class _Needed(NamedTuple):
    """Which gradients are asked for."""

    x: bool
    w: bool
    alone: bool  # never: it is a constant
    outer: bool
    right: bool


class _Gradients(NamedTuple):
    """Those that were found, with a dimension for the trials."""

    x: Tensor | None
    w: Tensor | None
    outer: Tensor | None = None
    right: Tensor | None = None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, how: Series, x: Tensor, *parts: Tensor | None) -> Tensor:
        factors, needed = Factors(expect(parts[0]), *parts[1:]), _Needed(*ctx.needs_input_grad[1:])
        kept: list[Tensor] | None = [] if how.by_node and needed.w and not how.low_memory else None
        y = how.apply(x, factors.by_trial(), kept)
        ctx.how, ctx.like = how, (x.shape, x.dtype, x.device)
        ctx.save_for_backward(x if any(needed[1:]) else None, *factors, y if needed.outer else None, *(kept or []))
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        needed = _Needed(*ctx.needs_input_grad[1:])
        x, w, alone, outer, right, y, *kept = ctx.saved_tensors
        factors = Factors(w, alone, outer, right)
        if torch.is_grad_enabled() or is_differentiating() or is_batched(g):
            return None, *_by_autograd(ctx, needed, g, x, factors)
        x = None if x is None else x.contiguous()
        found = _all_gradients(ctx.how, needed, g.contiguous(), x, factors.by_trial(), y, kept)
        of_w, of_outer, of_right = (
            None if grad is None else grad.to(w.dtype).view(factor.shape)
            for grad, factor in zip(found[1:], (w, outer, right), strict=True)
        )
        return None, found.x, of_w, None, of_outer, of_right


class _InOneLaunch(torch.autograd.Function):
    """The sum on a GPU, where one launch does it and another its gradients: there it is Python that takes the time."""

    @staticmethod
    def forward(ctx: Any, how: Series, launches: tuple[Launch, Launch], x: Tensor, w: Tensor) -> Tensor:
        ctx.how, ctx.back, ctx.like = how, launches[1], (x.shape, x.dtype, x.device)
        ctx.save_for_backward(x, w)
        return launches[0](x, w)[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, w = ctx.saved_tensors
        _, _, of_x, of_w = ctx.needs_input_grad
        if torch.is_grad_enabled() or is_differentiating() or is_batched(g):
            needed = _Needed(of_x, of_w, False, False, False)
            return None, None, *_by_autograd(ctx, needed, g, x, Factors(w))[:2]
        found, dots = ctx.back(g.contiguous(), w, x if of_w else None)
        return None, None, found, None if dots is None else dots.to(w.dtype)


def _all_gradients(
    how: Series, needed: _Needed, g: Tensor, x: Any, factors: Factors, y: Any, kept: list[Tensor]
) -> _Gradients:
    """The gradients, by the cheapest way that there is."""
    at_once = None if how.by_node else _in_one_launch(how, needed, g, x, factors)
    if at_once is not None:
        return _Gradients(*at_once)
    by_number = needed.w and not how.by_node and not how.low_memory
    if by_number and how.trials == 1 and factors.is_plain() and not has_kernels(x):
        return _of_plain(how, g, x, factors.left)
    if by_number:
        lengths = _by_number(how, g, x, factors)
    else:
        of_w = _of_weights(how, g, x, factors, kept) if needed.w else None  # first: it leaves nothing large behind
        of_x, of_right = _of_features(how, needed, g, x, factors)
        lengths = _Gradients(of_x, of_w, None, of_right)
    of_w, of_right = _with_length_0(how, g, x, factors, lengths)
    of_outer = None
    if needed.outer:
        outer = expect(factors.outer)
        of_outer = (row_dots(g, y, how.trials) / outer).masked_fill(outer == 0, 0)
    return _Gradients(lengths.x, of_w, of_outer, of_right if needed.right else None)


def _in_one_launch(
    how: Series, needed: _Needed, g: Tensor, x: Tensor | None, factors: Factors
) -> tuple[Tensor, Tensor | None] | None:
    """The gradients of x and w, where nothing else is asked for and there is such a kernel."""
    w, alone, outer, right = factors
    if needed.w and alone is None and outer is None and right is None:
        return how.in_one_launch(g, not how.transposed, w, None, None, None, x)
    if not any(needed[1:]):
        return how.in_one_launch(g, not how.transposed, w, factors.own(), right, outer)
    return None


def _of_plain(how: Series, g: Tensor, x: Tensor, w: Tensor) -> _Gradients:
    """What `_by_number` and `_with_length_0` give where there is nothing but a number per length, in fewer words."""
    part, (own, *weights) = how.part(1, not how.transposed, x), w.flatten().tolist()
    u, total, dots = g, g * own, [row_dots(g, x, by_row=False)]
    for weight in weights:
        u = multiply(*part, len(u), u)
        total.add_(u, alpha=weight)
        dots.append(row_dots(u, x, by_row=False))
    return _Gradients(total, torch.stack(dots))


def _by_number(how: Series, g: Tensor, x: Tensor, factors: Factors) -> _Gradients:
    """With a number per length, from uₙ = (Aᵀ)ⁿ(outer ⊙ g): of x, and what the lengths n ≥ 1 give to w and right."""
    outer, right = factors.outer, factors.right
    part, all_dots, of_right = how.part(1, not how.transposed, x), [], None
    first, weights = factors.numbers()
    u, total, by_row = g, g, right is not None
    for n, weight in enumerate(weights, 1):
        found = step(
            *part,
            u,
            right=outer if n == 1 else None,
            base=total,
            hold=first if n == 1 else None,
            add=times(weight, right),
            dot=x,
            by_row=by_row,
            store=n < len(weights),
            trials=how.trials,
        )
        u, total, dots = found.out, expect(found.running), expect(found.dots)  # type: ignore[assignment]
        all_dots.append(_weighted_sum(dots, right))
        if by_row:
            of_right = weight * dots if of_right is None else of_right + weight * dots
    return _Gradients(total.to(g.dtype), torch.stack(all_dots), None, of_right)


def _of_weights(how: Series, g: Tensor, x: Tensor, factors: Factors, kept: list[Tensor]) -> Tensor:
    """<tₙ, g> for n = 1 … L, from the terms that were kept, or by the forward's recurrence once more."""
    if kept:
        return torch.stack([row_dots(g, t, how.trials) for t in kept])
    L, outer, by_row = factors.left.size(0) - 1, factors.outer, how.by_node or factors.outer is not None
    t, dots = x, []
    for n in range(1, L + 1):
        part, before = how.part(n, how.transposed, x), factors.right if n == 1 else None
        found = step(*part, t, right=before, dot=g, by_row=by_row, store=n < L, trials=how.trials)
        t = found.out  # type: ignore[assignment]
        dots.append(expect(found.dots))
    return torch.stack(dots if how.by_node else [_weighted_sum(dot, outer) for dot in dots])


def _of_features(
    how: Series, needed: _Needed, g: Tensor, x: Tensor, factors: Factors
) -> tuple[Tensor | None, Tensor | None]:
    """The gradient of x, and what the lengths n ≥ 1 give to that of right, by the adjoint."""
    if needed.right:
        own, lengths = factors.own(), numbers(factors.left[1:])
        inner = how.horner(g, 0.0, lengths, None, factors.outer, not how.transposed)
        of_right = row_dots(inner, x, how.trials)
        return _scale_and_add(inner, expect(factors.right), g, own, how.trials), of_right
    if needed.x:
        return how.horner(g, *factors.numbers(), factors.right, factors.outer, not how.transposed), None
    return None, None


def _with_length_0(
    how: Series, g: Tensor, x: Any, factors: Factors, lengths: _Gradients
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of w and right with what the length 0 gives to them, through own = outer ⊙ w₀ ⊙ right."""
    (w, _, outer, right), of_w, of_right = factors, lengths.w, lengths.right
    if of_w is None and of_right is None:
        return None, None
    # At each node, where one of the three differs from node to node.
    of_own = row_dots(g, x, how.trials, by_row=how.by_node or outer is not None or right is not None)
    if of_w is not None:
        first = times(times(of_own, outer), right).sum_to_size(w[0].shape)
        of_w = torch.cat([first.unsqueeze(0).to(of_w.dtype), of_w])
    if of_right is not None:
        of_right = of_right + times(of_own * w[0], outer)
    return of_w, of_right


def _by_autograd(ctx: Any, needed: _Needed, g: Tensor, x: Tensor | None, factors: Factors) -> list[Tensor | None]:
    """The gradients as functions that can be differentiated again."""
    if x is None:  # only its own gradient is asked for, which is the same wherever it stands
        shape, dtype, device = ctx.like
        x = torch.zeros(shape, dtype=dtype, device=device, requires_grad=True)
    wanted = [i for i, asked in enumerate(needed) if asked]
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        # Views of their own: one tensor may stand in two places, and each asks for its own gradient.
        inputs = [None if t is None else t.view_as(t) for t in (x, *factors)]
        y = ctx.how.differentiable(ctx.how, *inputs)
        found = torch.autograd.grad(y, [expect(inputs[i]) for i in wanted], g, create_graph=again)
    grads: list[Tensor | None] = [None] * len(inputs)
    for i, grad in zip(wanted, found, strict=True):
        grads[i] = grad
    return grads


def _scale_and_add(x: Tensor, scale: Tensor, y: Tensor, factor: Tensor, trials: int) -> Tensor:
    """scale ⊙ x + factor ⊙ y, in the place of x."""
    x3, y3 = (t.view(t.size(0), trials, t.size(1) // trials) for t in (x, y))
    x3.mul_(scale.unsqueeze(-1)).addcmul_(y3, factor.unsqueeze(-1))
    return x


def _weighted_sum(dots: Tensor, factor: Tensor | None) -> Tensor:
    """The sum over the rows of factor ⊙ dots, (1, S)."""
    if factor is None:
        return dots if dots.size(0) == 1 else dots.sum(0, keepdim=True)
    return (dots * factor).sum(0, keepdim=True)
