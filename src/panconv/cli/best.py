"""The studies of `panconv.best`, as `panconv reproduce` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from panconv.cli import checks, screen

if TYPE_CHECKING:
    from panconv.best.study import Study
    from panconv.records.record import Record, Results


def run(name: str, datasets: str | None, trials: int | None, quick: bool, results: Results, device: str) -> None:
    """Trains a study on some of its graphs, and shows its tables."""
    from panconv.best.studies import STUDIES

    study = STUDIES[name]
    graphs = checks.readable(_graphs(name, study, datasets))
    count = 1 if quick else study.trials if trials is None else trials
    if study.most is not None:
        checks.count(count, "--trials", most=study.most)
    done = results.read()
    planned = sum(_planned(study, graph, done, count, quick) for graph in graphs)
    options = {"device": device, "command": checks.command_line()}
    with screen.Batches(planned) as bar:
        study.train(graphs, results, trials=count, quick=quick, callback=bar.show, **options)
    records = results.read()
    for graph in graphs:
        _show(study, graph, records, results, quick)
        if name == "depth":
            _show_looks(results, graph)
    screen.say("records", results.folder)


def _graphs(name: str, study: Study, datasets: str | None) -> Sequence[str]:
    found = study.graphs if datasets is None else checks.names(datasets) or [datasets]
    if unknown := [graph for graph in found if graph not in study.graphs]:
        raise ValueError(f"--datasets names {unknown[0]!r}, and {name} is about {', '.join(study.graphs)}")
    return found


def _planned(study: Study, graph: str, done: Sequence[Record], trials: int, quick: bool) -> int:
    """How many trainings there are at least: those of the rows that are known, and those of the searches."""
    from panconv.training.runner import missing

    searches = [each.quick() if quick else each for each in study.searches(graph).values()]
    return sum(each.trainings + trials for each in searches) or missing(study.tasks(graph, done, trials, quick), done)


def _show(study: Study, graph: str, records: list[Record], results: Results, quick: bool) -> None:
    from panconv.best.contests import standing
    from panconv.best.study import lines
    from panconv.data.heterophilous import METRIC_OF
    from panconv.paper.claims.claim import Evidence
    from panconv.paper.tables.cells import QUICK_EPOCHS

    measured = {"auc": "AUC (%)"}.get(METRIC_OF.get(graph, ""), "test (%)")
    columns = ("", measured, "trials", "change", "over", "s")
    brief = f" (a first look: {QUICK_EPOCHS} epochs, one trial)" if quick else ""
    shown = screen.table(columns, f"{study.title}: {screen.title(graph)}{brief}", texts=("over",))
    found = lines(study.rows_of(graph, records, quick), Evidence(records, results.folder), study.seed)
    for line in found:
        figure = screen.bold(f"{line.mean:.1f}", line.figure.removeprefix(f"{line.mean:.1f}"))
        shown.add_row(line.name, figure, f"{line.trials}", line.difference, line.against, line.time)
    screen.out.print(shown)
    interval = "" if quick else ", with its 95 % interval"
    screen.out.print(screen.dim(f"change: seed by seed{interval}; s: seconds per trial, beside others"))
    if study.searches(graph) and (words := standing(found)):
        screen.out.print(words)


def _show_looks(results: Results, graph: str) -> None:
    """What was seen in the deepest models."""
    from panconv.best.depth import DEPTHS, looks_table

    head, rows = looks_table(results.folder, graph)
    shown = screen.table(head, f"{screen.title(graph)}, {DEPTHS[-1]} layers: the relative Dirichlet energy by layer")
    for row in rows:
        shown.add_row(*row)
    if rows:
        screen.out.print(shown)
