"""`Deadline`: what `fit` asks which trials go on, until a time has come."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from panconv.training.narrowing import Cut


class Deadline:
    """Ends all trials when the time has come, once each has an epoch to go back to; until then another rule decides.

    Args:
        end: by `time.perf_counter`.
        to_come: how many more trainings, as long as this one, there is to be time for.
        rule: what else may end trials.
    """

    def __init__(self, end: float, to_come: int = 0, rule: Cut | None = None) -> None:
        self._began, self._end, self._to_come, self._rule = time.perf_counter(), end, to_come, rule

    def __call__(self, epoch: int, history: dict[str, Tensor], best_epoch: Tensor) -> Tensor | None:
        now = time.perf_counter()
        if now + self._to_come * (now - self._began) > self._end and bool((best_epoch > 0).all()):
            return torch.zeros_like(best_epoch, dtype=torch.bool)
        found: Any = None if self._rule is None else self._rule(epoch, history, best_epoch)
        return found
