"""The one way to choose by validation: operators with settings, ranked by how their trainings did.

Never imports torch.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from panconv.base.words import in_words
from panconv.records.record import Record


@dataclass(frozen=True)
class Point:
    """An operator, with settings, and how its trials did on the validation nodes."""

    operator: dict[str, Any]
    val_accuracy: float  # mean over the trials, each at its best epoch, as its setting `keep` says
    val_loss: float  # ∞ where it is not known
    std: float  # of the accuracy
    settings: dict[str, Any] = field(default_factory=dict)
    trials: int = 0

    @property
    def weights(self) -> Any:
        return self.operator["weights"]

    def flat(self) -> dict[str, Any]:
        """Operator and settings in one, the weights in words."""
        flat = {**self.operator, **self.settings}
        if (weights := flat.get("weights")) is None:
            return flat
        equal = isinstance(weights, list) and len(weights) > 1 and all(k == weights[0] for k in weights)
        return {**flat, "weights": "all equal" if equal else in_words(weights)}

    def words(self, names: Iterable[str]) -> str:
        """What it is in some of these, by name."""
        flat = self.flat()
        shown = {name: flat[name] for name in names if name in flat}
        return ", ".join(
            f"{name} {f'{value:g}' if isinstance(value, float) else value}" for name, value in shown.items()
        )


def std(values: Sequence[float]) -> float:
    """The standard deviation; 0 of a single value, which has none."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def key_of(operator: dict[str, Any] | None, settings: dict[str, Any]) -> str:
    """What two points have in common that are the same one."""
    return json.dumps([operator or {}, settings], sort_keys=True)


def ranked(records: Sequence[Record]) -> list[Point]:
    """The operators of some records, each with its settings, best mean validation accuracy first; a tie goes to the
    lower loss."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key_of(record.operator, record.settings), []).append(record)
    points = []
    for group in groups.values():
        accuracy = [record.val_accuracy for record in group if record.best_epoch != 0]
        loss = [math.inf if record.val_loss is None else record.val_loss for record in group]
        # A training that never had a finite loss: the operator is no candidate.
        mean = statistics.fmean(accuracy) if len(accuracy) == len(group) else 0.0
        one = group[0]
        points.append(
            Point(one.operator or {}, mean, statistics.fmean(loss), std(accuracy), one.settings, trials=len(group))
        )
    return sorted(points, key=lambda point: (-point.val_accuracy, point.val_loss))
