"""Which of two things loses less, row by row, and how sure that is."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mean_and_error(values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The weighted mean of the rows whose value is known, and its standard error; NaN where none is."""
    known = values.isfinite()
    if not bool(known.any()):
        return values.new_tensor(torch.nan), values.new_tensor(torch.nan)
    share = weight[known] / weight[known].sum()
    mean = (share * values[known]).sum()
    return mean, (share.square() * (values[known] - mean).square()).sum().sqrt()


def standard_errors(lost: Tensor, other: Tensor, weight: Tensor) -> float:
    """By how many standard errors the rows (n,) lose more by the one than by the other.

    Rows are compared one by one, so what is hard for both does not count.
    """
    mean, error = (float(each) for each in mean_and_error(lost - other, weight))
    if error > 0:
        return mean / error
    return math.copysign(math.inf, mean) if mean > 0 or mean < 0 else 0.0
