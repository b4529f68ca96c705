"""The report's figures: curves with values on hover, heat maps of the grid, and the methods side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from panconv.paper.figures.band import CURVES, band
from panconv.paper.figures.palette import BLUE, GREY, MODELS, ORANGE, sheer
from panconv.paper.published import GRAPHS
from panconv.paper.report.standing import Place, comparable, ranked_graphs, ranked_words, spread
from panconv.paper.report.summary import TITLES, Row, grid
from panconv.records.record import Record

_SHADE = 0.22  # the opacity of a band
_SCALE = ("#e3eef8", "#0b3d6b")  # of a heat map
_GRID = "rgba(128,128,128,.25)"
_LAYOUT = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 56, "r": 16, "t": 40, "b": 48},
    "font": {"family": "system-ui, sans-serif", "size": 13},
}


def curves(figure: dict[str, list[Record]]) -> list[tuple[str, str]]:
    """Figure 2: validation accuracy and loss over the epochs, mean and standard deviation; a title and a plot each."""
    out = []
    for part, (name, title, scale) in zip(("figure2", "figure2-loss"), CURVES, strict=True):
        plot = go.Figure()
        for label, runs in figure.items():
            epochs, mean, std = band(runs, name, scale)
            ink, shade = MODELS[label], sheer(MODELS[label], _SHADE)
            low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-1, 1))
            outline = {"x": epochs + epochs[::-1], "y": high + low[::-1], "fill": "toself", "fillcolor": shade}
            plot.add_scatter(**outline, line={"width": 0}, hoverinfo="skip", mode="lines")
            hover = f"{label}, epoch %{{x}}: %{{y:.3~f}} ± %{{customdata:.2~f}}<extra></extra>"
            line = {"x": epochs, "y": mean, "customdata": std, "mode": "lines", "line": {"color": ink, "width": 2}}
            plot.add_scatter(**line, name=label, hovertemplate=hover)
        plot.update_xaxes(title_text="epoch", gridcolor=_GRID, zeroline=False, tickangle=0, nticks=6)
        plot.update_yaxes(gridcolor=_GRID, zeroline=False, nticks=7)
        plot.update_layout(**_LAYOUT, height=320, showlegend=False, margin_t=12)
        out.append((title, _html(plot, part)))
    return out


@dataclass(frozen=True)
class Heat:
    """A cell of a heat map: its value, the colour behind it and that of its figures."""

    value: float
    ground: str
    ink: str
    best: bool


@dataclass(frozen=True)
class HeatMap:
    """Table 3's grid on a graph: a panel per k(0), a line per k(2), a column per k(1)."""

    name: str
    title: str
    words: str  # the best point
    across: list[float]  # k(1)
    panels: dict[float, dict[float, list[Heat]]]


def heat_map(name: str, words: str, points: dict[tuple[float, ...], float]) -> HeatMap:
    """The mean validation accuracy over k(1) and k(2), a panel for each k(0); the best point comes first."""
    best = next(iter(points))
    firsts, across, lines = (sorted({k[n] for k in points}) for n in range(3))
    low, high = min(points.values()), max(points.values())
    cells = {k: _heat(value, (value - low) / ((high - low) or 1.0), k == best) for k, value in points.items()}
    panels = {k0: {k2: [cells[k0, k1, k2] for k1 in across] for k2 in reversed(lines)} for k0 in firsts}
    return HeatMap(name, TITLES[name], words, across, panels)


def _heat(value: float, share: float, best: bool) -> Heat:
    """From pale to dark blue, with black or white on it, whichever stands out more."""
    pale, dark = (bytes.fromhex(each[1:]) for each in _SCALE)
    ground = [round(a + share * (b - a)) for a, b in zip(pale, dark, strict=True)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (g / 255 for g in ground)]
    light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    return Heat(value, f"#{bytes(ground).hex()}", "#000000" if (light + 0.05) ** 2 > 0.0525 else "#ffffff", best)


def heat_maps(runs: Sequence[Record]) -> list[HeatMap]:
    """The heat map of each graph whose grid has been searched."""
    out = []
    for name in GRAPHS:
        _, points = grid(runs, name)
        if points:
            best = points[0]
            k = ", ".join(f"{value:g}" for value in best.weights)
            by_point = {tuple(point.weights): 100 * point.val_accuracy for point in points}
            words = f"best by validation: k = ({k}), {100 * best.val_accuracy:.1f} %"
            out.append(heat_map(name, words, by_point))
    return out


def ranking(name: str, ranked: Sequence[Place]) -> str:
    """Every method's mean and spread, best first, with the paper's figure as an open diamond; PAN stands out."""
    plot = go.Figure()
    at = list(enumerate(ranked))
    for label, ours, marker in (
        ("ours: mean ± standard deviation", False, {"size": 8, "color": GREY}),
        ("PAN, ours", True, {"size": 11, "color": BLUE}),
    ):
        those = [(row, place) for row, place in at if place.ours is ours]
        bars = {"array": [place.cell.std for _, place in those], "thickness": 1.5, "width": 3}
        _mark(plot, those, [place.mean for _, place in those], name=label, marker=marker, error_x=bars)
    diamond = {"symbol": "diamond-open", "size": 11, "color": ORANGE, "line": {"width": 1.5}}
    papers = [(row, place) for row, place in at if place.cell.paper is not None]  # on top of the others
    _mark(plot, papers, [place.cell.paper for _, place in papers], name="the paper's figure", marker=diamond)
    names = [f"<b>{place.name}</b>" if place.ours else place.name for place in ranked]
    plot.update_xaxes(title_text="test accuracy (%)", gridcolor=_GRID, zeroline=False)
    ticks = {"tickvals": list(range(len(ranked))), "ticktext": names, "range": [len(ranked) - 0.4, -0.6]}
    plot.update_yaxes(**ticks, showgrid=False, zeroline=False, automargin=True)
    for row in (row for row, place in at if place.ours):
        _highlight(plot, row, ranked)
    legend = {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "xanchor": "left"}
    plot.update_layout(**_LAYOUT, height=130 + 23 * len(ranked), legend=legend, hovermode="closest", margin_t=8)
    return _html(plot, f"ranked-{name}")


def _mark(plot: go.Figure, those: Sequence[tuple[int, Place]], x: Sequence[float | None], **style: Any) -> None:
    """A mark for each place, in its row."""
    words = {"text": [_hover(place) for _, place in those], "hovertemplate": "%{text}<extra></extra>"}
    plot.add_scatter(x=x, y=[row for row, _ in those], mode="markers", **words, **style)


def _highlight(plot: go.Figure, row: int, ranked: Sequence[Place]) -> None:
    plot.add_hrect(y0=row - 0.5, y1=row + 0.5, fillcolor=sheer(BLUE, _SHADE), line_width=0, layer="below")
    if not comparable(ranked):
        return
    # At the far end of its row, where no mark of it is.
    left = 2 * ranked[row].mean > ranked[0].mean + ranked[-1].mean
    side = {"x": 0.01 if left else 0.99, "xanchor": "left" if left else "right", "xref": "paper"}
    words = f"<b>rank {row + 1} of {len(ranked)}</b>"
    plot.add_annotation(text=words, y=row, yanchor="middle", showarrow=False, **side)


def rankings(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """By graph that has two methods to compare: its title, who leads in words, and the picture."""
    found = ranked_graphs(rows)
    return [(TITLES[name], ranked_words(ranked), ranking(name, ranked)) for name, ranked in found.items()]


def _hover(place: Place) -> str:
    cell = place.cell
    paper = "no figure in the paper" if cell.paper is None else f"the paper's {cell.paper:.1f}"
    trials = f"{cell.trials} trial{'s' * (cell.trials > 1)}"
    return f"<b>{place.name}</b>: {spread(cell)}, {trials}<br>{paper}"


def _html(plot: go.Figure, name: str) -> str:
    config = {"displayModeBar": False, "responsive": True}
    return plot.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=config)
