"""The report's figures: curves with values on hover, heat maps of the grid, and the methods ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from panconv.paper.figures.band import CURVES, band
from panconv.paper.figures.palette import BLUE, GREY, MODELS, ORANGE, sheer
from panconv.paper.published import GRAPHS
from panconv.paper.report.standing import Place, ranked_graphs, ranked_words, spread
from panconv.paper.report.summary import TITLES, Row, grid
from panconv.records.record import Record

_SHADE = 0.22  # the opacity of a band
_GRID = "rgba(128,128,128,.25)"
_LAYOUT = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 56, "r": 16, "t": 40, "b": 48},
    "font": {"family": "system-ui, sans-serif", "size": 13},
}


def curves(figure: dict[str, list[Record]]) -> str:
    """Figure 2: validation accuracy and loss over the epochs, mean and standard deviation."""
    plot = make_subplots(1, 2, column_widths=[0.62, 0.38], subplot_titles=[label for _, label, _ in CURVES])
    for column, (name, _, scale) in enumerate(CURVES, 1):
        for label, runs in figure.items():
            epochs, mean, std = band(runs, name, scale)
            ink, shade = MODELS[label], sheer(MODELS[label], _SHADE)
            low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-1, 1))
            outline = {"x": epochs + epochs[::-1], "y": high + low[::-1], "fill": "toself", "fillcolor": shade}
            plot.add_scatter(**outline, line={"width": 0}, hoverinfo="skip", showlegend=False, row=1, col=column)
            hover = f"{label}, epoch %{{x}}: %{{y:.3~f}} ± %{{customdata:.2~f}}<extra></extra>"
            line = {"x": epochs, "y": mean, "customdata": std, "mode": "lines", "line": {"color": ink, "width": 2}}
            plot.add_scatter(**line, name=label, hovertemplate=hover, showlegend=column == 1, row=1, col=column)
    plot.update_xaxes(title_text="epoch", gridcolor=_GRID)
    plot.update_yaxes(gridcolor=_GRID)
    plot.update_layout(**_LAYOUT, height=400, legend={"orientation": "h", "y": -0.2})
    return _html(plot, "figure2")


def heat_map(name: str, points: dict[tuple[float, ...], float]) -> str:
    """The mean validation accuracy over k(1) and k(2), a panel for each k(0)."""
    firsts, ks, ls = (sorted({k[n] for k in points}) for n in range(3))
    plot = make_subplots(1, len(firsts), subplot_titles=[f"k(0) = {k:g}" for k in firsts], shared_yaxes=True)
    for column, first in enumerate(firsts, 1):
        z = [[points.get((first, k, l2)) for k in ks] for l2 in ls]
        heat = go.Heatmap(
            x=[f"{k:g}" for k in ks],
            y=[f"{l2:g}" for l2 in ls],
            z=z,
            text=[["" if v is None else f"{v:.1f}" for v in line] for line in z],
            texttemplate="%{text}",
            hovertemplate=f"k = ({first:g}, %{{x}}, %{{y}}): %{{z:.2f}} %<extra></extra>",
            coloraxis="coloraxis",
        )
        plot.add_trace(heat, row=1, col=column)
    plot.update_xaxes(title_text="k(1)", type="category")
    plot.update_yaxes(type="category")
    plot.update_yaxes(title_text="k(2)", row=1, col=1)
    colours = {"colorscale": "Blues", "colorbar": {"title": "val. %"}}
    plot.update_layout(**_LAYOUT, height=300, coloraxis=colours)
    return _html(plot, f"grid-{name}")


def heat_maps(runs: Sequence[Record]) -> list[tuple[str, str, str]]:
    """By graph: its title, the best point in words, and the heat map of Table 3's grid."""
    out = []
    for name in GRAPHS:
        _, points = grid(runs, name)
        if points:
            best = points[0]
            k = ", ".join(f"{value:g}" for value in best.weights)
            by_point = {tuple(point.weights): 100 * point.val_accuracy for point in points}
            words = f"best by validation: k = ({k}), {100 * best.val_accuracy:.1f} %"
            out.append((TITLES[name], words, heat_map(name, by_point)))
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
    words = {"text": [_hover(row, place) for row, place in those], "hovertemplate": "%{text}<extra></extra>"}
    plot.add_scatter(x=x, y=[row for row, _ in those], mode="markers", **words, **style)


def _highlight(plot: go.Figure, row: int, ranked: Sequence[Place]) -> None:
    plot.add_hrect(y0=row - 0.5, y1=row + 0.5, fillcolor=sheer(BLUE, _SHADE), line_width=0, layer="below")
    # At the far end of its row, where no mark of it is.
    left = 2 * ranked[row].mean > ranked[0].mean + ranked[-1].mean
    side = {"x": 0.01 if left else 0.99, "xanchor": "left" if left else "right", "xref": "paper"}
    words = f"<b>rank {row + 1} of {len(ranked)}</b>"
    plot.add_annotation(text=words, y=row, yanchor="middle", showarrow=False, **side)


def rankings(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """By graph that has two methods to compare: its title, who leads in words, and the picture."""
    found = ranked_graphs(rows)
    return [(TITLES[name], ranked_words(ranked), ranking(name, ranked)) for name, ranked in found.items()]


def _hover(at: int, place: Place) -> str:
    cell = place.cell
    paper = "no figure in the paper" if cell.paper is None else f"the paper's {cell.paper:.1f}"
    trials = f"{cell.trials} trial{'s' * (cell.trials > 1)}"
    return f"{at + 1}. <b>{place.name}</b>: {spread(cell)}, {trials}<br>{paper}"


def _html(plot: go.Figure, name: str) -> str:
    config = {"displayModeBar": False, "responsive": True}
    return plot.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=config)
