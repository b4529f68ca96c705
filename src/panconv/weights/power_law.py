"""The power law: the weight of a path falls with its length at a rate that one number tells, the temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import as_number, checked_flag, checked_length, shown
from panconv.weights.path_weights import Exponential, PathWeights
from panconv.weights.reading import as_numbers, placed


class PowerLaw(Exponential, PathWeights):
    """wₙ = exp(−n^α/T): one trained number, the temperature (Section 4.2). T → 0 leaves the identity, an MLP.

    Args:
        L: the longest length.
        alpha: α ≥ 1.
        temperature: the start of T > 0, a number, or (S,) for S trials.
        trained: whether T is trained (through log T, so that it stays positive) or fixed.
        normalized: whether the weights of the lengths 0 … L are divided by their sum, so that a warmer law reaches
            further and adds up to no more. Effective lengths, whose methods divide by Z, are not asked.
    """

    log_temperature: Tensor
    normalized: bool = False  # also of those pickled before it could be

    def __init__(
        self,
        L: int,
        alpha: float = 1.0,
        temperature: float | Sequence[float] | Tensor = 1.0,
        trained: bool = True,
        normalized: bool = False,
    ) -> None:
        super().__init__()
        power = as_number(alpha)
        if power is None or not 1 <= power < math.inf:
            raise ValueError(f"alpha must be a number of at least 1, for E(n) = n^alpha, got {shown(alpha)}")
        try:
            start = as_numbers(temperature, "temperature").detach().log()
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise TypeError(f"temperature must be a number, or (S,) numbers, got {shown(temperature)}") from None
        if start.dim() > 1 or not bool(torch.isfinite(start).all()):
            raise ValueError(f"temperature must be positive and finite, a number or (S,), got {shown(temperature)}")
        self.L, self.alpha, self.trained = checked_length(L), power, checked_flag(trained, "trained")
        self.normalized, self._start = checked_flag(normalized, "normalized"), start
        if trained:
            self.log_temperature = nn.Parameter(placed(start))
        else:
            self.register_buffer("log_temperature", placed(start))

    @property
    def temperature(self) -> Tensor:
        """T, () or (S,)."""
        return self.log_temperature.exp()

    def forward(self) -> Tensor:
        return self.exact().to(self.log_temperature.dtype)

    def log(self) -> Tensor:
        log = self.log_at(self._lengths())
        return log - log.logsumexp(0) if self.normalized else log

    def log_over(self, reference: Tensor) -> Tensor:
        return self.log_over_at(self._lengths(), reference)

    def log_at(self, lengths: Tensor) -> Tensor:
        """−l^α/T at any lengths (K,), as (K,) or (K, S), float64."""
        beta = self._beta()
        return -(lengths.double() ** self.alpha).reshape(-1, *[1] * beta.dim()) * beta

    def log_over_at(self, lengths: Tensor, reference: Tensor) -> Tensor:
        """log |w_l/w_r| at any lengths (K,), of which r are places."""
        energy, beta = lengths.double() ** self.alpha, self._beta()
        apart = energy.reshape(-1, *[1] * reference.dim()) - energy[reference]
        # The last is 0: it only says that w_r is held fixed where a derivative is taken.
        return -apart * beta - energy[reference] * (beta - beta.detach())

    def _beta(self) -> Tensor:
        """1/T, () or (S,), float64."""
        beta = (-self.log_temperature.double()).exp()
        return beta.clamp(max=torch.finfo(beta.dtype).max)  # length 0 must stay 0 however cold it is

    def _lengths(self) -> Tensor:
        return torch.arange(self.L + 1, device=self.log_temperature.device)

    def T(self) -> Tensor:
        return self.temperature

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.log_temperature.copy_(self._start)

    def spec(self) -> dict[str, Any]:
        spec = {"kind": "power-law", "alpha": self.alpha, "temperature": self.temperature.tolist()}
        spec["trained"] = self.trained
        return spec | ({"normalized": True} if self.normalized else {})
