"""Where the weight wₙ of a path of length n comes from: trained freely, fixed, a Boltzmann factor, or a power law.

Eq. 1 weighs every path l by exp(−E[l]/T); the paper then lets E depend on the length alone, wₙ = exp(−E(n)/T).

Each is a module that returns w of shape (L + 1,), or (L + 1, S) for S trials side by side. Parameters keep the trial
first, (S, …), so that the state of S trials is the stack of S single states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import as_number, checked_flag, checked_length, checked_positive, shown
from panconv.weights.reading import as_numbers, as_weights, placed

LOG_2 = math.log(2)
MOST = 600.0  # the largest logarithm of a quotient of weights that is taken: what is larger belongs to no path


class PathWeights(nn.Module):
    """Base of the path weights. `forward()` is w; `log()` is log w where w is positive by construction."""

    positive = False
    may_overflow = False  # whether a finite parameter can make an infinite weight
    L: int

    def forward(self) -> Tensor:  # (L + 1,) or (L + 1, S)
        raise NotImplementedError

    def exact(self) -> Tensor:
        """w in float64, from the stored numbers and not from a w that was rounded to their dtype."""
        return self().double()

    def held(self) -> Tensor:
        """w to the last digit, in float64 or in the dtype that its numbers are stored in."""
        return self()

    def log(self) -> Tensor:
        """log |w|, float64; −∞ where w is 0."""
        return self.exact().abs().log()

    def over(self, reference: Tensor) -> Tensor:
        """wₙ/|w_r| for n = 0 … L, float64, (L+1, *R[, S]), of lengths r (*R[, S]).

        A length that weighs much more than r is cut off: r is to be the one that weighs most, of those that count. What
        is common to all weights cancels here, before anything is rounded, and so never enters what is divided by Z. A
        gradient through r itself would cancel too, and is not followed.
        """
        w = self.exact()
        largest = _at(w.detach(), reference).abs()
        return (_beside(w, reference) / largest.where(largest > 0, 1)).clamp(-math.exp(MOST), math.exp(MOST))

    def over_frexp(self, reference: Tensor) -> tuple[Tensor, Tensor]:
        """What `over` is, without a bound, as a mantissa near 1 and a power of 2: wₙ/|w_r| = mantissa · 2^exponent."""
        w = self.exact()
        exponent = torch.frexp(w.detach())[1].double()
        mantissa = w * torch.exp2(-(exponent / 2).floor()) * torch.exp2(-(exponent / 2).ceil())
        largest = _at(mantissa.detach(), reference).abs()
        apart = _beside(exponent, reference) - _at(exponent, reference)
        return _beside(mantissa, reference) / largest.where(largest > 0, 1), apart

    def T(self) -> Tensor | float:
        """The temperature in wₙ = exp(−E(n)/T); 1 for weights that have none."""
        return 1.0

    def reset_parameters(self) -> None:
        """Back to the start."""

    def spec(self) -> dict[str, Any]:
        """What `weights_from` needs to make it again as it is now, as plain JSON."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.spec().items() if key != "kind")


class Exponential:
    """Positive weights of some terms by their logarithm: `log` and `log_over` say all the rest."""

    positive = True
    may_overflow = False

    def log(self) -> Tensor:
        """log wₙ, float64."""
        raise NotImplementedError

    def log_over(self, reference: Tensor) -> Tensor:
        """log wₙ/w_r of places r, where w_r is held fixed."""
        raise NotImplementedError

    def exact(self) -> Tensor:
        return self.log().exp()

    def held(self) -> Tensor:
        return self.exact()

    def over(self, reference: Tensor) -> Tensor:
        return self.log_over(reference).clamp(max=MOST).exp()

    def over_frexp(self, reference: Tensor) -> tuple[Tensor, Tensor]:
        log = self.log_over(reference)
        exponent = (log.detach() / LOG_2).round().clamp(-1e15, 1e15)
        return (log - LOG_2 * exponent).clamp(max=1).exp(), exponent


class Free(PathWeights):
    """k(n) trained without constraint, for the methods that do not divide by Z (eq. 10).

    Args:
        k: the start, (L + 1,) or (L + 1, S).
    """

    def __init__(self, k: Tensor | Sequence[float]) -> None:
        super().__init__()
        start = as_weights(k, "k")
        self.L = start.size(0) - 1
        self._start = start
        self.k = nn.Parameter(placed(_flip(start)))

    def forward(self) -> Tensor:
        return _flip(self.k)

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.k.copy_(_flip(self._start))

    def spec(self) -> dict[str, Any]:
        return {"kind": "free", "k": self().tolist()}


class Fixed(PathWeights):
    """k(n) given and left alone. Negative ones are legal where Z stays positive.

    Args:
        k: (L + 1,) or (L + 1, S).
    """

    k: Tensor
    _start: Tensor | None = None  # of those pickled before there was one

    def __init__(self, k: Tensor | Sequence[float]) -> None:
        super().__init__()
        start = as_weights(k, "k")
        self.L = start.size(0) - 1
        self._start = start
        self.register_buffer("k", placed(_flip(start).contiguous()))
        self.positive = bool((start >= 0).all())

    def forward(self) -> Tensor:
        return _flip(self.k)

    def spec(self) -> dict[str, Any]:
        return {"kind": "fixed", "k": self().tolist()}

    def reset_parameters(self) -> None:
        """The numbers given, or loaded, where memory of a meta tensor was taken up without any."""
        if self._start is not None:
            self.k.copy_(_flip(self._start))

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        if not self.k.is_meta:
            self._start, self.positive = _flip(self.k).clone(), bool((self.k >= 0).all())


class Boltzmann(Exponential, PathWeights):
    """wₙ = exp(−E(n)/T) with trained energies (eq. 7), positive whatever the energies.

    Args:
        energies: the start of E(n), (L + 1,) or (L + 1, S); zeros weight every length alike.
        temperature: T > 0, kept fixed: only E/T matters, and E is trained.
    """

    may_overflow = True

    def __init__(self, energies: Tensor | Sequence[float], temperature: float = 1.0) -> None:
        super().__init__()
        start = as_weights(energies, "energies")
        self.L = start.size(0) - 1
        self.temperature = checked_positive(temperature, "temperature")
        self._start = start
        self.energies = nn.Parameter(placed(_flip(start)))

    def forward(self) -> Tensor:
        return self.exact().to(self.energies.dtype)

    def log(self) -> Tensor:
        return -_flip(self.energies).double() / self.temperature

    def log_over(self, reference: Tensor) -> Tensor:
        energies = _flip(self.energies).double()
        return -(_beside(energies, reference) - _at(energies.detach(), reference)) / self.temperature

    def T(self) -> float:
        return self.temperature

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.energies.copy_(_flip(self._start))

    def spec(self) -> dict[str, Any]:
        return {"kind": "boltzmann", "energies": _flip(self.energies).tolist(), "temperature": self.temperature}


class PowerLaw(Exponential, PathWeights):
    """wₙ = exp(−n^α/T): one trained number, the temperature (Section 4.2). T → 0 leaves the identity, an MLP.

    Args:
        L: the longest length.
        alpha: α ≥ 1.
        temperature: the start of T > 0, a number, or (S,) for S trials.
        trained: whether T is trained (through log T, so that it stays positive) or fixed.
    """

    log_temperature: Tensor

    def __init__(
        self, L: int, alpha: float = 1.0, temperature: float | Sequence[float] | Tensor = 1.0, trained: bool = True
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
        self._start = start
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
        return self.log_at(self._lengths())

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
        temperature = self.temperature.tolist()
        return {"kind": "power-law", "alpha": self.alpha, "temperature": temperature, "trained": self.trained}


def _beside(values: Tensor, reference: Tensor) -> Tensor:
    """Values (L+1,) or (L+1, S) in a shape that goes with lengths (*R,) or (*R, S)."""
    return values.reshape(values.size(0), *[1] * (reference.dim() - values.dim() + 1), *values.shape[1:])


def _at(values: Tensor, reference: Tensor) -> Tensor:
    """The value of each length (*R,) or (*R, S), of values (L+1,) or (L+1, S)."""
    return values[reference] if values.dim() == 1 else values.gather(0, reference.flatten(0, -2)).view(reference.shape)


def _flip(w: Tensor) -> Tensor:
    """(L + 1, S) from (S, L + 1) and back; a single trial's (L + 1,) stays."""
    return w.mT if w.dim() == 2 else w
