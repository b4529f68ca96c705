"""panconv reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from panconv.cli.common import Batches, bold, check_count, check_device, command_line, dim, out, say, stopping
from panconv.paper.published import GRAPHS
from panconv.paper.report.standing import signed
from panconv.paper.tables import baselines
from panconv.paper.tables.cells import EXPERIMENTS, missing
from panconv.paper.zoo.registry import checked

if TYPE_CHECKING:
    from panconv.paper.report.summary import Cell, OnM, Row
    from panconv.records.record import Results


def reproduce(
    what: Annotated[str, typer.Argument(metavar="|".join((*EXPERIMENTS, "all")), help="Which of the paper's.")],
    datasets: Annotated[str, typer.Option(metavar="G,G,...", help="On which graphs.")] = ",".join(GRAPHS),
    methods: Annotated[
        str | None, typer.Option(metavar="M,M,...", help="Which rows of table1, table2; pan for PAN alone.")
    ] = None,
    met: Annotated[bool, typer.Option("--met", help="The baselines a second time, on M where it has a place.")] = False,
    random_splits: Annotated[
        int, typer.Option(metavar="N", help="table2 on so many random splits, PAN beside the fastest ten or --methods.")
    ] = 0,
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
    chosen = list(dict.fromkeys(name.strip().lower() for name in datasets.split(",")))
    if unknown := [name for name in chosen if name not in GRAPHS]:
        raise ValueError(f"--datasets names {unknown[0]!r}, which is not one of {', '.join(GRAPHS)}")
    check_count(trials, "--trials")
    from panconv.paper.report import summary
    from panconv.paper.report.figure2 import draw
    from panconv.paper.report.ranking import draw_all
    from panconv.paper.tables import reproduce as experiments
    from panconv.records.record import Results

    store = Results(results)
    check_device(device)
    store.check_writable()
    if met and (random_splits or what.startswith("figure") or what == "table3"):
        raise ValueError(
            f"--met goes with table1, table2 and all, not with {'random splits' if random_splits else what}"
        )
    check_count(random_splits, "--random-splits", 0)
    if random_splits:
        _splits(what, store, random_splits, chosen, methods, quick, device)
        return
    wanted = EXPERIMENTS if what == "all" else (what,)
    trials = 1 if quick else trials
    names = _baselines(wanted, methods)
    done = store.read()
    left = missing(wanted, done, chosen, trials, quick)
    bar = Batches(left + baselines.missing(done, names, chosen, trials, quick, met))
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
        experiments.reproduce_baselines(
            names,
            store,
            datasets=chosen,
            trials=trials,
            met=met,
            quick=quick,
            device=device,
            command=command_line(),
            callback=bar.show,
        )
    runs = store.read()
    for experiment in wanted:
        if experiment == "figure1":
            from panconv.paper.figures.lattice import draw_figure1

            for ending in ("png", "svg"):
                draw_figure1(L, store.folder / f"figure1.{ending}")
            say("Figure 1", store.folder / "figure1.png", f", .svg (L = {L})")
        elif experiment == "figure2":
            figure = summary.figure2(runs)
            for ending in ("png", "svg"):
                draw(figure, store.folder / f"figure2.{ending}")
            say("Figure 2", store.folder / "figure2.png", f", .svg\n{summary.convergence_line(figure)}")
        elif experiment == "table3":
            _show(experiment, summary.table3(runs), chosen)
        else:
            rows = getattr(summary, experiment)(runs)
            _show(experiment, rows, chosen)
            _show_on_m(rows, chosen)
            _show_count(rows)
            for path in draw_all(rows, chosen, store.folder) if experiment == "table2" else ():
                say("Ranked", path, ", .svg")


def _baselines(wanted: Sequence[str], methods: str | None) -> list[str]:
    """The methods of the zoo that are to be trained."""
    offered = [name for name in baselines.NAMES["table2"] if any(name in baselines.NAMES.get(w, ()) for w in wanted)]
    if methods is None:
        return offered
    asked = [name for name in methods.split(",") if name.strip() and name.strip().lower() != "pan"]  # its row is there
    named = list(dict.fromkeys(map(checked, asked)))
    if not offered:
        raise ValueError(f"--methods goes with table1, table2 and all, not with {', '.join(wanted)}")
    if odd := [name for name in named if name not in offered]:
        raise ValueError(f"--methods names {odd[0]!r}, which is no row of {wanted[0]}: it has {', '.join(offered)}")
    return named


def _splits(
    what: str,
    store: Results,
    count: int,
    datasets: list[str],
    methods: str | None,
    quick: bool,
    device: str,
) -> None:
    """Table 2 on random splits."""
    from panconv.paper.report import summary
    from panconv.paper.tables import reproduce as experiments
    from panconv.paper.tables import splits
    from panconv.training import runner

    if what != "table2" or count < 1:
        raise ValueError(f"--random-splits goes with table2 and a number of at least 1, got {what} and {count}")
    names = _baselines(["table2"], methods or ",".join(splits.FASTEST))
    wanted = [task for name in datasets for task in splits.tasks(["pan", *names], name, count, quick)]
    bar = Batches(runner.missing(wanted, store.read()))
    with stopping(bar):
        experiments.reproduce_splits(
            names,
            store,
            count=count,
            datasets=datasets,
            quick=quick,
            device=device,
            command=command_line(),
            callback=bar.show,
        )
    trained = store.read()
    rows = summary.table2(trained)
    for name in datasets:
        public = {row.key: row.cells[GRAPHS.index(name)].mean for row in rows}
        heading = f"{name.capitalize()} on random splits"
        table = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", padding=(0, 1, 0, 0))
        table.add_column("method", no_wrap=True)
        for column in ("test (%)", "PAN ahead by", "on splits", "public split"):
            table.add_column(column, justify="right", no_wrap=True)
        for row in splits.standings(trained, name, public, quick):
            ahead = "" if row.name == "PAN" else f"{row.behind:+.1f} ± {row.behind_std:.1f}"
            wins = f"{row.splits}" if row.name == "PAN" else f"{row.wins} of {row.splits}"
            on_public = "-" if row.public is None else f"{row.public:.1f}"
            table.add_row(row.name, bold(f"{row.mean:.1f}", f" ± {row.std:.1f}"), ahead, wins, on_public)
        out.print(table)


def _show_on_m(rows: Sequence[Row], datasets: list[str]) -> None:
    columns = [i for i, name in enumerate(GRAPHS) if name in datasets]
    shown = [(row, row.on_m) for row in rows if row.on_m is not None and any(row.on_m[i] for i in columns)]
    if not shown:
        return
    heading = "On M in place of their own operator, graph or walk: the figure, and the change by seed"
    table = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for i in columns:
        table.add_column(GRAPHS[i].capitalize(), justify="right", no_wrap=True)
    for row, on_m in shown:
        table.add_row(row.name, *(_on_m_words(on_m[i]) for i in columns))
    out.print(table)


def _on_m_words(cell: OnM | None) -> Text:
    if cell is None:
        return dim("not run")
    spreads = [f"±{spread:.1f}" if cell.trials > 1 else "" for spread in (cell.std, cell.change_std)]
    return bold(f"{cell.mean:.1f}", f"{spreads[0]} {signed(cell.change)}{spreads[1]}")


def _show_count(rows: Sequence[Row]) -> None:
    ran = [row for row in rows if not row.ours and row.reproduced is not None]
    if ran:
        count = sum(bool(row.reproduced) for row in ran)
        out.print(
            f"{count} of {len(ran)} baselines reproduced: on every graph at or above the paper's figure minus "
            f"{baselines.REPRODUCED} points"
        )


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


def _words(cell: Cell) -> Text:
    paper = "   -" if cell.paper is None else f"{cell.paper:.1f}"
    if cell.mean is None:
        return dim("not run", f"  {paper}      ")
    spread = f"±{cell.std:.1f}" if cell.trials > 1 else ""
    if cell.difference is None:
        return bold(f"{cell.mean:.1f}", f"{spread} {paper}      ")
    return bold(f"{cell.mean:.1f}", f"{spread} {paper} {signed(cell.difference)}{'▼' if cell.below else ' '}")
