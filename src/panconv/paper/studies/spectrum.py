"""The spectrum of M beside that of the normalised Laplacian: measured, in numbers, and drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes

from panconv.met import MET
from panconv.paper.figures.palette import BLUE, ORANGE, PALE_BLUE
from panconv.paper.figures.style import bare, canvas, save
from panconv.spectral import Laplacian, density, eigs

EXACT = 4000  # nodes up to which all eigenvalues are computed
_LEADING, _MOST = 32, 512  # eigenvalues that are computed of a larger graph, and where the largest repeats
_SAME, _NEAR = 1e-8, 0.01  # eigenvalues that are one; those that count as near 0


@dataclass
class Spectrum:
    """All eigenvalues with equal weights, or points with weights that stand for their density."""

    name: str
    values: np.ndarray
    weights: np.ndarray  # of sum 1
    exact: bool
    smooth: float  # the eigenvalue of the smoothest state: the largest of M, the smallest of a Laplacian
    copies: int  # how many eigenvalues equal it
    gap: float | None  # to the next; None where more copies than were looked for hide it

    def numbers(self) -> dict[str, Any]:
        """The row of a table, as plain numbers."""
        return {
            "largest": float(self.values.max()),
            "smallest": float(self.values.min()),
            "mean": float(self.weights @ self.values),
            "smooth": self.smooth,
            "copies": self.copies,
            "gap": self.gap,
            "near_zero": float(self.weights[abs(self.values) < _NEAR].sum()),
            "exact": self.exact,
        }

    def plain(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {**asdict(self), "values": self.values.tolist(), "weights": self.weights.tolist(), **self.numbers()}


def spectra(M: MET, adj: Any, starts: int = 32, callback: Callable[[int], None] | None = None) -> list[Spectrum]:
    """The spectrum of M, through its symmetric twin where M is not symmetric, and of the normalised Laplacian.

    Up to 4000 nodes all eigenvalues; beyond, the 32 leading ones and the density by stochastic Lanczos quadrature.

    Args:
        M: the operator, similar to a symmetric one.
        adj: the graph.
        starts: random starts of the quadrature.
        callback: called with the number of starts that are done.
    """
    first = _spectrum(f"M, method {M.method}, L = {M.paths.L}", M.similar()[0], starts, callback)
    other = _spectrum("normalised Laplacian", Laplacian(adj, complement=True), starts, callback)
    other.values, other.smooth = 1 - other.values, 1 - other.smooth
    return [first, other]


def _spectrum(name: str, S: Any, starts: int, callback: Callable[[int], None] | None) -> Spectrum:
    if exact := S.shape[0] <= EXACT:
        with torch.no_grad():
            values = torch.linalg.eigvalsh(S.to_dense(torch.float64)).cpu().numpy()
        weights = np.full(len(values), 1 / max(len(values), 1))
        leading = values[::-1]
        if callback is not None:
            callback(starts)
    else:
        found = density(S, starts=starts, callback=callback)
        values, weights = (part.cpu().numpy() for part in found)
        leading = _past_the_first(S)
        values = np.minimum(values, leading[0])  # a Ritz value exceeds the largest eigenvalue by rounding only
    copies = _copies(leading)
    gap = float(leading[0] - leading[copies]) if copies < len(leading) else None
    return Spectrum(name, values, weights, exact, float(leading[0]), copies, gap)


def _past_the_first(S: Any) -> np.ndarray:
    """Leading eigenvalues, so many that one differs from the largest, or as many as are worth the time."""
    k = _LEADING
    while True:
        leading = eigs(S, k).values.cpu().numpy()
        if _copies(leading) < k or k >= min(_MOST, S.shape[0]):
            return leading
        k = min(4 * k, S.shape[0])


def _copies(leading: np.ndarray) -> int:
    return int((leading > leading[0] - _SAME * abs(leading[0])).sum())


def draw_spectra(found: list[Spectrum], title: str, path: Path) -> None:
    """Histograms side by side, in the format of the path's ending."""
    figure = canvas(9, 3.8)
    for axis, spectrum in zip(figure.subplots(1, len(found), sharey=True, squeeze=False)[0], found, strict=True):
        _histogram(bare(axis), spectrum)
    figure.axes[0].set_ylabel("share of the eigenvalues (%)")
    figure.axes[0].set_ylim(5e-3, 150)
    figure.suptitle(title)
    save(figure, path)


def _histogram(axis: Axes, spectrum: Spectrum) -> None:
    low, high = spectrum.values.min(), spectrum.values.max()
    bins = 80 if spectrum.exact else 32  # the points of the quadrature stand about as far apart as 80 bins
    room = max((high - low) / bins, 1e-3)
    heights, edges = np.histogram(
        spectrum.values, bins, (low - room / 2, high + room / 2), weights=100 * spectrum.weights
    )
    axis.stairs(heights, edges, fill=True, color=PALE_BLUE, edgecolor=BLUE)
    axis.set_yscale("log")
    axis.axvline(spectrum.smooth, color=ORANGE, linewidth=1, linestyle=":")
    copies = f"{spectrum.copies} times" if spectrum.copies > 1 else "once"
    copies = f"at least {copies}" if spectrum.gap is None else copies
    axis.set_title(f"{spectrum.name}\n{round(spectrum.smooth, 6) + 0.0:g} occurs {copies}", fontsize=10)
    axis.set_xlabel("eigenvalue" + ("" if spectrum.exact else " (density by Lanczos quadrature)"))
