"""What a regressor is worth: the figures of the nodes whose number is known, each predicted out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from panconv.estimator.worth import Figure

if TYPE_CHECKING:
    from panconv.estimator.regressor import PANRegressor

_DRAWS = 1000  # of the bootstrap
_WIDE = 1.96  # standard errors on either side of an interval of 95 %


class Fit(NamedTuple):
    """How near numbers come to the true ones."""

    r2: Figure
    mae: Figure  # the mean absolute error


@dataclass(frozen=True)
class NumbersWorth:
    """Figures of n nodes, none of which the head had seen the number of when it predicted it.

    Args:
        labels: n.
        fits: by name, of the head, which comes first, and of what stands beside it.
        gain: by how much the absolute error is smaller than by the features alone.
        verdict: whether the graph helps, in a sentence.
        true, said: (n,), the numbers themselves.
    """

    labels: int
    fits: dict[str, Fit]
    gain: Figure
    verdict: str
    true: tuple[float, ...]
    said: tuple[float, ...]


def worth_of_numbers(reg: PANRegressor) -> NumbersWorth | None:
    """The figures of a regressor of one number per node that was fitted on a graph; None where nothing was held out."""
    from panconv.estimator.regressor import PANRegressor

    rows, scores, targets = reg.held_out_
    known = np.isfinite(scores).all(1)
    if not known.any():
        return None
    assert reg._fitted_on is not None
    x = reg._fitted_on.x[rows]
    alone = PANRegressor("linear", cv=reg.cv, random_state=reg.random_state).fit(x, targets[:, 0]).held_out_.scores
    true = targets[known, 0]
    said = {f"head {reg.head_!r}": scores[known, 0], "features alone": alone[known, 0]}
    said["the mean"] = np.full(len(true), true.mean())
    fits = {name: Fit(_r2(true, values), _mean(abs(true - values))) for name, values in said.items()}
    head, other, _ = (abs(true - values) for values in said.values())
    gain = _mean(other - head)
    return NumbersWorth(len(true), fits, gain, _verdict(gain, len(true)), *map(_plain, (true, scores[known, 0])))


def _r2(true: np.ndarray, said: np.ndarray) -> Figure:
    """With the interval that a bootstrap over the nodes gives."""
    drawn = np.random.default_rng(0).integers(len(true), size=(_DRAWS, len(true)))
    lost, away = (true - said) ** 2, (true - true.mean()) ** 2
    spread = away[drawn].sum(1)
    values = 1 - lost[drawn].sum(1) / np.where(spread > 0, spread, np.nan)
    low, high = np.nanquantile(values, (0.025, 0.975)) if np.isfinite(values).any() else (-np.inf, 1.0)
    whole = float(away.sum())
    return Figure(1 - float(lost.sum()) / whole if whole else 0.0, float(low), float(high))


def _mean(each: np.ndarray) -> Figure:
    mean = float(each.mean())
    error = float(each.std(ddof=1)) / len(each) ** 0.5 if len(each) > 1 else np.inf
    return Figure(mean, mean - _WIDE * error, mean + _WIDE * error)


def _verdict(gain: Figure, n: int) -> str:
    words = "It is not clear whether the graph helps"
    if gain.low > 0:
        words = "The graph helps"
    elif gain.high < 0:
        words = "The graph does harm"
    return (
        f"{words}: {-gain.value:+.3g} of mean absolute error against the features alone (95 % interval "
        f"{-gain.high:+.3g} to {-gain.low:+.3g}, {n} nodes, each predicted without itself)."
    )


def _plain(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())
