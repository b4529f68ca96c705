"""Points of a grid, ranked by how their trainings did on the validation nodes. Never imports torch."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from panconv.records.runs import Run


@dataclass(frozen=True)
class Point:
    """A point of a grid and how its trials did on the validation nodes."""

    weights: Any
    val_accuracy: float  # mean over the trials, at each one's lowest validation loss
    val_loss: float
    std: float  # of the accuracy


def ranked(runs: Sequence[Run]) -> list[Point]:
    """The points that runs belong to, best mean validation accuracy first; a tie goes to the lower loss."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(json.dumps(run.weights, sort_keys=True), []).append(run)
    points = []
    for group in groups.values():
        chosen = [run for run in group if run.best_epoch]
        accuracy = [run.val_accuracy[run.best_epoch - 1] for run in chosen]
        loss = [x for run in chosen if (x := run.val_loss[run.best_epoch - 1]) is not None]
        spread = statistics.stdev(accuracy) if len(accuracy) > 1 else 0.0
        if len(loss) < len(group):  # a training that never had a finite loss: the point is no candidate
            points.append(Point(group[0].weights, 0.0, math.inf, spread))
        else:
            points.append(Point(group[0].weights, statistics.fmean(accuracy), statistics.fmean(loss), spread))
    return sorted(points, key=lambda point: (-point.val_accuracy, point.val_loss))
