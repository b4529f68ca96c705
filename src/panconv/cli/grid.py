"""panconv grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.cli import checks, screen
from panconv.cli.options import RESULTS, Device, Epochs, Graph, Length, Method, json_of, plot_of

if TYPE_CHECKING:
    from panconv.records.ranking import Point


def grid(
    graph: Graph,
    values: Annotated[str, typer.Option(metavar="V,V,...", help="What each k(n) may be.")] = "0,0.5,1,2",
    tie: Annotated[
        str | None, typer.Option(metavar="N,N", help="Lengths that share one k, such as 1,2 for k(1) = k(2).")
    ] = None,
    per_layer: Annotated[bool, typer.Option("--per-layer", help="A k(n) of its own for each layer.")] = False,
    temperatures: Annotated[
        str | None, typer.Option(metavar="T,T,...", help="Power laws exp(-n^alpha/T) in place of --values.")
    ] = None,
    alphas: Annotated[str, typer.Option(metavar="A,A,...", help="The exponents of the power laws.")] = "1",
    method: Method = 5,
    L: Length = 2,
    trials: Annotated[int, typer.Option(help="Trainings of each point.")] = 5,
    seed: Annotated[int, typer.Option(help="The first trial's seed.")] = 0,
    epochs: Epochs = None,
    results: Annotated[Path, typer.Option(metavar="DIR", help="Where the record of each training goes.")] = RESULTS,
    device: Device = "auto",
    plot: Annotated[Path | None, plot_of("a heat map")] = None,
    json_file: Annotated[Path | None, json_of("all points")] = None,
) -> None:
    """Search a grid of fixed k(n), all points and trials side by side, by validation accuracy alone.

    The same command again goes on where it stopped.

    Example: panconv grid cora --values 0,0.5,1,2 --trials 5 --plot grid.png
    """
    from panconv.met.methods import checked_method
    from panconv.paper.figures.heat import heat_map
    from panconv.paper.settings import settings
    from panconv.records.record import pan_task
    from panconv.training.grid import grid_points, grid_search, power_law_points
    from panconv.training.runner import missing

    checked_method(method)
    checks.length(L)
    device = checks.work(trials, device, plot, json_file)
    (store, done), name = checks.open_results(results), checks.canonical(graph)
    how = settings(name, method).plain(epochs=epochs)
    if temperatures is None:
        given = checks.numbers(values, "--values") if values else []
        tied = [] if tie is None else checks.whole_numbers(tie, "--tie")
        points: list[Any] = list(grid_points(given, L, tie=tied, layers=how["layers"] if per_layer else None))
    elif tie is not None or per_layer:
        raise ValueError("--temperatures makes a grid of power laws, which --tie and --per-layer do not go with")
    else:
        points = power_law_points(checks.numbers(temperatures, "--temperatures"), checks.numbers(alphas, "--alphas"))
    checks.count(len(points) * trials, "the number of trainings, points times --trials,", 0)
    tasks = (pan_task(name, method, w, L, how, seed + t) for w in points for t in range(trials))
    with screen.Batches(missing(tasks, done)) as bar:
        options: dict[str, Any] = {"device": device, "command": checks.command_line(), "callback": bar.show}
        found = grid_search(name, points, how, method=method, L=L, trials=trials, seed=seed, results=store, **options)
    _show(found, screen.title(name), trials)
    heading = f"{screen.title(name)}, method {method}: validation accuracy (%), {trials} trials per point"
    screen.draw(plot, "heat map", heat_map, found, heading)
    screen.write_json(json_file, [{"weights": point.weights, **vars(point)} for point in found], "points")


def _show(found: list[Point], name: str, trials: int) -> None:
    from panconv.weights import in_words

    heading = f"{name}: the best of {len(found)} points by validation accuracy, {trials} trial{'s' * (trials > 1)} each"
    rows = screen.table(("k(n)", "val. (%)", "val. loss"), heading)
    for point in found[:10]:
        accuracy = f"{100 * point.val_accuracy:.2f}" + (f" ± {100 * point.std:.2f}" if trials > 1 else "")
        rows.add_row(in_words(point.weights), accuracy, f"{point.val_loss:.4f}")
    screen.out.print(rows)
