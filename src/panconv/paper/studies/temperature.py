"""Accuracy against temperature: from T = 0, an MLP, to T = ∞, where every path counts alike, for many L.

The path weights are exp(−n^α/T). Each point is trained with several seeds side by side; then T itself is trained, from
a cold and from a hot start, to see where the gradient takes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes

from panconv.paper.figures.style import SMALL, canvas, curve, ruled, save
from panconv.paper.settings import settings
from panconv.records.record import Record, Results, Task, pan_task
from panconv.training.pans import Pans
from panconv.training.runner import Step, run

STARTS = (0.3, 3.0)  # a cold one and a hot one
_SHADES = colormaps["viridis"]
_ZERO, _INFINITY = 0.4, 2.5  # places of T = 0 and T = ∞ on the axis, as factors from the smallest and largest T


@dataclass(frozen=True)
class Point:
    """A temperature and a length."""

    L: int
    temperature: float  # 0 … ∞
    test_accuracy: float  # mean of the trials, 0 … 1
    std: float
    val_accuracy: float
    trials: int


@dataclass(frozen=True)
class Landing:
    """Where training took T, from one start. None: in one of the trials it is not finite, or was not kept."""

    L: int
    start: float
    temperatures: list[float | None]  # by layer, the geometric mean of the trials
    spreads: list[float | None]  # by layer, the standard deviation of log T
    test_accuracy: float
    std: float
    val_accuracy: float
    trials: int


@dataclass(frozen=True)
class Sweep:
    points: list[Point]
    landings: list[Landing]

    def plain(self) -> dict[str, Any]:
        """As JSON, where ∞ is written "inf"."""
        points = [
            asdict(p) | {"temperature": p.temperature if math.isfinite(p.temperature) else "inf"} for p in self.points
        ]
        return {"points": points, "trained": [asdict(landing) for landing in self.landings]}

    def best(self) -> Point:
        """The point of the highest validation accuracy."""
        return max(self.points, key=lambda point: point.val_accuracy)


@dataclass(frozen=True)
class SweepOf:
    """What is swept: every temperature for every length, and T itself from every start."""

    dataset: str
    lengths: Sequence[int]
    temperatures: Sequence[float]
    alpha: float = 1.0
    method: int = 2
    trials: int = 10
    epochs: int | None = None

    def places(self) -> list[tuple[int, float, bool]]:
        """A length, a temperature, and whether it is the start of a trained one."""
        fixed = [(L, T, False) for L in self.lengths for T in self.temperatures]
        return fixed + [(L, T, True) for L in self.lengths for T in STARTS]

    def tasks(self) -> list[Task]:
        """The trials of every place, one place after the other."""
        how = settings(self.dataset, self.method).plain(epochs=self.epochs)
        return [
            pan_task(self.dataset, self.method, law(L, T, self.alpha, trained), L, how, seed)
            for L, T, trained in self.places()
            for seed in range(self.trials)
        ]


def sweep(
    asked: SweepOf,
    results: Results | None = None,
    *,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> Sweep:
    """Trains every point, and T itself for every L, where there is no record yet."""
    trained = run(asked.tasks(), results, trainer=Pans(), device=device, command=command, callback=callback)
    records = iter(trained)
    runs = [(*place, list(islice(records, asked.trials))) for place in asked.places()]
    points = [Point(L, T, *_accuracy(of), len(of)) for L, T, trained, of in runs if not trained]
    return Sweep(points, [landed(L, T, of) for L, T, trained, of in runs if trained])


def landed(L: int, start: float, runs: Sequence[Record]) -> Landing:
    """Where T came to lie, by the records of a start."""
    by_layer = zip(*(run.temperatures or [None] * run.settings["layers"] for run in runs), strict=True)
    logs = [[math.log(T) for T in layer if T] for layer in by_layer]  # of 0 and of what is not finite there is none
    known = [log if len(log) == len(runs) else None for log in logs]
    means = [None if log is None else math.exp(fmean(log)) for log in known]
    spreads = [None if log is None else pstdev(log) for log in known]
    return Landing(L, start, means, spreads, *_accuracy(runs), len(runs))


def law(L: int, T: float, alpha: float, trained: bool = False) -> Any:
    """The weights of a temperature: exp(−n^α/T), and its limits, which are weights of their own."""
    if T == 0:
        return [1.0, *[0.0] * L]
    if math.isinf(T):
        return [1.0] * (L + 1)
    return {"kind": "power-law", "alpha": float(alpha), "temperature": float(T), "trained": trained}


def _accuracy(runs: Sequence[Record]) -> tuple[float, float, float]:
    test = [run.test_accuracy or 0.0 for run in runs]
    return fmean(test), pstdev(test), fmean(run.val_accuracy for run in runs)


def draw_sweep(found: Sweep, title: str, path: Path) -> None:
    """Accuracy against T, a line for every L; and where the trained T came to lie."""
    figure = canvas(11, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    lengths = sorted({point.L for point in found.points})
    _draw_points(left, found.points, lengths)
    for start, marker in zip(STARTS, ("v", "^"), strict=True):
        _draw_landings(right, [landing for landing in found.landings if landing.start == start], marker)
        right.axhline(start, color="0.6", linewidth=0.8, linestyle=":")
    right.set_yscale("log")
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("{x:g}")
    right.set_xticks(lengths)
    right.set(xlabel="longest path L", ylabel="temperature T", title="trained T: where it lands")
    right.legend(fontsize=SMALL)
    for axis in (left, right):
        ruled(axis)
    figure.suptitle(title)
    save(figure, path)


def _draw_points(axis: Axes, points: Sequence[Point], lengths: Sequence[int]) -> None:
    finite = sorted({p.temperature for p in points if 0 < p.temperature < math.inf}) or [1.0]
    place = {0.0: finite[0] * _ZERO, math.inf: finite[-1] * _INFINITY}
    for i, L in enumerate(lengths):
        ink = _SHADES(i / max(len(lengths) - 1, 1) * 0.92)
        line = sorted((place.get(p.temperature, p.temperature), p) for p in points if p.L == L)
        T, mean = [at for at, _ in line], [100 * p.test_accuracy for _, p in line]
        std = [100 * p.std for _, p in line]
        curve(axis, T, mean, std, ink, alpha=0.12, marker="o", markersize=3, linewidth=1.4, label=f"L = {L}")
    shown = finite[:: max(1, len(finite) // 6)]
    axis.set_xscale("log")
    axis.set_xticks([place[0.0], *shown, place[math.inf]], ["0\n(MLP)", *(f"{T:g}" for T in shown), "∞"])
    axis.minorticks_off()
    axis.set(xlabel="temperature T", ylabel="test accuracy (%)", title="fixed T: mean and spread of the trials")
    axis.legend(fontsize=SMALL, ncols=2)


def _draw_landings(axis: Axes, landings: Sequence[Landing], marker: str) -> None:
    """Where T landed from one start, a line per layer."""
    for layer in range(len(landings[0].temperatures) if landings else 0):
        places = [(each.L, each.temperatures[layer], each.spreads[layer]) for each in landings]
        known = [(L, t, s) for L, t, s in places if t is not None and s is not None]
        low = [t - t * math.exp(-s) for _, t, s in known]
        high = [t * math.exp(min(s, 99)) - t for _, t, s in known]
        style: dict[str, Any] = {
            "color": _SHADES(0.15 + 0.6 * layer),
            "marker": marker,
            "linewidth": 1,
            "markersize": 5,
        }
        label = f"layer {layer + 1}, from T = {landings[0].start:g}"
        axis.errorbar([L for L, _, _ in known], [t for _, t, _ in known], (low, high), label=label, **style)
