"""A plot of learning curves: validation accuracy and loss over the epochs, mean and spread of the trials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from panconv.base.files import replacing

_INK, _BAND = "#1f4e79", "#9cc3e6"


def learning_curves(histories: Mapping[str, Mapping[str, Tensor]], path: Path) -> None:
    """Draws a column per graph from `FitResult.history`, and saves it in the format of the path's ending."""
    figure = Figure(figsize=(4.2 * len(histories), 5.6), layout="constrained")
    axes = figure.subplots(2, len(histories), sharex="col", squeeze=False)
    rows = (("val_accuracy", "validation accuracy (%)", 100.0), ("val_loss", "validation loss", 1.0))
    for column, (title, history) in enumerate(histories.items()):
        for row, (name, label, scale) in enumerate(rows):
            _band(axes[row, column], history[name].numpy() * scale)
            if column == 0:
                axes[row, column].set_ylabel(label)
        axes[0, column].set_title(title)
        axes[1, column].set_xlabel("epoch")
    trials = next(iter(histories.values()))["val_loss"].shape[1]
    figure.suptitle(f"PAN: mean and standard deviation of {trials} trial{'s' * (trials > 1)}")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _band(axis, values: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    values = np.where(np.isfinite(values), values, np.nan).astype(float)  # a loss may turn infinite
    running = ~np.isnan(values).all(axis=1)
    values, epochs = values[running], np.arange(1, len(values) + 1)[running]
    mean, spread = np.nanmean(values, axis=1), np.nanstd(values, axis=1)
    axis.fill_between(epochs, mean - spread, mean + spread, color=_BAND, alpha=0.6, linewidth=0)
    axis.plot(epochs, mean, color=_INK, linewidth=1.6)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
