"""Ritz pairs: what Lanczos knows of the eigenstates after a few steps, whose gradients never divide by a gap of 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from panconv.spectral.lanczos import lanczos
from panconv.spectral.operator import Operator

_GAP = 1e-8  # of the largest eigenvalue: gaps below this count as none in a gradient


class Ritz(NamedTuple):
    """M ≈ V diag(values) Vᵀ on the Krylov space; values and columns of V are 0 beyond its dimension."""

    values: Tensor  # (steps,)
    vectors: Tensor  # (N, steps)


def ritz(M: Operator | Tensor, x: Tensor, steps: int) -> Ritz:
    """The Ritz values R and vectors V = QB of `steps` steps of Lanczos from x, where T = B diag(R) Bᵀ.

    Gradients flow as through `lanczos`. A function V f(R) Vᵀ has a derivative even where two Ritz values meet, which
    rounding makes them do on disconnected graphs, while those of R and V by themselves have none; gaps of less than
    1e-8 of the largest value are smoothed away in the gradient.

    Args:
        M: a symmetric operator.
        x: the start, (N,).
        steps: 1 … N.

    >>> values, vectors = ritz(torch.diag(torch.tensor([3.0, 1.0, 0.0])), torch.ones(3), steps=3)
    >>> values.abs().round(decimals=4)
    tensor([0., 1., 3.])
    """
    found = lanczos(M, x, steps)
    alive = found.Q.detach().norm(dim=0) > 0.5
    T = found.tridiagonal()
    # What lies beyond the Krylov space gets eigenvalues of its own, apart from all others, so that it mixes with none.
    beyond = 1 + 2 * T.detach().abs().sum(0).max() * (1 + torch.arange(len(T), dtype=T.dtype, device=T.device))
    values, B = _Eigh.apply(T + torch.diag(beyond.where(~alive, 0.0)))
    vectors = found.Q @ B
    inside = torch.arange(len(T), device=T.device) < alive.sum()  # in rising order, the others come last
    return Ritz(values.where(inside, 0.0), vectors.where(inside, 0.0))


class _Eigh(torch.autograd.Function):
    """`torch.linalg.eigh` with 1/gap in its gradient replaced by gap/(gap² + ε²)."""

    @staticmethod
    def forward(ctx: Any, T: Tensor) -> tuple[Tensor, Tensor]:
        values, vectors = torch.linalg.eigh(T)
        ctx.save_for_backward(values, vectors)
        return values, vectors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g_values: Tensor, g_vectors: Tensor) -> Tensor:
        values, B = ctx.saved_tensors
        gap = values - values.unsqueeze(-1)
        least = _GAP * values.abs().max().clamp(min=torch.finfo(values.dtype).tiny ** 0.25)
        inner = (B.mT @ g_vectors) * gap / (gap**2 + least**2)
        g = B @ (inner + torch.diag(g_values)) @ B.mT
        return (g + g.mT) / 2
