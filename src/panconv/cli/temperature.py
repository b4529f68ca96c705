"""panconv temperature."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from panconv.cli import checks, screen
from panconv.cli.options import RESULTS, Device, Epochs, Exponent, Graph, Out, Plot, json_of

if TYPE_CHECKING:
    from panconv.paper.studies.temperature import Landing, Sweep


def temperature(
    graph: Graph,
    temperatures: Annotated[
        str, typer.Option(metavar="T,T,...", help="Temperatures: 0 is the MLP, inf the limit.")
    ] = "0,0.1,0.2,0.3,0.5,1,2,5,20,inf",
    lengths: Annotated[str, typer.Option("--L", metavar="L,L,...", help="The longest paths.")] = "1,2,3,4,5,6,7,8,9,10",
    alpha: Exponent = 1.0,
    method: Annotated[int, typer.Option(help="The method; 1, 2, 7, 10 and 11 divide by Z.")] = 2,
    trials: Annotated[int, typer.Option(help="Trainings of each point, side by side.")] = 10,
    epochs: Epochs = None,
    results: Out = RESULTS,
    device: Device = "auto",
    plot: Plot = None,
    json_file: Annotated[Path | None, json_of("all points")] = None,
) -> None:
    """Accuracy against temperature, from an MLP (T = 0) to every path alike (T = inf); and where a trained T lands.

    The path weights are exp(-n^alpha/T). The same command again goes on where it stopped.

    Example: panconv temperature cora --L 1,2,3,5,10 --plot temperature.png
    """
    from panconv.met.methods import checked_method
    from panconv.paper.studies.temperature import SweepOf, draw_sweep, sweep
    from panconv.training.runner import missing
    from panconv.weights import PowerLaw

    checked_method(method)
    Ls, Ts = checks.whole_numbers(lengths, "--L"), checks.temperatures(temperatures, "the MLP")
    for L in Ls:
        checks.length(L)
    PowerLaw(1, alpha)  # refuses what is no exponent
    device = checks.work(trials, device, plot, json_file)
    checks.count(len(Ls) * len(Ts) * trials, "the number of trainings, lengths times --temperatures times --trials,")
    (store, done), name = checks.open_results(results), checks.canonical(graph)
    asked = SweepOf(name, Ls, Ts, alpha, method, trials, epochs)
    with screen.Batches(missing(asked.tasks(), done)) as bar:
        found = sweep(asked, store, device=device, command=checks.command_line(), callback=bar.show)
    heading = f"{screen.title(name)}, method {method}, E(n) = n^{alpha:g}"
    _show(found, heading, trials)
    screen.draw(plot, "plot", draw_sweep, found, f"{heading}, {trials} trials per point")
    screen.write_json(json_file, found.plain(), "points")


def _show(found: Sweep, heading: str, trials: int) -> None:
    lengths = sorted({point.L for point in found.points})
    screen.out.print(f"\n{heading}: test accuracy (%), {trials} trials per point")
    rows = screen.table(("T", *(f"L={L}" for L in lengths)))
    best = found.best()
    by_place = {(point.L, point.temperature): point for point in found.points}
    for T in sorted({point.temperature for point in found.points}):
        row = [by_place[L, T] for L in lengths]
        cells = [f"{100 * p.test_accuracy:.1f}{'*' if p is best else ''}" for p in row]
        rows.add_row("0, MLP" if T == 0 else f"{T:g}", *cells)
    screen.out.print(rows)
    screen.out.print(
        f"* the highest validation accuracy ({100 * best.val_accuracy:.1f}): L = {best.L}, T = {best.temperature:g}, "
        f"test {100 * best.test_accuracy:.1f} ± {100 * best.std:.1f}"
    )
    screen.out.print("\nT trained by gradient lands at (geometric mean ×/÷ spread of the trials)")
    screen.out.print(_landings(found.landings))


def _landings(landings: list[Landing]) -> Table:
    layers = [f"layer {i + 1}" for i in range(len(landings[0].temperatures))]
    rows = screen.table(("L", "from T", *layers, "val. (%)", "test (%)"))
    for each in landings:
        cells = [
            "not known" if T is None or s is None else f"{T:.2f} ×/÷ {math.exp(min(s, 99)):.2f}"
            for T, s in zip(each.temperatures, each.spreads, strict=True)
        ]
        accuracy = f"{100 * each.test_accuracy:.1f} ± {100 * each.std:.1f}"
        rows.add_row(str(each.L), f"{each.start:g}", *cells, f"{100 * each.val_accuracy:.1f}", accuracy)
    return rows
