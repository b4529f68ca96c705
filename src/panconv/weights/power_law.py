"""The power law: the weight of a path falls with its length at a rate that one number tells, the temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from panconv.base.by_trial import Numbers, checked_by_trial, each_of
from panconv.base.checks import as_number, checked_flag, checked_length, shown
from panconv.weights.path_weights import Exponential, PathWeights, at, beside
from panconv.weights.reading import as_numbers, placed

_MOST_ENERGY = 700.0  # its logarithm: beyond it float64 has no l^α, and infinity has no gradient


class PowerLaw(Exponential, PathWeights):
    """wₙ = exp(−n^α/T): one trained number, the temperature (Section 4.2). T → 0 leaves the identity, an MLP.

    Args:
        L: the longest length.
        alpha: α ≥ 1; where it is trained its start, a number, or (S,) for S trials.
        temperature: the start of T > 0, a number, or (S,) for S trials.
        trained: whether T is trained or fixed; ``"alpha"`` to train α in its place, ``"both"`` to train both. Each is
            trained through its logarithm, so that it stays positive: a trained α may go below 1.
        normalized: whether the weights of the lengths 0 … L are divided by their sum, so that a warmer law reaches
            further and adds up to no more. Effective lengths, whose methods divide by Z, are not asked.
    """

    log_temperature: Tensor
    log_alpha: Tensor  # only where α is trained
    normalized: bool = False  # also of those pickled before it could be

    def __init__(
        self,
        L: int,
        alpha: float | Sequence[float] | Tensor = 1.0,
        temperature: float | Sequence[float] | Tensor = 1.0,
        trained: bool | str = True,
        normalized: bool = False,
    ) -> None:
        super().__init__()
        self.L, self.trained = checked_length(L), _checked_trained(trained)
        self.normalized = checked_flag(normalized, "normalized")
        start = _log_temperature(temperature)
        if trains_alpha(self.trained):
            trials = start.numel() if start.dim() else None
            bounds = "a number of at least 1, or (S,) of them, for E(n) = n^alpha"
            numbers = checked_by_trial(alpha, "alpha", lambda each: 1 <= each < math.inf, bounds, trials)
            start, self._start_alpha = torch.broadcast_tensors(start, _log(numbers).to(start))
            self.log_alpha = nn.Parameter(placed(self._start_alpha))
        else:
            self.__dict__["alpha"] = _fixed_alpha(alpha)  # below the property, where older pickles have it too
        self._start = start
        if self.trained in (True, "both"):
            self.log_temperature = nn.Parameter(placed(start))
        else:
            self.register_buffer("log_temperature", placed(start))

    @classmethod
    def again(cls, L: int, spec: dict[str, Any]) -> PowerLaw:
        """The law that a `spec` tells of, without its kind: a trained α may stand below 1, where none may start."""
        if not trains_alpha(spec.get("trained")):
            return cls(L, **spec)
        bounds = "positive and finite where it is trained, a number or (S,)"
        numbers = checked_by_trial(spec.get("alpha", 1.0), "alpha", lambda each: 0 < each < math.inf, bounds)
        law = cls(L, **{**spec, "alpha": [max(each, 1.0) for each in each_of(numbers)]})
        law._start_alpha = _log(numbers).to(law._start).expand_as(law._start)
        law.reset_parameters()
        return law

    @property
    def alpha(self) -> float | Tensor:
        """α: the number given or, where it is trained, as it is now, () or (S,)."""
        return self.log_alpha.exp() if trains_alpha(self.trained) else self.__dict__["alpha"]

    @property
    def is_additive(self) -> bool:
        """Whether E of a path is the sum of its edges' and stays so: α is 1, and not trained."""
        return not trains_alpha(self.trained) and bool(self.alpha == 1)

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
        return -beside(self._energy(lengths), beta) * beta

    def log_over_at(self, lengths: Tensor, reference: Tensor) -> Tensor:
        """log |w_l/w_r| at any lengths (K,), of which r are places."""
        energy, beta = self._energy(lengths), self._beta()
        held = at(energy.detach(), reference)
        # The last is 0: it only says that w_r is held fixed where a derivative is taken.
        return -(beside(energy, reference) - held) * beta - held * (beta - beta.detach())

    def _energy(self, lengths: Tensor) -> Tensor:
        """l^α at lengths (K,), as (K,), or (K, S) for trials that train α, float64."""
        if not trains_alpha(self.trained):
            return lengths.double() ** self.alpha
        return power(lengths.double(), self.log_alpha.double().exp())

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
            if trains_alpha(self.trained):
                self.log_alpha.copy_(self._start_alpha)

    def spec(self) -> dict[str, Any]:
        alpha = self.alpha.tolist() if isinstance(self.alpha, Tensor) else self.alpha
        spec = {"kind": "power-law", "alpha": alpha, "temperature": self.temperature.tolist(), "trained": self.trained}
        return spec | ({"normalized": True} if self.normalized else {})


def power(lengths: Tensor, alpha: Tensor) -> Tensor:
    """l^α of lengths (K,) and exponents () or (S,), as (K,) or (K, S), with a finite gradient to α.

    A length 0 has energy 0 and gradient 0, and no energy grows beyond float64, where α moves it no more.
    """
    lengths = lengths.reshape(-1, *[1] * alpha.dim())
    there = lengths > 0
    base = lengths.where(there, 1.0)
    return (base ** torch.minimum(alpha, _MOST_ENERGY / base.clamp(min=1.0).log())).where(there, 0.0)


def trains_alpha(trained: object) -> bool:
    """Whether a law's `trained` says that its exponent is."""
    return isinstance(trained, str) and trained in ("alpha", "both")


def _checked_trained(trained: Any) -> bool | str:
    if trains_alpha(trained):
        return trained
    if not isinstance(trained, (bool, np.bool_)):
        raise ValueError(f"trained must be True (for T), False, 'alpha' or 'both', got {shown(trained)}")
    return bool(trained)


def _log_temperature(temperature: Any) -> Tensor:
    """The start of log T, () or (S,)."""
    try:
        start = as_numbers(temperature, "temperature").detach().log()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"temperature must be a number, or (S,) numbers, got {shown(temperature)}") from None
    if start.dim() > 1 or not bool(torch.isfinite(start).all()):
        raise ValueError(f"temperature must be positive and finite, a number or (S,), got {shown(temperature)}")
    return start


def _fixed_alpha(alpha: Any) -> float:
    number = as_number(alpha)
    if number is None or not 1 <= number < math.inf:
        raise ValueError(f"alpha must be a number of at least 1, for E(n) = n^alpha, got {shown(alpha)}")
    return number


def _log(numbers: Numbers) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu").log()
