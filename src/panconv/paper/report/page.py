"""The page: a template filled with tables and figures, self-contained, written whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from panconv.base.files import check_writable, replacing
from panconv.paper.published import GRAPHS
from panconv.paper.report import figures, rank, standing, summary
from panconv.paper.tables.baselines import EXPLAIN, REPRODUCED
from panconv.records.record import Record, Results


def write_report(results: str | Path, out: str | Path) -> Path:
    """Reads a folder of results and writes one HTML page about them."""
    store, out = Results(results), Path(out)
    if not store.folder.is_dir():
        raise ValueError(f"the results folder {store.folder} is not there: panconv reproduce table1 makes one")
    records = store.read()
    if not records:
        raise ValueError(f"the results folder {store.folder} holds no results: panconv reproduce table1 makes some")
    check_writable(out)
    with replacing(out) as path:
        path.write_text(page(records), encoding="utf-8", errors="backslashreplace")  # a path may be no text
    return out


def page(runs: Sequence[Record]) -> str:
    """The page as HTML."""
    all_rows = summary.table2(runs)
    tables = [
        ("table3", "Table 3: the seven methods", summary.table3(runs)),
        ("table1", "Table 1: PAN beside published models", summary.table1(runs)),
        ("table2", "Table 2: PAN beside all 24 baselines", all_rows),
    ]
    figure = summary.figure2(runs)
    return _template().render(
        graphs=[summary.TITLES[name] for name in GRAPHS],
        tables=tables,
        figure2=Markup(figures.curves(figure)) if figure else None,
        on_m=standing.on_m_rows(all_rows),
        on_m_words=standing.on_m_words(all_rows),
        rankings=[(title, words, Markup(html)) for title, words, html in figures.rankings(all_rows)],
        few_trials=standing.few_trials,
        standings=lambda rows: [*filter(None, [rank.count_words(rows)]), *rank.rank_words(rows)],
        spread=standing.spread,
        signed=standing.signed,
        reproduced=REPRODUCED,
        explain=EXPLAIN,
        convergence=summary.convergence_line(figure),
        grids=[(title, words, Markup(html)) for title, words, html in figures.heat_maps(runs)],
        origins=summary.origins(runs),
        plotly=Markup(get_plotlyjs()),
        num_runs=len(runs),
        seconds=sum(each.seconds for each in runs),
        versions=_versions(runs),
        devices=sorted({each.device for each in runs}),
    )


def _template() -> Template:
    loader = PackageLoader("panconv.paper.report", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("template.html.j2")


def _versions(runs: Sequence[Record]) -> list[str]:
    found = {pair for each in runs for pair in each.versions.items()}
    return sorted(f"{name} {number}" for name, number in found if number != "not installed")
