"""panconv reproduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from panconv.base.near import meant
from panconv.base.words import signed
from panconv.best import NAMES as STUDIES
from panconv.cli import best, checks, screen
from panconv.cli.options import RESULTS, Device, completing
from panconv.paper.published import GRAPHS
from panconv.paper.tables import baselines
from panconv.paper.tables.cells import EXPERIMENTS
from panconv.paper.tables.further import FURTHER, wanted
from panconv.paper.zoo.registry import checked

if TYPE_CHECKING:
    from panconv.paper.claims.claim import Evidence
    from panconv.paper.report.summary import Cell, OnM, Row
    from panconv.records.record import Record

_TRIALS = 10
_RECORDED = "magenta"  # what was not run here
_NAMES = (*EXPERIMENTS, "all", *FURTHER, *STUDIES)


def reproduce(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help=f"{', '.join(_NAMES)}.", autocompletion=completing(_NAMES))
    ],
    datasets: Annotated[
        str | None, typer.Option(metavar="G,G,...", help="On which graphs; left out, on all it is about.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="M,M,...", help="Which rows of table1, table2; pan for PAN alone.")
    ] = None,
    met: Annotated[bool, typer.Option("--met", help="The baselines a second time, on M where it has a place.")] = False,
    random_splits: Annotated[
        int, typer.Option(metavar="N", help="table2 on so many random splits, PAN beside the fastest ten or --methods.")
    ] = 0,
    trials: Annotated[
        int | None, typer.Option(help="Trials of each cell; left out, 10, or 20 random splits for elsewhere.")
    ] = None,
    results: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the records and figures go.")] = RESULTS,
    L: Annotated[int, typer.Option("--L", help="The longest path of figure1's filters.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="One trial, few epochs: a first look.")] = False,
    device: Device = "auto",
) -> None:
    """Train what a table, a figure or another claim of the paper needs, and set ours beside theirs.

    best, elsewhere, ablation, depth, heterophilous and alike go past the paper: docs/best.md says what they compare.

    The same command again goes on where it stopped and repeats nothing. panconv report makes a page of it.

    Example: panconv reproduce table3 --datasets cora
    """
    wanted = _wanted(what, met, random_splits)

    from panconv.paper.tables.reproduce import Asked
    from panconv.paper.tables.reproduce import reproduce as train
    from panconv.paper.tables.splits import FASTEST

    wanted = _wanted(what, met, random_splits)
    device = checks.work(_TRIALS if trials is None else trials, device)
    if what in STUDIES:
        _refuse_methods(methods, what)
        best.run(what, datasets, trials, quick, checks.open_results(results)[0], device)
        return
    graphs, trials = _graphs(datasets), _TRIALS if trials is None else trials
    store, done = checks.open_results(results)
    names = _baselines(wanted, methods or (",".join(FASTEST) if random_splits else None))
    asked = Asked(wanted, names, graphs, 1 if quick else trials, quick, met, random_splits)
    with screen.Batches(asked.missing(done)) as bar:
        train(asked, store, device=device, command=checks.command_line(), callback=bar.show)
    records = store.read()
    if random_splits:
        _show_splits(records, graphs, quick)
    for experiment in () if random_splits else wanted:
        _finish(experiment, store.folder, records, graphs, L)


def _wanted(what: str, met: bool, random_splits: int) -> tuple[str, ...]:
    """The experiments that are asked for."""
    if what not in _NAMES:
        raise ValueError(f"{what!r} is not one of {', '.join(_NAMES)}{meant(what, _NAMES)}")
    if met and (random_splits or what not in ("table1", "table2", "all")):
        raise ValueError(
            f"--met goes with table1, table2 and all, not with {'random splits' if random_splits else what}"
        )
    checks.count(random_splits, "--random-splits", 0)
    if random_splits and what != "table2":
        raise ValueError(f"--random-splits goes with table2, not with {what}")
    return EXPERIMENTS if what == "all" else (what,)


def _refuse_methods(methods: str | None, what: str) -> None:
    if methods is not None:
        raise ValueError(f"--methods goes with table1, table2 and all, not with {what}")


def _graphs(datasets: str | None) -> list[str]:
    names = list(GRAPHS) if datasets is None else checks.names(datasets) or [datasets]
    if unknown := [name for name in names if name not in GRAPHS]:
        hint = meant(unknown[0], GRAPHS)
        raise ValueError(f"--datasets names {unknown[0]!r}, which is not one of {', '.join(GRAPHS)}{hint}")
    return names


def _baselines(wanted: Sequence[str], methods: str | None) -> list[str]:
    """The methods of the zoo that are to be trained."""
    offered = [name for name in baselines.NAMES["table2"] if any(name in baselines.NAMES.get(w, ()) for w in wanted)]
    if methods is None:
        return offered
    named = list(dict.fromkeys(checked(name) for name in checks.names(methods) if name != "pan"))  # its row is there
    if not offered:
        _refuse_methods(methods, ", ".join(wanted))
    if odd := [name for name in named if name not in offered]:
        raise ValueError(f"--methods names {odd[0]!r}, which is no row of {wanted[0]}: it has {', '.join(offered)}")
    return named


def _finish(experiment: str, folder: Path, records: list[Record], graphs: list[str], L: int) -> None:
    """Prints a table, or draws a figure, of what was trained."""
    from panconv.paper.claims.claim import Evidence
    from panconv.paper.figures.curves import draw_figure2, draw_scales
    from panconv.paper.figures.lattice import draw_figure1
    from panconv.paper.report import summary
    from panconv.paper.report.ranking import draw_ranking
    from panconv.paper.report.standing import ranked_graphs

    if experiment in FURTHER:
        evidence = Evidence.of(folder, records)
        _show_trained(experiment, evidence, graphs)
        _show_claims(experiment, evidence)
        if experiment == "scale" and (cells := summary.scales(records)):
            _draw("Figure 2, second panel", folder / "figure2-scale", partial(draw_scales, cells))
    elif experiment == "figure1":
        _draw("Figure 1", folder / "figure1", partial(draw_figure1, L), f" (L = {L})")
    elif experiment == "figure2":
        figure = summary.figure2(records)
        _draw("Figure 2", folder / "figure2", partial(draw_figure2, figure), f"\n{summary.convergence_line(figure)}")
    else:
        rows = getattr(summary, experiment)(records)
        _show_rows(experiment, rows, [i for i, name in enumerate(GRAPHS) if name in graphs])
        _show_count(rows, graphs if experiment != "table3" else [])
        for graph, ranked in ranked_graphs(rows, graphs).items() if experiment == "table2" else ():
            _draw("Ranked", folder / f"ranked-{graph}", partial(draw_ranking, ranked, graph))


def _draw(what: str, stem: Path, draw: Callable[[Path], None], more: str = "") -> None:
    """Draws a picture as PNG and as SVG."""
    for ending in (".png", ".svg"):
        draw(stem.with_suffix(ending))
    screen.say(what, stem.with_suffix(".png"), f", .svg{more}")


def _show_trained(question: str, evidence: Evidence, graphs: list[str]) -> None:
    """A row per operator and graph of what a question's trainings gave."""
    from panconv.base.words import in_words
    from panconv.paper.report.standing import spread
    from panconv.paper.report.summary import cell
    from panconv.paper.settings import PAPER

    both = (wanted(question, evidence.records, graphs, 1, quick)[0] for quick in (False, True))
    tasks = [task for tasks in both for task in tasks if task.tested]
    shown = screen.table(("", "method", "L", "path weights", "settings", "trials", "test (%)"), texts=("settings",))
    for task in tasks:
        if (found := evidence.alike(task)) and task.operator is not None:
            ours = PAPER[task.dataset].plain()
            other = [f"{name} {value}" for name, value in task.settings.items() if ours.get(name) != value]
            figure, names = cell(found, None), (f"{task.operator['method']}", f"{task.operator['L']}")
            words = (in_words(task.weights), ", ".join(other), f"{figure.trials}", spread(figure))
            shown.add_row(task.dataset.capitalize(), *names, *words)
    screen.out.print(shown)


def _show_claims(question: str, evidence: Evidence) -> None:
    """What the paper says that a question's trainings decide."""
    from panconv.paper.claims.ledger import LEDGER, judged

    asked = [claim for claim in LEDGER if f"panconv reproduce {question}" in claim.how.split("; ")]
    for claim, said in judged(asked, evidence):
        screen.out.print(screen.bold(f"\n{claim.words}", f"\n  {claim.rule}\n  {said.figure}\n  {said.verdict}"))


def _show_splits(records: list[Record], graphs: list[str], quick: bool) -> None:
    """Table 2 on random splits."""
    from panconv.paper.report import summary
    from panconv.paper.tables import splits

    rows = summary.table2(records)
    for name in graphs:
        public = {row.key: row.cells[GRAPHS.index(name)].mean for row in rows}
        columns = ("method", "test (%)", "PAN ahead by", "on splits", "public split")
        shown = screen.table(columns, f"{name.capitalize()} on random splits")
        for row in splits.standings(records, name, public, quick):
            few = row.splits < summary.ENOUGH  # nobody is ahead yet
            ahead = "" if row.name == "PAN" else "-" if few else f"{row.behind:+.1f} ± {row.behind_std:.1f}"
            wins = f"{row.splits}" if row.name == "PAN" or few else f"{row.wins} of {row.splits}"
            on_public = "-" if row.public is None else f"{row.public:.1f}"
            shown.add_row(row.name, screen.bold(f"{row.mean:.1f}", f" ± {row.std:.1f}"), ahead, wins, on_public)
        screen.out.print(shown)


def _on_m_words(cell: OnM | None) -> Text:
    if cell is None:
        return screen.dim("not run")
    spreads = [f"±{spread:.1f}" if cell.trials > 1 else "" for spread in (cell.std, cell.change_std)]
    return screen.bold(f"{cell.mean:.1f}", f"{spreads[0]} {signed(cell.change)}{spreads[1]}")


def _show_count(rows: Sequence[Row], graphs: Sequence[str]) -> None:
    """How many rows came out, and PAN's place among them on some graphs."""
    from panconv.paper.report import rank

    for line in filter(None, (rank.count_words(rows), *(rank.rank_words(rows, graphs) if graphs else ()))):
        screen.out.print(line)


def _show_rows(experiment: str, rows: Sequence[Row], columns: Sequence[int]) -> None:
    """A table of the paper, and a second one of what was run on M."""
    title = f"{experiment[:-1].capitalize()} {experiment[-1]}"
    ran = [row for row in rows if any(row.cells[i].mean is not None for i in columns)]
    shown = {row.name.removeprefix("Method "): [_words(row.cells[i]) for i in columns] for row in ran}
    _show(f"{title}, run here: ours, the paper's, the difference", shown, columns)
    if len(ran) < len(rows):
        heading = f"{title}, our recorded full run (it comes with panconv): its figure, the paper's"
        _show_recorded(experiment, heading, rows, columns)
    of_m = {row.name: [row.on_m[i] for i in columns] for row in rows if row.on_m is not None}
    if on_m := {name: [*map(_on_m_words, those)] for name, those in of_m.items() if any(those)}:
        _show("On M in place of their own operator, graph or walk: the figure, and the change by seed", on_m, columns)


def _show_recorded(experiment: str, heading: str, rows: Sequence[Row], columns: Sequence[int]) -> None:
    """What comes with panconv, in a colour of its own: the same table as our full run has it, beside the paper's."""
    from panconv.paper.report.recorded import recorded

    known = recorded(experiment)
    shown = {}
    for row in rows:
        pairs = [(known[row.name][i], row.cells[i].paper) for i in columns]
        figures = ["-" if was is None else f"{was.mean:.1f}±{was.std:.1f}" for was, _ in pairs]
        papers = ["   -" if paper is None else f"{paper:.1f}" for _, paper in pairs]
        words = (Text(f"{figure} {paper}      ") for figure, paper in zip(figures, papers, strict=True))
        shown[row.name.removeprefix("Method ")] = list(words)
    _show(heading, shown, columns, _RECORDED)


def _show(heading: str, rows: dict[str, list[Text]], columns: Sequence[int], ink: str = "") -> None:
    made = screen.table(("method", *(GRAPHS[i].capitalize() for i in columns)), heading)
    for name, words in rows.items():
        made.add_row(name, *words, style=ink)
    screen.out.print(made)


def _words(cell: Cell) -> Text:
    paper = "   -" if cell.paper is None else f"{cell.paper:.1f}"
    if cell.mean is None:
        return screen.dim("not run", f"  {paper}      ")
    spread = f"±{cell.std:.1f}" if cell.trials > 1 else ""
    change = " " * 5 if cell.difference is None else f"{signed(cell.difference)}{'▼' if cell.below else ' '}"
    return screen.bold(f"{cell.mean:.1f}", f"{spread} {paper} {change}")
