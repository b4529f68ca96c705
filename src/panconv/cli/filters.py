"""panconv filters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TimeElapsedColumn

from panconv.cli import checks, screen
from panconv.cli.options import Exponent, Graph, Length, Method, Plot, json_of

if TYPE_CHECKING:
    from panconv.paper.studies.filters import Filter


def filters(
    graph: Graph,
    temperatures: Annotated[
        str, typer.Option(metavar="T,T,...", help="Temperatures: 0 is M = I, inf all weights alike.")
    ] = "0,0.1,0.3,0.5,1,2,inf",
    alpha: Exponent = 1.0,
    L: Length = 2,
    method: Method = 2,
    plot: Plot = None,
    json_file: Annotated[Path | None, json_of("every frequency")] = None,
) -> None:
    """M as a filter at each temperature: what passes of the Laplacian's frequencies, and of the path lengths.

    Up to 4000 nodes by all eigenvectors of the normalised Laplacian; of a larger graph by random vectors, in bands.

    Example: panconv filters cora --method 2 --L 2 --plot filters.png
    """
    from panconv.met.methods import checked_method

    checked_method(method)
    checks.length(L)
    Ts = checks.temperatures(temperatures, "M = I")
    checks.count(len(Ts), "the number of --temperatures", 1, 1000)
    checks.outputs(plot, json_file)
    name = checks.canonical(graph)

    from panconv.data import load
    from panconv.graph import Adjacency
    from panconv.paper.studies import filters as study
    from panconv.weights import PowerLaw

    PowerLaw(1, alpha)  # refuses what is no exponent
    data = load(name, sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    columns = (screen.words(), BarColumn(bar_width=20), TimeElapsedColumn())
    with Progress(*columns, console=screen.console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"filters of {data.num_nodes:,} nodes", total=len(Ts))
        found = study.filters(adj, Ts, L, method, alpha, lambda: bar.advance(task))
    how = f"method {method}, L = {L}, E(n) = n^{alpha:g}"
    _show(found, f"{screen.title(name)}: {how}, {data.num_nodes:,} nodes")
    screen.draw(plot, "plot", study.draw_filters, found, f"{screen.title(name)}: {how}")
    record = {"graph": name, "method": method, "L": L, "alpha": alpha, "command": checks.command_line()}
    screen.write_json(json_file, {**record, "filters": [each.plain() for each in found]}, "frequencies")


def _show(found: list[Filter], heading: str) -> None:
    from panconv.paper.studies.filters import COARSE

    bands = [each.found.in_bands(COARSE) for each in found]
    width = 2 / COARSE
    names = [f"{i * width:.1f}-{(i + 1) * width:.1f}" for i in range(COARSE)]
    screen.out.print(f"\n{heading}\ngain and leakage by frequency, an eigenvalue of the normalised Laplacian")
    rows = screen.table(("T", *names, "passes"))
    rows.add_row("states", *(f"{states:.0f}" for states in bands[0].states.tolist()), "")
    for each, band in zip(found, bands, strict=True):
        pairs = zip(band.gain.tolist(), band.leakage.tolist(), strict=True)
        cells = ["-" if gain != gain else f"{gain:.3f} {leakage:.2f}" for gain, leakage in pairs]
        rows.add_row(f"{each.temperature:g}", *cells, each.kind().removesuffix("-pass"))
    screen.out.print(rows)
    if not found[0].exact:
        screen.out.print("states, gain and leakage: estimated from random vectors")
    longest = len(found[0].shares) - 1
    screen.out.print("shares of the path lengths, mean over the nodes")
    rows = screen.table(("T", "n = 0", f"n = L = {longest}", "mean n"))
    for each in found:
        mean = sum(n * share for n, share in enumerate(each.shares))
        rows.add_row(f"{each.temperature:g}", f"{each.shares[0]:.3f}", f"{each.shares[-1]:.3f}", f"{mean:.2f}")
    screen.out.print(rows)
