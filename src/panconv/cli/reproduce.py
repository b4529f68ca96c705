"""panconv reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from panconv.cli.common import Batches, check_device, command_line, out, stopping
from panconv.experiments.cells import EXPERIMENTS, missing
from panconv.experiments.paper import GRAPHS

if TYPE_CHECKING:
    from panconv.report.summary import Cell, Row


def reproduce(
    what: Annotated[str, typer.Argument(metavar="|".join((*EXPERIMENTS, "all")), help="Which of the paper's.")],
    datasets: Annotated[str, typer.Option(metavar="G,G,...", help="On which graphs.")] = ",".join(GRAPHS),
    trials: Annotated[int, typer.Option(help="Trials of each cell.")] = 10,
    results: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the records and figures go.")] = Path(
        "results"
    ),
    L: Annotated[int, typer.Option("--L", help="The longest path of figure1's filters.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="One trial, few epochs: a first look.")] = False,
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to train.")] = "cpu",
) -> None:
    """Train what a table or figure of the paper needs, and set ours beside theirs.

    The same command again goes on where it stopped and repeats nothing. panconv report makes a page of it.

    Example: panconv reproduce table3 --datasets cora
    """
    if what not in (*EXPERIMENTS, "all"):
        raise ValueError(f"{what!r} is not one of {', '.join((*EXPERIMENTS, 'all'))}")
    chosen = [name.strip().lower() for name in datasets.split(",")]
    if unknown := [name for name in chosen if name not in GRAPHS]:
        raise ValueError(f"--datasets names {unknown[0]!r}, which is not one of {', '.join(GRAPHS)}")
    if trials < 1:
        raise ValueError(f"--trials must be at least 1, got {trials}")
    from panconv.experiments import reproduce as experiments
    from panconv.report import summary
    from panconv.report.figure2 import draw
    from panconv.results import Results

    store = Results(results)
    check_device(device)
    store.check_writable()
    wanted = EXPERIMENTS if what == "all" else (what,)
    trials = 1 if quick else trials
    bar = Batches(missing(wanted, store.read(), chosen, trials, quick))
    with stopping(bar):
        for experiment in wanted:
            experiments.reproduce(
                experiment,
                store,
                datasets=chosen,
                trials=trials,
                quick=quick,
                device=device,
                command=command_line(),
                callback=bar.show,
            )
    runs = store.read()
    for experiment in wanted:
        if experiment == "figure1":
            from panconv.experiments.lattice import draw_figure1

            for ending in ("png", "svg"):
                draw_figure1(L, store.folder / f"figure1.{ending}")
            out.print(f"Figure 1: {store.folder / 'figure1.png'}, .svg (L = {L})")
        elif experiment == "figure2":
            figure = summary.figure2(runs)
            for ending in ("png", "svg"):
                draw(figure, store.folder / f"figure2.{ending}")
            out.print(f"Figure 2: {store.folder / 'figure2.png'}, .svg\n{summary.convergence_line(figure)}")
        else:
            _show(experiment, getattr(summary, experiment)(runs), chosen)


def _show(experiment: str, rows: list[Row], datasets: list[str]) -> None:
    columns = [i for i, name in enumerate(GRAPHS) if name in datasets]
    heading = f"{experiment[:-1].capitalize()} {experiment[-1]}: ours, the paper's, the difference"
    table = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for i in columns:
        table.add_column(GRAPHS[i].capitalize(), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.name.removeprefix("Method "), *(_words(row.cells[i]) for i in columns))
    out.print(table)


def _words(cell: Cell) -> str:
    paper = "   -" if cell.paper is None else f"{cell.paper:.1f}"
    if cell.mean is None or cell.difference is None:
        return f"[dim]not run[/dim]  {paper}      "
    spread = f"±{cell.std:.1f}" if cell.trials > 1 else ""
    return f"[bold]{cell.mean:.1f}[/bold]{spread} {paper} " + f"{cell.difference:+.1f}{'▼' if cell.below else ' '}"
