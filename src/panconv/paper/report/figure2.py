"""Figure 2: validation accuracy of PAN and GCN on Cora over the epochs, with the loss as an inset."""

from __future__ import annotations

from pathlib import Path

from panconv.paper.figures.palette import MODELS
from panconv.paper.figures.style import SMALL, bare, canvas, curve, save
from panconv.paper.report.figures import band
from panconv.records.record import Record


def draw(figure: dict[str, list[Record]], path: Path) -> None:
    """Draws mean and standard deviation of the trials, in the format of the path's ending."""
    picture = canvas(7, 4.6)
    main = bare(picture.subplots())
    inset = main.inset_axes((0.5, 0.12, 0.46, 0.46))
    for axis, name, scale in ((main, "accuracy_curve", 100.0), (inset, "loss_curve", 1.0)):
        for label, runs in figure.items():
            curve(axis, *band(runs, name, scale), MODELS[label], alpha=0.25, label=label)
        axis.grid(alpha=0.25)
    main.set(xlabel="epoch", ylabel="validation accuracy (%)", title="PAN and GCN on Cora")
    inset.set_title("validation loss", fontsize=9)
    inset.tick_params(labelsize=SMALL)
    main.legend(loc="upper left")
    save(picture, path)
