"""Where the weight wₙ of a path of length n comes from: trained freely, fixed, or a Boltzmann factor.

Eq. 1 weighs every path l by exp(−E[l]/T); the paper then lets E depend on the length alone, wₙ = exp(−E(n)/T).

Each is a module that returns w of shape (L + 1,), or (L + 1, S) for S trials side by side. Parameters keep the trial
first, (S, …), so that the state of S trials is the stack of S single states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import checked_positive
from panconv.weights.path_weights import Exponential, PathWeights, at, beside, flip
from panconv.weights.power_law import PowerLaw as PowerLaw  # where pickled layers look for it
from panconv.weights.reading import as_weights, placed


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
        self.k = nn.Parameter(placed(flip(start)))

    def forward(self) -> Tensor:
        return flip(self.k)

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.k.copy_(flip(self._start))

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
        self.register_buffer("k", placed(flip(start).contiguous()))
        self.positive = bool((start >= 0).all())

    def forward(self) -> Tensor:
        return flip(self.k)

    def spec(self) -> dict[str, Any]:
        return {"kind": "fixed", "k": self().tolist()}

    def reset_parameters(self) -> None:
        """The numbers given, or loaded, where memory of a meta tensor was taken up without any."""
        if self._start is not None:
            self.k.copy_(flip(self._start))

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        if not self.k.is_meta:
            self._start, self.positive = flip(self.k).clone(), bool((self.k >= 0).all())


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
        self.energies = nn.Parameter(placed(flip(start)))

    def forward(self) -> Tensor:
        return self.exact().to(self.energies.dtype)

    def log(self) -> Tensor:
        return -flip(self.energies).double() / self.temperature

    def log_over(self, reference: Tensor) -> Tensor:
        energies = flip(self.energies).double()
        return -(beside(energies, reference) - at(energies.detach(), reference)) / self.temperature

    def T(self) -> float:
        return self.temperature

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.energies.copy_(flip(self._start))

    def spec(self) -> dict[str, Any]:
        return {"kind": "boltzmann", "energies": flip(self.energies).tolist(), "temperature": self.temperature}
