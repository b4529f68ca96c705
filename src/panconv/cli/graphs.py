"""panconv graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.base.near import meant
from panconv.cli import checks, screen
from panconv.cli.options import RESULTS, Device, Out, completing, json_of
from panconv.whole_graphs.contest import FOLDS, RERUNS, Contest, Standing, standings
from panconv.whole_graphs.menu import MENU

if TYPE_CHECKING:
    from panconv.data import GraphSet
    from panconv.records.record import Record

_MODELS = "pan,gin,structure-free"
_SIZED = ("nodes", "edges")  # of what a description has the least, the mean and the most


def graphs(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A text file or TU folder of many graphs, its name in the folder PANCONV_TU, or point-patterns-0.35.",
        ),
    ] = None,
    contestants: Annotated[
        str,
        typer.Option("--model", metavar="M,M,...", help="Names of the menu, or all.", autocompletion=completing(MENU)),
    ] = _MODELS,
    folds: Annotated[int | None, typer.Option(help="Stratified folds, of which each is tested once.")] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="In place of folds N random splits of 80, 10 and 10 %.")
    ] = None,
    reruns: Annotated[int, typer.Option(help="Trainings of each fold's choice, with fresh seeds: they are tested.")] = (
        RERUNS
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Few settings and epochs: a first look.")] = False,
    describe: Annotated[bool, typer.Option("--describe", help="Say what the set is, and train nothing.")] = False,
    device: Device = "auto",
    results: Out = RESULTS,
    json_file: Annotated[Path | None, json_of("what was found")] = None,
) -> None:
    """Compare models on a set of graphs with a class each; without SOURCE, list the models.

    On every fold each model's settings are chosen by validation, from a grid of at most eight; the choice is trained
    again from fresh seeds and tested. All models have the same folds, and are compared fold by fold.
    The same command again goes on where it stopped.

    Example: panconv graphs NCI1.txt --model pan,gin,gcn --folds 10
    """
    if source is None:
        _menu()
        return
    names = _names(contestants)
    if folds is not None and runs is not None:
        raise ValueError(f"--runs goes in place of --folds, got --folds {folds} --runs {runs}: leave one out")
    for option, count, least in (("--folds", folds, 2), ("--runs", runs, 1), ("--reruns", reruns, 1)):
        if count is not None:
            checks.count(count, option, least)
    checks.outputs(None, json_file)
    read = _read(source)
    _describe(read)
    if describe:
        screen.write_json(json_file, read.describe(), "description")
        return
    _check(read, folds, runs)
    contest = Contest(_recorded(read), names, folds or FOLDS, runs, reruns, quick)
    device = checks.device(device)
    records = _trained(contest, read, results, device)
    found = standings(contest, records)
    _show(contest, found)
    screen.say("records", results)
    screen.write_json(json_file, _plain(contest, found), "results")


def _names(models: str) -> tuple[str, ...]:
    """The models that were named; PAN first, with which the others are compared."""
    named = list(MENU) if models.strip().lower() == "all" else checks.names(models)
    if not named:
        raise ValueError(f"--model names no model: give some of {', '.join(MENU)}")
    if odd := [name for name in named if name not in MENU]:
        raise ValueError(f"--model must be of {', '.join(MENU)}, or all, got {odd[0]!r:.60}{meant(odd[0], MENU)}")
    return tuple(sorted(named, key=lambda name: name != "pan"))


def _menu() -> None:
    table = screen.table(
        ("model", "tried", "what it is", "chosen by validation"), texts=("what it is", "chosen by validation")
    )
    for name, entry in MENU.items():
        grid = ", ".join(f"{key} {'/'.join(map(_short, values))}" for key, values in entry.grid.items())
        table.add_row(name, f"{len(entry.points())}", entry.words, grid or "nothing: as published")
    screen.out.print(table)
    screen.out.print("panconv graphs SOURCE --model pan,gin compares some on a set of graphs.")


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _recorded(read: GraphSet) -> str:
    from panconv.whole_graphs.parts import recorded_name

    return recorded_name(read)


def _read(source: str) -> GraphSet:
    from panconv.whole_graphs.parts import named_graphs

    return named_graphs(source)


def _describe(read: GraphSet) -> None:
    """What the set is, and what was mended or guessed as it was read."""
    from panconv.data.remarks import counted

    facts = read.describe()
    sizes = [
        f"{facts[name]['mean']:.1f} {name} ({facts[name]['least']:g} … {facts[name]['most']:g})" for name in _SIZED
    ]
    classes = ", ".join(f"{name}: {count}" for name, count in facts["classes"].items())
    words = [f"{facts['graphs']:,} graphs", *sizes, f"{counted(facts['columns'], 'feature')}, {facts['features']}"]
    words += [f"classes {classes}"] if classes else ["a number each"]
    screen.out.print(screen.bold(screen.one_line(read.name), screen.one_line(f": {'; '.join(words)}")))
    for name in ("without_nodes", "without_edges"):
        if facts[name]:
            screen.out.print(f"{facts[name]} graphs {name.replace('_', ' ')}")
    for note in facts["notes"]:
        screen.remark(note)


def _check(read: GraphSet, folds: int | None, runs: int | None) -> None:
    """Refuses what cannot be split, or is not to be told apart."""
    from panconv.data import graph_folds, graph_split

    if read.num_classes < 2:
        kind = "one class alone" if read.num_classes else "numbers to learn"
        raise ValueError(f"{read.name} has {kind}, and models are compared by how they tell classes apart")
    try:
        graph_folds(read.y, folds or FOLDS) if runs is None else graph_split(read.y, runs=runs)
    except ValueError as error:
        raise ValueError(f"--{'folds' if runs is None else 'runs'}: {error}") from None


def _trained(contest: Contest, read: GraphSet, results: Path, device: str) -> list[Record]:
    from panconv.whole_graphs.trainer import WholeGraphs

    store, _ = checks.open_results(results)
    how: dict[str, Any] = {"device": device, "command": checks.command_line()}
    with screen.Batches(contest.trainings) as bar:
        return contest.train(WholeGraphs(read), store, callback=bar.show, **how)


def _show(contest: Contest, found: list[Standing]) -> None:
    splits = f"{contest.splits} {'folds' if contest.runs is None else 'random splits'}"
    looks = ": a first look" if contest.quick else ""
    against = next((each.title for each in found), "")
    columns = ("model", "test (%)", f"change over {against}", "trainings", "s each")
    table = screen.table(columns, f"{screen.title(contest.title)}, {splits}{looks}")
    for each in found:
        figure = screen.bold(f"{each.mean:.1f}", each.figure.removeprefix(f"{each.mean:.1f}"))
        table.add_row(each.title, figure, each.difference, f"{each.trainings}", each.time)
    screen.out.print(table)
    screen.out.print(screen.dim("± the standard deviation over them; of a change, its 95 % interval"))
    for each in found:
        if (count := len(each.by_fold)) < contest.splits:
            screen.out.print(f"{each.title} never had a finite loss again on {contest.splits - count} of {splits}")


def _plain(contest: Contest, found: list[Standing]) -> dict[str, Any]:
    """For machines."""
    return {
        **{"dataset": contest.title, "split": "folds" if contest.runs is None else "runs"},
        **{"splits": contest.splits, "reruns": contest.reruns, "quick": contest.quick},
        "models": [
            {
                **{"model": each.name, "title": each.title, "mean": each.mean, "std": each.std},
                "by_fold": [each.by_fold.get(k) for k in range(contest.splits)],
                "chosen": [each.chosen[k].settings if k in each.chosen else None for k in range(contest.splits)],
                "change": None if each.change is None else vars(each.change),
                **{"against": each.against, "seconds": each.seconds, "trainings": each.trainings},
            }
            for each in found
        ],
    }
