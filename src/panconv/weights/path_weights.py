"""What all path weights are: modules that return w, and say what they are in plain JSON."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

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
        largest = at(w.detach(), reference).abs()
        return (beside(w, reference) / largest.where(largest > 0, 1)).clamp(-math.exp(MOST), math.exp(MOST))

    def over_frexp(self, reference: Tensor) -> tuple[Tensor, Tensor]:
        """What `over` is, without a bound, as a mantissa near 1 and a power of 2: wₙ/|w_r| = mantissa · 2^exponent."""
        w = self.exact()
        exponent = torch.frexp(w.detach())[1].double()
        mantissa = w * torch.exp2(-(exponent / 2).floor()) * torch.exp2(-(exponent / 2).ceil())
        largest = at(mantissa.detach(), reference).abs()
        apart = beside(exponent, reference) - at(exponent, reference)
        return beside(mantissa, reference) / largest.where(largest > 0, 1), apart

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


def beside(values: Tensor, reference: Tensor) -> Tensor:
    """Values (L+1,) or (L+1, S) in a shape that goes with lengths (*R,) or (*R, S)."""
    return values.reshape(values.size(0), *[1] * (reference.dim() - values.dim() + 1), *values.shape[1:])


def at(values: Tensor, reference: Tensor) -> Tensor:
    """The value of each length (*R,) or (*R, S), of values (L+1,) or (L+1, S)."""
    return values[reference] if values.dim() == 1 else values.gather(0, reference.flatten(0, -2)).view(reference.shape)


def flip(w: Tensor) -> Tensor:
    """(L + 1, S) from (S, L + 1) and back; a single trial's (L + 1,) stays."""
    return w.mT if w.dim() == 2 else w
