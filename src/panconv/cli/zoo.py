"""panconv zoo."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Annotated, Any

import typer

from panconv.base.words import signed
from panconv.cli import checks, screen
from panconv.cli.options import GRAPH_NAMES, RESULTS, Device, Seed, completing, json_of
from panconv.paper.published import GRAPHS
from panconv.paper.tables.baselines import NAMES, Baseline
from panconv.paper.zoo.menu import SWITCHES, in_words
from panconv.paper.zoo.notes import NOTES
from panconv.paper.zoo.registry import METHODS, checked
from panconv.paper.zoo.settings import merged
from panconv.records.jsonl import parsed_json
from panconv.records.record import Record, Results, Task
from panconv.training.runner import alike, missing, run


def zoo(
    method: Annotated[
        str | None,
        typer.Argument(help="A method; left out, all of them are listed.", autocompletion=completing(METHODS)),
    ] = None,
    graphs: Annotated[
        list[str] | None,
        typer.Argument(metavar="GRAPH...", help="cora, citeseer, pubmed, or a folder.", autocompletion=GRAPH_NAMES),
    ] = None,
    trials: Annotated[int, typer.Option(help="Trainings, each with a seed of its own.")] = 10,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be given again.")
    ] = None,
    met: Annotated[bool, typer.Option("--met", help="Also on M in its place, which validation chooses.")] = False,
    device: Device = "auto",
    json_file: Annotated[Path | None, json_of("the results")] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Keep the records there, and go on from them.")
    ] = None,
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the list looks for results of panconv reproduce.")
    ] = RESULTS,
) -> None:
    """List the 24 baselines of Table 2, or train one of them, or one of the twelve beside them: appnp, ssgc, ngcn,
    line, high_temperature, harmonic, gcnii, deep_gcn, res_gcn, res_sage, res_gat, gprgnn.

    Settings left out are those of the table for that graph. The accuracy is that of the test nodes, whose labels the
    method is not handed.

    Example: panconv zoo gat cora
    """
    if method is None:
        _list(results, json_file)
        return
    name = checked(method)
    if not graphs:
        _card(name)
        return
    device = checks.work(trials, device, None, json_file)
    if met and not METHODS[name].met:
        takers = ", ".join(method.title for method in METHODS.values() if method.met)
        raise ValueError(f"--met: M has no place in {METHODS[name].title}; {takers} take it")
    given = _given(name, settings or [])
    if met and (odd := [each for each in given if each in SWITCHES]):
        raise ValueError(f"--set {odd[0]} does not go with --met: on M the menu says what it is")
    cells = [Baseline(name, dataset, given=given, seed=seed) for dataset in checks.readable(graphs)]
    rows = _train(cells, trials, met, device, folder)
    _show(name, rows)
    shown = [{"method": name, **vars(record)} for _, _, those in rows for record in those]
    screen.write_json(json_file, shown, "results")


def _train(
    cells: list[Baseline], trials: int, met: bool, device: str, folder: Path | None
) -> list[tuple[str, str, list[Record]]]:
    """By graph, and by operator in words: the trainings, those that are in the folder already among them."""
    from panconv.paper.zoo.runner import Baselines

    store, records = (None, []) if folder is None else checks.open_results(folder)
    wanted = [cell.wanted(records, trials, met) for cell in cells]
    rows = []
    with screen.Batches(sum(missing(tasks, records) + later for tasks, later in wanted)) as bar:

        def train(tasks: list[Task]) -> list[Record]:
            how: dict[str, Any] = {"device": device, "command": checks.command_line(), "callback": bar.show}
            return run(tasks, store, trainer=Baselines(), **how)

        for cell in cells:
            rows.append((cell.dataset, "its own", train(cell.own(trials))))
            operator = cell.chosen(train(cell.choosing())) if met else None
            if operator is not None:
                rows.append((cell.dataset, in_words(operator), train(cell.on_m(operator, trials))))
    return rows


def _list(results: Path, json_file: Path | None) -> None:
    """The methods with their citation, and what of them has been run."""
    records = Results(results).read() if results.exists() else []
    texts = ("M as its", "trials in " + str(results), "citation")
    table = screen.table(("method", *texts), "The baselines of Table 2", texts)
    rows = []
    for name in NAMES["table2"]:
        method = METHODS[name]
        ran = {dataset: len(alike(records, Baseline(name, dataset).own(1))) for dataset in GRAPHS}
        status = ", ".join(f"{screen.title(dataset)} {count}" for dataset, count in ran.items() if count)
        table.add_row(method.title, method.met or "", status or screen.dim("not run"), method.citation)
        known = {key: getattr(method, key) for key in ("title", "citation", "met")}
        figures = dict(zip(GRAPHS, method.paper, strict=True))
        rows.append({"name": name, **known, "paper": figures, "note": NOTES.get(name, ""), "trials": ran})
    screen.out.print(table)
    others = ", ".join(name for name, method in METHODS.items() if not method.in_table2)
    words = "panconv zoo NAME GRAPH trains one, panconv zoo NAME shows its settings."
    screen.out.print(f"{words} Outside Table 2: {others}.")
    screen.write_json(json_file, rows, "list")


def _card(name: str) -> None:
    """One method: where it is from, the paper's figures, and its settings by graph."""
    method = METHODS[name]
    screen.out.print(screen.bold(method.title, f": {method.citation}" + (f"\n{NOTES[name]}" if name in NOTES else "")))
    table = screen.table(("setting", *GRAPHS))
    shown = ["-" if figure is None else f"{figure:.1f}" for figure in METHODS[name].paper]
    table.add_row("paper's figure (%)", *shown, end_section=True)
    for key in method.settings:
        table.add_row(key, *(json.dumps(method.on(dataset)[key], ensure_ascii=False) for dataset in GRAPHS))
    screen.out.print(table)


def _given(name: str, pairs: list[str]) -> dict[str, Any]:
    """Settings from NAME=VALUE, each of the kind it has."""
    known, given = METHODS[name].settings, {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--set must be NAME=VALUE, such as lr=0.01, got {pair!r}")
        given[key] = _value(text, known.get(key))
    changed = merged(known, given)  # refuses what it does not have, and what makes no sense
    return {key: changed[key] for key in given}


def _value(text: str, like: Any) -> Any:
    """What a text says, where text is not what is asked for."""
    try:
        return text if isinstance(like, str) else parsed_json(text.encode("utf-8", "replace"))
    except ValueError:
        return text


def _show(name: str, rows: list[tuple[str, str, list[Record]]]) -> None:
    count, on_m = len(rows[0][2]), any(records[0].operator for _, _, records in rows)
    heading = f"{METHODS[name].title}: {count} trial{'s' * (count > 1)}"
    columns = ("graph", *["operator"] * on_m, "test (%)", "paper", "diff.", *["by seed"] * on_m, "val. (%)", "time")
    table = screen.table(columns, heading, ["operator"])
    own: dict[int, float] = {}
    paper = dict(zip(GRAPHS, METHODS[name].paper, strict=True))
    for dataset, operator, records in rows:
        figures = {record.seed: 100 * (record.test_accuracy or 0.0) for record in records}
        own = figures if records[0].operator is None else own
        change = [figure - own[seed] for seed, figure in figures.items()]
        by_seed = signed(statistics.fmean(change)) + screen.spread(change) if records[0].operator else ""
        ours = screen.beside(list(figures.values()), paper.get(dataset))
        val = f"{100 * statistics.fmean(record.val_accuracy for record in records):.1f}"
        time = f"{sum(record.seconds for record in records):.0f} s"
        table.add_row(screen.title(dataset), *[operator] * on_m, *ours, *[by_seed] * on_m, val, time)
    screen.out.print(table)
