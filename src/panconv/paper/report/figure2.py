"""Figure 2: validation accuracy of PAN and GCN on Cora over the epochs, with the loss as an inset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from panconv.base.files import replacing
from panconv.paper.report.figures import band
from panconv.records.runs import Run

_INKS = {"PAN": "#1f6fb4", "GCN": "#c65911"}


def draw(figure: dict[str, list[Run]], path: Path) -> None:
    """Draws mean and standard deviation of the trials, in the format of the path's ending."""
    canvas = Figure(figsize=(7, 4.6), layout="constrained")
    main = canvas.subplots()
    inset = main.inset_axes((0.5, 0.12, 0.46, 0.46))
    for axis, name, scale in ((main, "val_accuracy", 100.0), (inset, "val_loss", 1.0)):
        for label, runs in figure.items():
            epochs, mean, std = (np.array(part) for part in band(runs, name, scale))
            axis.fill_between(epochs, mean - std, mean + std, color=_INKS[label], alpha=0.25, linewidth=0)
            axis.plot(epochs, mean, color=_INKS[label], label=label, linewidth=1.6)
        axis.grid(alpha=0.25)
    main.set(xlabel="epoch", ylabel="validation accuracy (%)", title="PAN and GCN on Cora")
    inset.set_title("validation loss", fontsize=9)
    inset.tick_params(labelsize=8)
    main.legend(loc="upper left")
    main.spines[["top", "right"]].set_visible(False)
    # The same picture is the same file: without a date, and with names that do not change.
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "panconv"}):
        canvas.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
