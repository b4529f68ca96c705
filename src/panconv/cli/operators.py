"""panconv operators."""

from __future__ import annotations

import statistics
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from panconv.cli.common import Batches, check_count, check_device, check_outputs, out, stopping, title, write_json
from panconv.paper.zoo.registry import METHODS

if TYPE_CHECKING:
    from panconv.paper.studies.operators import Cell


def operators(
    datasets: Annotated[str, typer.Option(metavar="G,G,...", help="On which graphs.")] = "cora,citeseer,pubmed",
    models: Annotated[str, typer.Option(metavar="M,M,...", help="Which models.")] = "cheb,gcn,sgc,appnp,gat,ssgc",
    trials: Annotated[int, typer.Option(help="Trainings on each operator.")] = 10,
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the record of each training goes.")
    ] = Path("operators"),
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the table as JSON.")] = None,
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to train.")] = "cpu",
    quick: Annotated[
        bool, typer.Option("--quick", help="One trial, few epochs, two candidates: a first look.")
    ] = False,
) -> None:
    """Train six rows of the zoo on their usual operator and on M: this command will go, panconv zoo NAME --met stays.

    Which M it is, of a short menu, the validation nodes decide. The same command again goes on where it stopped.

    Example: panconv operators --datasets cora --models gcn,sgc
    """
    from panconv.paper.studies.operators import WILL_GO, checked, run
    from panconv.paper.tables import baselines
    from panconv.paper.zoo.records import Records

    check_count(trials, "--trials")
    check_device(device)
    check_outputs(None, json_file)
    chosen: dict[str, Any] = {"datasets": _names(datasets), "models": _names(models)}
    names, trials = checked(**chosen), 1 if quick else trials
    bar = Batches(baselines.missing(Records(folder).read(), names, chosen["datasets"], trials, quick, met=True))
    print(f"panconv operators: {WILL_GO}", file=sys.stderr)
    with stopping(bar), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it has been said
        cells = run(folder, **chosen, trials=trials, quick=quick, device=device, callback=bar.show_zoo)
    _show(cells, {model: METHODS[name].title for model, name in zip(chosen["models"], names, strict=True)})
    write_json(json_file, [asdict(cell) for cell in cells], "table")


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))


def _show(cells: list[Cell], titles: dict[str, str]) -> None:
    found = {(cell.model, cell.dataset): cell for cell in cells}
    datasets, models = (list(dict.fromkeys(getattr(cell, key) for cell in cells)) for key in ("dataset", "model"))
    trials = len(cells[0].usual)
    out.print(f"\nTest accuracy (%), {trials} trial{'s' * (trials > 1)}: usual operator, M, difference")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("model", no_wrap=True)
    for name in datasets:
        table.add_column(title(name), justify="right", no_wrap=True)
    for model in models:
        table.add_row(titles[model], *(_words(found[model, name]) for name in datasets))
    out.print(table)
    out.print("The M that validation chose")
    chosen = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("model", "graph", "M", "of |M| dropped"):
        chosen.add_column(column, justify="right" if column.endswith("dropped") else "left")
    for model in models:
        for name in datasets:
            cell = found[model, name]
            chosen.add_row(titles[model], title(name), cell.words, f"{100 * cell.dropped:.1f} %")
    out.print(chosen)


def _words(cell: Cell) -> Text:
    usual, met = (f"{100 * statistics.fmean(values):.1f}{_spread(values)}" for values in (cell.usual, cell.met))
    return Text.assemble(f"{usual} ", (met, "bold"), f" {100 * cell.difference:+.1f}")


def _spread(values: list[float]) -> str:
    return f"±{100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
