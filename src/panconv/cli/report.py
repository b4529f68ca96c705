"""panconv report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from panconv.cli import screen
from panconv.cli.options import RESULTS


def report(
    results: Annotated[Path, typer.Option(metavar="DIR", help="The folder of records.")] = RESULTS,
    page: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one HTML page about the results: tables, figures and commands, ours beside the paper's."""
    from panconv.paper.report import write_report

    screen.say("report", write_report(results, page))
