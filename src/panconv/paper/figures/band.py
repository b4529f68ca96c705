"""A learning curve of some trials as a band: its mean and its spread. Never imports matplotlib."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from panconv.records.ranking import std
from panconv.records.record import Record

# A curve of a record, what it is called, and what its values are multiplied with.
CURVES = (("accuracy_curve", "validation accuracy (%)", 100.0), ("loss_curve", "validation loss", 1.0))


def band(runs: Sequence[Record], name: str, scale: float) -> tuple[list[int], list[float], list[float]]:
    """Epochs, means and standard deviations of a curve, over the trials that still ran; no epoch without a number."""
    at: dict[int, list[float]] = {}
    for run in runs:
        for epoch, value in enumerate(getattr(run, name), 1):
            if value is not None:
                at.setdefault(epoch, []).append(scale * value)
    epochs = sorted(at)
    return epochs, [statistics.fmean(at[epoch]) for epoch in epochs], [std(at[epoch]) for epoch in epochs]
