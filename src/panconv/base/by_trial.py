"""A setting that is one number for all trials side by side, or a number for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_number, shown
from panconv.base.tracing import lasting

Numbers = float | tuple[float, ...]


def by_trial(value: Any) -> Numbers | None:
    """A number, or some, one for each trial, as floats; None for what is neither. A list of one is that number."""
    given = value.tolist() if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 1 else value
    if not isinstance(given, (list, tuple)):
        return as_number(value)
    numbers = [number for each in given if (number := as_number(each)) is not None]
    if not numbers or len(numbers) < len(given):
        return None
    return tuple(numbers) if len(numbers) > 1 else numbers[0]


def checked_by_trial(
    value: Any, name: str, sound: Callable[[float], bool], bounds: str, trials: int | None = None
) -> Numbers:
    """The value as floats, one number or one per trial. Raises where a number is unsound, or there are too many or few.

    Args:
        value: a number or S numbers.
        name: of the argument.
        sound: whether a number is within its bounds.
        bounds: what these are, in words, such as "positive and finite".
        trials: S; None for any number of trials.
    """
    numbers = by_trial(value)
    if numbers is None or not all(map(sound, each_of(numbers))):
        raise ValueError(f"{name} must be {bounds}, got {shown(value)}")
    if trials is not None and isinstance(numbers, tuple) and len(numbers) != trials:
        allowed = "one number, for one trial" if trials == 1 else f"a number, or {trials} numbers, one per trial"
        raise ValueError(f"{name} must be {allowed}, got {len(numbers)} of them")
    return numbers


def each_of(numbers: Numbers) -> tuple[float, ...]:
    """The numbers, also where there is but one."""
    return numbers if isinstance(numbers, tuple) else (numbers,)


def differs(numbers: Numbers) -> bool:
    """Whether trials differ in it."""
    return len(set(each_of(numbers))) > 1


class Placed:
    """Remembers numbers by trial as a tensor (S,), float64, on the device that last asked for them: what is recorded as
    a CUDA graph cannot bring numbers from the host."""

    def __init__(self) -> None:
        self._kept: tuple[Numbers, Tensor] | None = None

    def __call__(self, numbers: Numbers, device: torch.device) -> float | Tensor:
        """The tensor; a single number as it is."""
        if not isinstance(numbers, tuple):
            return numbers
        kept = self._kept  # once: another thread may replace it
        if kept is None or kept[0] != numbers or kept[1].device != device:
            with lasting():
                kept = self._kept = numbers, torch.tensor(numbers, dtype=torch.float64, device=device)
        return kept[1]


def plain(value: Any) -> Any:
    """A setting as JSON has it: the numbers of a tensor, an array or a tuple as a list, in a dict too."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim:
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def picked(value: Any, rows: int | Sequence[int]) -> Any:
    """The part of a setting that is one trial's, or that of some: a number that they share stays as it is."""
    if not isinstance(value, (list, tuple)):
        return value
    shared = len(value) == 1  # a list of one is that number, of all trials
    if isinstance(rows, int):
        return value[0 if shared else rows]
    return type(value)(value[0 if shared else row] for row in rows)


def column(numbers: Numbers) -> float | Tensor:
    """A number as it is, and S numbers as (S, 1), float64, which go with features (N, S, F)."""
    return torch.tensor(numbers, dtype=torch.float64).unsqueeze(1) if isinstance(numbers, tuple) else numbers
