"""The page: a template filled with tables and figures, self-contained, written whole."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from panconv.experiments.paper import GRAPHS
from panconv.files import check_writable, replacing
from panconv.report import figures, summary
from panconv.results import Results, Run


def write_report(results: str | Path, out: str | Path) -> Path:
    """Reads a folder of results and writes one HTML page about them."""
    store, out = Results(results), Path(out)
    if not store.folder.is_dir():
        raise ValueError(f"the results folder {store.folder} is not there: panconv reproduce table1 makes one")
    runs = store.read()
    if not runs:
        raise ValueError(f"the results folder {store.folder} holds no results: panconv reproduce table1 makes some")
    check_writable(out)
    with replacing(out) as path:
        path.write_text(page(runs), encoding="utf-8")
    return out


def page(runs: list[Run]) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("panconv.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables = [
        ("table3", "Table 3: the seven methods", summary.table3(runs)),
        ("table1", "Table 1: PAN beside published models", summary.table1(runs)),
        ("table2", "Table 2: PAN beside all 24 baselines", summary.table2(runs)),
    ]
    figure = summary.figure2(runs)
    return environment.get_template("template.html.j2").render(
        graphs=[summary.TITLES[name] for name in GRAPHS],
        tables=tables,
        figure2=Markup(figures.curves(figure)) if figure else None,
        convergence=summary.convergence_line(figure),
        grids=[(title, words, Markup(html)) for title, words, html in figures.heat_maps(runs)],
        origins=summary.origins(runs),
        plotly=Markup(get_plotlyjs()),
        num_runs=len(runs),
        seconds=sum(run.seconds for run in runs),
        versions=sorted({f"{name} {number}" for run in runs for name, number in run.versions.items()}),
        devices=sorted({run.device for run in runs}),
    )
