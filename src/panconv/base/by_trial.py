"""Settings that trials side by side may have each its own of: a number for all of them, or S numbers, one for each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_number, shown

ByTrial = float | list[float]


def plain(value: Any) -> Any:
    """A setting as JSON has it: the numbers of a tensor, an array or a tuple as a list, in a dict too."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim:
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def checked_by_trial(
    value: Any, name: str, trials: int | None, least: float = 0.0, most: float = math.inf, *, below: float = math.inf
) -> ByTrial:
    """A number, or as many as there are trials, if each is finite and within the bounds."""
    given = plain(value)
    many = isinstance(given, list)
    if many and len(given) != trials:
        raise ValueError(
            f"{name} has {len(given)} numbers, one per trial, but trials is {trials}: give one number, or as many"
        )
    numbers = [as_number(each) for each in (given if many else [given])]
    found = [each for each in numbers if each is not None and least <= each <= most and each < below]
    if len(found) < len(numbers):
        bound = f" and below {below:g}" if below < math.inf else f" and at most {most:g}" if most < math.inf else ""
        raise ValueError(
            f"{name} must be at least {least:g}{bound or ' and finite'}, a number or one per trial, got {shown(value)}"
        )
    return found if many else found[0]


def picked(value: Any, rows: int | list[int]) -> Any:
    """The part of a setting that is that of one trial, or of some: a number that they share stays as it is."""
    value = plain(value)
    if not isinstance(value, list):
        return value
    return value[rows] if isinstance(rows, int) else [value[row] for row in rows]


def column(value: ByTrial) -> float | Tensor:
    """A number as it is, and S numbers as (S, 1), float64, which go with features (N, S, F)."""
    return value if isinstance(value, float) else torch.tensor(value, dtype=torch.float64, device="cpu").unsqueeze(1)
