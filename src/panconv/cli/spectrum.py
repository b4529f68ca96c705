"""panconv spectrum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TimeElapsedColumn

from panconv.cli import checks, given, screen
from panconv.cli.options import Columns, Device, Edges, Length, Strict, json_of, plot_of

if TYPE_CHECKING:
    from panconv.paper.studies.spectrum import Spectrum


def spectrum(
    graph: Edges,
    method: Annotated[int, typer.Option(help="The method: any but 3 and 4.")] = 2,
    L: Length = 2,
    k: Annotated[
        str | None, typer.Option("--k", metavar="K,K,...", help="The L+1 path weights; ones if left out.")
    ] = None,
    starts: Annotated[int, typer.Option(help="Random starts of the density of a large graph.")] = 32,
    device: Device = "auto",
    columns: Columns = None,
    strict: Strict = False,
    plot: Annotated[Path | None, plot_of("the two spectra")] = None,
    json_file: Annotated[Path | None, json_of("all values")] = None,
) -> None:
    """The spectrum of M beside that of the normalised Laplacian.

    All eigenvalues up to 4000 nodes; of a larger graph the density, by stochastic Lanczos quadrature, and the leading
    eigenvalues.

    Example: panconv spectrum cora --method 2 --plot spectrum.png
    """
    given.check(graph, None, columns)

    from panconv.met import MET
    from panconv.met.methods import check_similar
    from panconv.paper.studies.spectrum import draw_spectra, spectra
    from panconv.paths import Walks
    from panconv.weights import in_words

    check_similar(method)
    checks.length(L)
    weights = [1.0] * (L + 1) if k is None else checks.numbers(k, "--k")
    checks.count(starts, "--starts")
    device = checks.device(device)
    checks.outputs(plot, json_file)
    known = given.opened(graph, None, columns, strict=strict)
    name, data, adj = known.name, known.data, known.adjacency.to(device)
    M = MET(Walks(adj, L), weights, method)
    parts_of_bar = (screen.words(), BarColumn(bar_width=20), TimeElapsedColumn())
    with Progress(*parts_of_bar, console=screen.console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"two spectra of {data.num_nodes:,} nodes", total=2 * starts)
        found = spectra(M, adj, starts, lambda done: bar.advance(task, done))
    count = int(adj.components.max()) + 1
    parts = "connected" if count == 1 else f"{count:,} components"
    heading = f"{screen.title(name)}: {data.num_nodes:,} nodes"
    _show(found, f"{heading}, {parts}, k(n) = {in_words(weights)}")
    screen.draw(plot, "spectra", draw_spectra, found, heading)
    record = {"graph": name, "method": method, "L": L, "k": weights, "command": checks.command_line()}
    screen.write_json(json_file, {**record, "spectra": [each.plain() for each in found]}, "values")


def _show(found: list[Spectrum], heading: str) -> None:
    labels = {
        "largest": "largest eigenvalue",
        "smallest": "smallest",
        "mean": "mean",
        "smooth": "smoothest state",
        "copies": "  how often",
        "gap": "  gap to the next",
        "near_zero": "share within 0.01 of 0",
    }
    all_numbers = [each.numbers() for each in found]
    rows = screen.table(["", *(each.name for each in found)], heading)
    for key, label in labels.items():
        rows.add_row(label, *(_cell(key, each) for each in all_numbers))
    screen.out.print(rows)
    if not all(each.exact for each in found):
        screen.out.print("mean, smallest and shares: from the density, by stochastic Lanczos quadrature")


def _cell(key: str, found: dict[str, Any]) -> str:
    value = found[key]
    if key == "copies" and found["gap"] is None:  # as many as were looked for
        return f"at least {value}"
    if value is None:
        return "not seen"
    if key == "near_zero":
        return f"{100 * value:.2f} %"
    return f"{value:d}" if isinstance(value, int) else f"{round(value, 4) + 0.0:.4f}"
