"""A plot of learning curves: validation accuracy and loss over the epochs, mean and spread of the trials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from panconv.paper.figures.palette import BLUE
from panconv.paper.figures.style import canvas, curve, ruled, save


def learning_curves(histories: Mapping[str, Mapping[str, Tensor]], path: Path) -> None:
    """Draws a column per graph from `FitResult.history`, and saves it in the format of the path's ending."""
    figure = canvas(4.2 * len(histories), 5.6)
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
    save(figure, path)


def _band(axis: Axes, values: np.ndarray) -> None:
    values = np.where(np.isfinite(values), values, np.nan).astype(float)  # a loss may turn infinite
    running = ~np.isnan(values).all(axis=1)
    values, epochs = values[running], np.arange(1, len(values) + 1)[running]
    curve(ruled(axis), epochs, np.nanmean(values, axis=1), np.nanstd(values, axis=1), BLUE, alpha=0.25)
