"""panconv operators."""

from __future__ import annotations

import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from panconv.base.words import signed
from panconv.cli import checks, screen
from panconv.cli.options import Device, Out, json_of
from panconv.paper.zoo.registry import METHODS

if TYPE_CHECKING:
    from panconv.paper.studies.operators import Cell


def operators(
    datasets: Annotated[str, typer.Option(metavar="G,G,...", help="On which graphs.")] = "cora,citeseer,pubmed",
    models: Annotated[str, typer.Option(metavar="M,M,...", help="Which models.")] = "cheb,gcn,sgc,appnp,gat,ssgc",
    trials: Annotated[int, typer.Option(help="Trainings on each operator.")] = 10,
    folder: Out = Path("operators"),
    json_file: Annotated[Path | None, json_of("the table")] = None,
    device: Device = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="One trial, few epochs, two candidates: a first look.")
    ] = False,
) -> None:
    """Train six rows of the zoo on their usual operator and on M: this command will go, panconv zoo NAME --met stays.

    Which M it is, of a short menu, the validation nodes decide. The same command again goes on where it stopped.

    Example: panconv operators --datasets cora --models gcn,sgc
    """
    from panconv.paper.studies.operators import WILL_GO, asked, table
    from panconv.paper.tables.reproduce import reproduce

    device = checks.work(trials, device, None, json_file)
    trainings = asked(checks.names(datasets), checks.names(models), trials, quick)
    store, done = checks.open_results(folder)
    print(f"panconv operators: {WILL_GO}", file=sys.stderr)
    with screen.Batches(trainings.missing(done)) as bar:
        reproduce(trainings, store, device=device, command=checks.command_line(), callback=bar.show)
    cells = table(trainings, store.read())
    _show(cells)
    screen.write_json(json_file, [asdict(cell) for cell in cells], "table")


def _show(cells: list[Cell]) -> None:
    from panconv.paper.studies.operators import MODELS

    trials = len(cells[0].usual)
    screen.out.print(f"\nTest accuracy (%), {trials} trial{'s' * (trials > 1)}: usual operator, M, difference")
    rows = screen.table(("model", "graph", "usual, M, difference", "M", "dropped"))
    for cell in cells:
        both = ([100 * value for value in values] for values in (cell.usual, cell.met))
        usual, met = (f"{statistics.fmean(values):.1f}{screen.spread(values)}" for values in both)
        figures = Text.assemble(f"{usual} ", (met, "bold"), f" {signed(100 * cell.difference)}")
        name = METHODS[MODELS[cell.model]].title
        rows.add_row(name, screen.title(cell.dataset), figures, cell.words, f"{100 * cell.dropped:.1f} %")
    screen.out.print(rows)
