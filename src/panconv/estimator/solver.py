"""Newton's method without its matrix: convex problems that share their features, solved side by side.

Problem b is to minimise over W_b (r, C)

    f_b(W) = Σᵢ s_ib ℓ(qᵢ·W, tᵢ) + ½ Σⱼ λ_jb ‖W_j‖²

with weights s (n, B), 0 where its fold hides a row, and penalties λ (r, B). The features stand on their principal axes
(`axes.py`), so the diagonal c·Σᵢ s_ib q_ij² + λ_jb is near the second derivative: L-BFGS starts from it, and takes a
few dozen steps where it would take hundreds. One product of the features takes all problems forward, and one back.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.estimator.losses import Loss

_MEMORY = 8  # steps whose curvature is remembered
_DECREASE = 1e-4  # of what the slope promises, which a step must bring (Armijo)
_ROUNDING = {torch.float32: 1e-7, torch.float64: 1e-15}  # of f: by less it may rise, or the last steps were refused
_HALVINGS = 20
_REFRESHED = 10  # steps after which the diagonal is taken anew: what is told well apart curves less and less
_LEAST = 0.01  # of f(0): what is below it is as good as nothing, and is not solved any better than that
_WIDEST = 400  # rows of a Newton matrix that is formed
_FEWEST = 0.7  # of the problems are left: then the others leave the batch


class Problems(NamedTuple):
    """B problems over the same rows."""

    Q: Tensor  # (n, r), of which the last column is ones
    targets: Tensor  # (n, 1, C)
    weights: Tensor  # (n, B)
    penalty: Tensor  # (r, B)
    loss: Loss
    squares: Tensor  # (r,): Σᵢ s_i q_ij² of all rows together

    def of(self, which: Tensor) -> Problems:
        return self._replace(weights=self.weights[:, which], penalty=self.penalty[:, which])

    def scores(self, W: Tensor) -> Tensor:
        """(n, B, C) of W (r, B, C)."""
        return (self.Q @ W.flatten(1)).unflatten(1, W.shape[1:])

    def value(self, scores: Tensor, W: Tensor) -> Tensor:
        """f, (B,), in float64: differences of large sums are looked at."""
        data = (self.weights * self.loss.value(scores, self.targets)).sum(0, dtype=torch.float64)
        return data + 0.5 * (self.penalty.unsqueeze(-1) * W.square()).sum((0, 2), dtype=torch.float64)

    def gradient(self, scores: Tensor, W: Tensor) -> Tensor:
        """(r, B, C)."""
        residual = self.weights.unsqueeze(-1) * (self.loss.predicted(scores) - self.targets)
        product = (residual.flatten(1).T @ self.Q).T  # twice as fast as Qᵀ·residual
        return product.unflatten(1, W.shape[1:]) + self.penalty.unsqueeze(-1) * W

    def diagonal(self) -> Tensor:
        """Nearly the second derivative at W = 0 along each axis, (r, B, 1): a fold has its share of the squares."""
        total = self.weights.sum(0)
        curved = self.loss.curvature(self.targets.size(-1)) * self.squares.unsqueeze(1) * (total / self.squares[-1])
        return (curved + self.penalty).clamp_min(1e-30).unsqueeze(-1)

    def diagonal_at(self, scores: Tensor) -> Tensor:
        """The diagonal of the second derivative where the scores are these, (r, B, C)."""
        p = self.loss.predicted(scores)
        curved = self.Q.square().T @ (self.weights.unsqueeze(-1) * p * (1 - p)).flatten(1)
        return (curved.unflatten(1, scores.shape[1:]) + self.penalty.unsqueeze(-1)).clamp_min(1e-30)


class _State(NamedTuple):
    """Where the problems that still run stand."""

    which: Tensor  # (b,) their numbers
    W: Tensor  # (r, b, C)
    scores: Tensor  # (n, b, C)
    value: Tensor  # (b,)
    gradient: Tensor  # (r, b, C)
    diagonal: Tensor  # (r, b, 1)
    steps: tuple[tuple[Tensor, Tensor], ...] = ()  # the last ones: (step, change of gradient), each (r, b, C)

    def of(self, kept: Tensor) -> _State:
        steps = tuple((s[:, kept], y[:, kept]) for s, y in self.steps)
        W, scores, gradient, diagonal = (x[:, kept] for x in (self.W, self.scores, self.gradient, self.diagonal))
        return _State(self.which[kept], W, scores, self.value[kept], gradient, diagonal, steps)


def minimise(problems: Problems, start: Tensor | None = None, tol: float = 1e-5, steps: int = 200) -> Tensor:
    """The minima, (r, B, C).

    Args:
        problems: what to minimise.
        start: (r, B, C), such as the solution of a stronger penalty; None for 0.
        tol: a problem is solved when another step promises to lower f by less than tol times f, or a hundredth of f(0).
        steps: at most.
    """
    B, C = problems.weights.size(1), problems.targets.size(-1)
    W = problems.Q.new_zeros(problems.Q.size(1), B, C) if start is None else start
    scores = problems.scores(W)
    everyone = torch.arange(B, device=W.device)
    gradient = problems.gradient(scores, W)
    state = _State(everyone, W, scores, problems.value(scores, W), gradient, problems.diagonal())
    out, live, least = W.clone(), problems, _LEAST * problems.value(0 * scores, 0 * W)
    for step in range(steps):
        if step and step % _REFRESHED == 0:
            state = state._replace(diagonal=live.diagonal_at(state.scores))
        gap = 0.5 * (state.gradient.square() / state.diagonal).sum((0, 2), dtype=torch.float64)
        running = gap > tol * torch.maximum(state.value, least[state.which])
        if not running.any():
            break
        if running.sum() <= _FEWEST * len(running):
            out[:, state.which] = state.W
            state, live = state.of(running), live.of(running)
        state, moved = _stepped(live, state)
        if not moved:
            break
    out[:, state.which] = state.W
    return out


def polished(problems: Problems, W: Tensor) -> Tensor:
    """One problem's solution (r, 1, C) to the last digit, by Newton's own steps, where its matrix is small."""
    r, _, C = W.shape
    if r * C > _WIDEST:
        return W
    Q, weights, ridge = problems.Q, problems.weights[:, 0], problems.penalty[:, 0]
    for _ in range(3):
        scores = problems.scores(W)
        each = problems.loss.hessian(problems.loss.predicted(scores[:, 0])) * weights.view(-1, 1, 1)
        H = torch.einsum("ij,icd,ik->jckd", Q, each, Q).reshape(r * C, r * C) + ridge.repeat_interleave(C).diag()
        gradient = problems.gradient(scores, W).reshape(-1, 1)
        # What all classes have in common changes no softmax: the least step leaves it alone.
        W = W - torch.linalg.lstsq(H, gradient, rcond=1e-12, driver="gelsd").solution.view(W.shape)
    return W


def _stepped(problems: Problems, state: _State) -> tuple[_State, bool]:
    """One step of all, and whether any moved: where none does, rounding is all that is left to gain."""
    direction = -_newton(state)
    slope = _dot(state.gradient, direction).double()
    ahead = problems.scores(direction)
    t = torch.ones_like(state.value)
    for _ in range(_HALVINGS):
        size = t.to(direction.dtype).unsqueeze(-1)
        W, scores = state.W + size * direction, state.scores + size * ahead
        value = problems.value(scores, W)
        short = value > state.value * (1 + _ROUNDING[W.dtype]) + _DECREASE * t * slope
        if not short.any():
            break
        t = torch.where(short, 0.5 * t, t)
    size = torch.where(short, 0.0, t).to(direction.dtype).unsqueeze(-1)
    W, scores = state.W + size * direction, state.scores + size * ahead
    gradient, value = problems.gradient(scores, W), torch.where(short, state.value, value)
    steps = (*state.steps, (W - state.W, gradient - state.gradient))[-_MEMORY:]
    made = state._replace(W=W, scores=scores, value=value, gradient=gradient, steps=steps)
    return made, bool((~short).any())


def _newton(state: _State) -> Tensor:
    """L-BFGS's product of the inverse second derivative with the gradient."""
    q, found = state.gradient, []
    for s, y in reversed(state.steps):
        curved = _dot(s, y)
        rho = torch.where(curved > 0, 1 / curved, 0.0)  # a problem that did not move has learned nothing
        alpha = rho * _dot(s, q)
        q = q - alpha.to(q.dtype).unsqueeze(-1) * y
        found.append((s, y, rho, alpha))
    if state.steps:
        s, y = state.steps[-1]
        scale = _dot(s, y) / _dot(y, y / state.diagonal)
        q = q * torch.where(scale > 0, scale, 1.0).to(q.dtype).unsqueeze(-1)
    q = q / state.diagonal
    for s, y, rho, alpha in reversed(found):
        q = q + (alpha - rho * _dot(y, q)).to(q.dtype).unsqueeze(-1) * s
    return q


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """Of each problem, (b,)."""
    return (a * b).sum(0).sum(1)
