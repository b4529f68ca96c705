"""What temperature does to M as a filter: of the Laplacian's frequencies, and of the lengths of paths.

The paper: "low temperature corresponds to a low-pass filter, while high temperature corresponds to a high-pass one"
(Section 2). The path weights are exp(−n^α/T), from T = 0, which is M = I, to T = ∞, where all are 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from torch import Tensor

from panconv.graph import Adjacency
from panconv.met import MET
from panconv.met.methods import METHODS
from panconv.paper.figures.style import SMALL, canvas, ruled, save
from panconv.paper.studies.temperature import law
from panconv.paths import Walks
from panconv.spectral.filters import EXACT, Response, band_response, modes, response
from panconv.weights import PathWeights, weights_from

BANDS, COARSE = 25, 5  # of frequency: in the picture, and in a table
_SHADES = colormaps["viridis"]
_FLAT = 0.01  # gains that differ by less pass all frequencies alike


@dataclass(frozen=True)
class Filter:
    """What M does at one temperature."""

    temperature: float  # 0 … ∞
    found: Response  # by frequency, or over bands where the graph is large
    shares: list[float]  # of the paths by length, mean over the nodes: k(n; i) of eq. 2, or the k(n) of eq. 10
    exact: bool

    def kind(self) -> str:
        """By the gains of the lowest fifth of the frequencies and of the highest."""
        low, *_, high = [gain for gain in self.found.in_bands(COARSE).gain.tolist() if not math.isnan(gain)] * 2
        return "all-pass" if abs(low - high) < _FLAT else "low-pass" if low > high else "high-pass"

    def plain(self) -> dict[str, Any]:
        """As JSON, where ∞ is written "inf"."""
        T = self.temperature if math.isfinite(self.temperature) else "inf"
        bands = self.found.in_bands(BANDS)
        return {"temperature": T, "kind": self.kind(), "shares": self.shares, "exact": self.exact} | {
            where: {key: values.tolist() for key, values in each._asdict().items()}
            for where, each in (("response", self.found), ("bands", bands))
        }


def filters(
    adj: Adjacency,
    temperatures: Sequence[float],
    L: int = 2,
    method: int = 2,
    alpha: float = 1.0,
    callback: Callable[[], None] | None = None,
) -> list[Filter]:
    """M at every temperature, as a filter of the Laplacian's frequencies and of the lengths of paths.

    Up to 4,000 nodes at every frequency; beyond, over bands. Where a method does not divide by Z, the weights are
    divided by their sum, so that no temperature is louder than another.

    Args:
        adj: an undirected graph with weights of at least 0.
        temperatures: each 0 … ∞.
        L: the longest path.
        method: a row of `METHODS`.
        alpha: of E(n) = n^α.
        callback: called after each temperature.
    """
    if not adj.num_nodes:
        raise ValueError("adj has no nodes: there is nothing to filter")
    basis = modes(adj) if (exact := adj.num_nodes <= EXACT) else None
    made = []
    for T in temperatures:
        M = MET(Walks(adj, L), _weights(L, T, alpha, method), method)
        found = band_response(M, adj, BANDS) if basis is None else response(M, basis)
        made.append(Filter(T, found, M.path_weights.mean(1).tolist(), exact))
        if callback is not None:
            callback()
    return made


def _weights(L: int, T: float, alpha: float, method: int) -> PathWeights | Tensor:
    weights = weights_from(law(L, T, alpha), L)
    if METHODS[method].overall is not None:
        return weights
    w = weights.exact()
    return w / w.sum()


def draw_filters(found: Sequence[Filter], title: str, path: Path) -> None:
    """Gain and leakage by frequency, and the shares of the lengths, a line per temperature."""
    figure = canvas(12, 4)
    gain, leakage, lengths = figure.subplots(1, 3)
    for i, each in enumerate(found):
        ink, bands = _SHADES(i / max(len(found) - 1, 1) * 0.92), each.found.in_bands(BANDS)
        seen = bands.states > 0
        line = {"color": ink, "linewidth": 1.4, "marker": "o", "markersize": 3}
        for axis, values in ((gain, bands.gain), (leakage, bands.leakage)):
            axis.plot(bands.frequency[seen].tolist(), values[seen].tolist(), **line)
        label = "T = ∞" if math.isinf(each.temperature) else f"T = {each.temperature:g}"
        lengths.plot(range(len(each.shares)), each.shares, label=label, **line)
    _name(gain, "frequency (of the normalised Laplacian)", "mean of uᵀMu", "gain")
    _name(leakage, "frequency", "root mean square of ‖Mu − ḡu‖", "leakage into other frequencies")
    _name(lengths, "length n of the paths", "share k(n), mean over the nodes", "the filter over path lengths")
    lengths.legend(fontsize=SMALL)
    lengths.xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(title)
    save(figure, path)


def _name(axis: Axes, x: str, y: str, title: str) -> None:
    ruled(axis).set(xlabel=x, ylabel=y, title=title)
