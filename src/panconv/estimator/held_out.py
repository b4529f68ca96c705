"""`HeldOut`: what was predicted of labelled nodes by a head that had not seen their labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torch import Tensor


class HeldOut(NamedTuple):
    """The labelled nodes, each predicted out of fold, as far as it was ever held out."""

    rows: np.ndarray  # (n,), their row numbers
    scores: np.ndarray  # (n, C), uncalibrated; of a regressor numbers; NaN for a node that was never held out
    targets: np.ndarray  # (n, C), of 0 and 1; of a regressor the numbers that are true

    @staticmethod
    def of(rows: np.ndarray, scores: Tensor, targets: Tensor) -> HeldOut:
        return HeldOut(rows, scores.double().numpy(), targets.double().numpy())

    @property
    def told(self) -> HeldOut:
        """Those that were held out."""
        those = np.isfinite(self.scores).all(1)
        return HeldOut(self.rows[those], self.scores[those], self.targets[those])
