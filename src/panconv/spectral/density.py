"""The density of the whole spectrum of an operator too large to diagonalise, by stochastic Lanczos quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_seed, kind_of
from panconv.base.random import keys, uniform
from panconv.spectral.lanczos import lanczos
from panconv.spectral.operator import Operator, as_operator, check_symmetric

_SIDE_BY_SIDE = 8  # starts in one run of Lanczos: N · steps numbers are held for each


class Density(NamedTuple):
    """Points on the line with weights of sum 1: Σ weights · f(values) estimates (1/N) Σᵢ f(λᵢ)."""

    values: Tensor  # (starts · steps,)
    weights: Tensor  # (starts · steps,)


def density(
    M: Operator | Tensor,
    steps: int = 80,
    starts: int = 32,
    seed: int = 0,
    callback: Callable[[int], None] | None = None,
) -> Density:
    """The spectral density of a symmetric operator, by Gauss quadrature from random starts.

    A random start x of norm 1 sees λᵢ with weight (ψᵢᵀx)², 1/N on average. `steps` steps of Lanczos turn this measure
    into the Ritz values with the weights e₁ᵀb², exact for polynomials up to degree 2·steps − 1 (Golub and Welsch). The
    error of a mean over the spectrum falls as 1/√(N · starts).

    Args:
        M: a symmetric operator.
        steps: of Lanczos; at most N are taken.
        starts: how many random starts, ±1 on each node.
        seed: of the starts.
        callback: called with the number of starts that are done.

    >>> ring = torch.stack([torch.arange(50), (torch.arange(50) + 1) % 50])
    >>> found = density(MET(Walks(torch.cat([ring, ring.flip(0)], 1), 1), [0.0, 1.0], method=6), steps=30)
    >>> round(float((found.weights * found.values**2).sum()), 1)  # (1/N) tr M² = ½
    0.5
    """
    M = as_operator(M, torch.float64)
    check_symmetric(M)
    N, device = M.shape[0], M.device
    if not N:
        raise ValueError("M must have at least one node, got shape (0, 0): there is no spectrum")
    steps, starts, seed = min(checked_count(steps, "steps"), N), checked_count(starts, "starts"), checked_seed(seed)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of the starts that are done, got {kind_of(callback)}")
    values, weights = [], []
    with torch.no_grad():
        for first in range(0, starts, _SIDE_BY_SIDE):
            trial = torch.arange(first, min(first + _SIDE_BY_SIDE, starts), device=device)
            signs = uniform(keys(trial, seed), (N,)).T.double().round() * 2 - 1  # (N, B)
            # Beyond an exhausted space it is 0, which the first coordinate, and so the weight, knows nothing of.
            theta, B = torch.linalg.eigh(lanczos(M, signs, steps).tridiagonal())
            values.append(theta.flatten())
            weights.append((B[:, 0] ** 2).flatten())
            if callback is not None:
                callback(len(trial))
    return Density(torch.cat(values), torch.cat(weights) / starts)
