"""The page: a template filled with tables and figures, self-contained, written whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from panconv.base.files import check_writable
from panconv.base.pages import template, write_page
from panconv.base.words import in_words, signed
from panconv.paper.claims.claim import Evidence
from panconv.paper.figures.palette import MODELS
from panconv.paper.published import GRAPHS
from panconv.paper.report import figures, rank, sections, standing, summary
from panconv.paper.report.own import own_graphs
from panconv.paper.report.verdicts import KINDS, Verdicts, judged_by
from panconv.paper.report.whole import whole_graphs
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
    ledger = judged_by(Evidence.of(store.folder, records))
    return write_page(page(records, ledger), out)


def page(runs: Sequence[Record], ledger: Verdicts | None = None) -> str:
    """The page as HTML; with the claims of the paper, where they have been judged."""
    all_rows = summary.table2(runs)
    found = sections.tables(summary.table1(runs), all_rows, summary.table3(runs))
    own = own_graphs(runs)
    return template("panconv.paper.report", "template.html.j2").render(
        graphs=[summary.TITLES[name] for name in GRAPHS],
        tables=found,
        cards=sections.cards(found, own),
        enough=summary.ENOUGH,
        own=own,
        whole=whole_graphs(runs),
        ledger=ledger,
        kinds=KINDS,
        on_m=standing.on_m_rows(all_rows),
        on_m_words=standing.on_m_words(all_rows),
        few_trials=standing.few_trials,
        standings=lambda rows: [*filter(None, [rank.count_words(rows)]), *rank.rank_words(rows)],
        spread=standing.spread,
        signed=signed,
        reproduced=REPRODUCED,
        explain=EXPLAIN,
        origins=summary.origins(runs),
        in_words=in_words,
        parts=sections.command_parts,
        num_runs=len(runs),
        seconds=sum(each.seconds for each in runs),
        versions=_versions(runs),
        devices=sorted({each.device for each in runs}),
        **_pictures(runs, all_rows),
    )


def _pictures(runs: Sequence[Record], rows: Sequence[summary.Row]) -> dict[str, Any]:
    """The figures, and the library that draws them where there is something to draw."""
    figure = summary.figure2(runs)
    curves = [(title, Markup(html)) for title, html in figures.curves(figure)] if figure else []
    rankings = [(title, words, Markup(html)) for title, words, html in figures.rankings(rows)]
    return {
        "figure2": curves,
        "models": {name: MODELS[name] for name in figure},
        "convergence": summary.convergence_line(figure),
        "rankings": rankings,
        "grids": figures.heat_maps(runs),
        "plotly": Markup(get_plotlyjs()) if curves or rankings else "",
    }


def _versions(runs: Sequence[Record]) -> list[str]:
    found = {pair for each in runs for pair in each.versions.items()}
    return sorted(f"{name} {number}" for name, number in found if number != "not installed")
