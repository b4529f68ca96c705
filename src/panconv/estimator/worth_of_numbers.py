"""What a regressor is worth: the figures of the nodes whose number is known, each predicted out of fold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from panconv.estimator.figure import Figure, helps

if TYPE_CHECKING:
    from panconv.estimator.regressor import PANRegressor

_DRAWS = 1000  # of the bootstrap
_AT_ONCE = 2**20  # values that are drawn at a time
_SAME = 1e-6  # of the numbers' range, by which two heads may differ that say the same


class Fit(NamedTuple):
    """How near numbers come to the true ones."""

    r2: Figure  # NaN of numbers that are all the same
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
    """The figures of a regressor of one number per node that was fitted on a graph; None where nothing was held out, or
    where it was loaded: what stands beside it is not saved."""
    beside = reg._beside
    if beside is None:
        return None
    _, scores, targets = reg.held_out_
    said = {f"head {reg.head_!r}": scores[:, 0], **{name: each[:, 0].numpy() for name, each in beside.items()}}
    known = np.isfinite(list(said.values())).all(0)
    if not known.any():
        return None
    true = targets[known, 0]
    said = {name: values[known] for name, values in said.items()}
    fits = {name: Fit(_r2(true, values), Figure.mean(abs(true - values))) for name, values in said.items()}
    head, other, *_ = said.values()
    gain = Figure.mean(abs(true - other) - abs(true - head))
    return NumbersWorth(len(true), fits, gain, _verdict(gain, true, head, other), _plain(true), _plain(head))


def _r2(true: np.ndarray, said: np.ndarray) -> Figure:
    """With the interval that a bootstrap over the nodes gives; NaN of numbers that are all the same."""
    if true.min() == true.max():
        return Figure(math.nan, math.nan, math.nan)
    random, n = np.random.default_rng(0), len(true)
    lost, away = (true - said) ** 2, (true - true.mean()) ** 2
    values, at_once = [], max(1, _AT_ONCE // n)
    for first in range(0, _DRAWS, at_once):
        drawn = random.integers(n, size=(min(at_once, _DRAWS - first), n))
        spread = away[drawn].sum(1)
        values.append(1 - lost[drawn].sum(1) / np.where(spread > 0, spread, np.nan))
    each = np.concatenate(values)
    low, high = np.nanquantile(each, (0.025, 0.975))
    return Figure(1 - float(lost.sum() / away.sum()), float(low), float(high))


def _verdict(gain: Figure, true: np.ndarray, head: np.ndarray, other: np.ndarray) -> str:
    """Whether the graph helps, by what the head and the features alone say."""
    nodes = f"{len(true)} nodes, each predicted without itself"
    if true.min() == true.max():
        return f"The {len(true)} numbers that are known are all {true[0]:.4g}: they tell nothing apart."
    if np.allclose(head, other, rtol=0, atol=_SAME * np.ptp(true)):
        return f"The graph adds nothing: the head says the same as the features alone ({nodes})."
    less, low, high = (0.0 - each for each in (gain.value, gain.high, gain.low))  # where it is 0, not −0
    return (
        f"{helps(gain)}: {less:+.3g} of mean absolute error against the features alone (95 % interval {low:+.3g} to "
        f"{high:+.3g}, {nodes})."
    )


def _plain(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())
