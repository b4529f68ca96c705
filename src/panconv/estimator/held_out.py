"""`HeldOut`: what was predicted of labelled nodes by a head that had not seen their labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torch import Tensor


class HeldOut(NamedTuple):
    """The labelled nodes that were predicted out of fold. There may be none."""

    rows: np.ndarray  # (n,), their row numbers
    scores: np.ndarray  # (n, C), uncalibrated; of a regressor the numbers that were predicted
    targets: np.ndarray  # (n, C), of 0 and 1; of a regressor the numbers that are true

    @staticmethod
    def of(rows: np.ndarray, scores: Tensor, targets: Tensor) -> HeldOut:
        """From all labelled nodes, whose scores are NaN where they were never held out."""
        told = scores.isfinite().all(1)
        return HeldOut(rows[told.numpy()], scores[told].double().numpy(), targets[told].double().numpy())
