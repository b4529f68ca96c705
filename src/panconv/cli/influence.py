"""panconv influence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import track

from panconv.base.near import meant
from panconv.cli import checks, screen
from panconv.cli.options import Length, Plot, Seed, json_of

if TYPE_CHECKING:
    from panconv.paper.studies.influence import Spread, Study

PATHS = ("walks", "shortest", "self_avoiding")
_MOST_NODES = 5000  # whose pairs are all looked at


def influence(
    nodes: Annotated[int, typer.Option(help="Nodes of each generated graph.")] = 1000,
    L: Length = 3,
    temperature: Annotated[float, typer.Option(help="T: a path of n steps weighs exp(-n/T).")] = 1.0,
    paths: Annotated[str, typer.Option(metavar="|".join(PATHS), help="Which paths count.")] = "walks",
    trials: Annotated[int, typer.Option(help="Graphs of each kind, each with a seed of its own.")] = 5,
    seed: Seed = 0,
    plot: Plot = None,
    json_file: Annotated[Path | None, json_of("the figures")] = None,
) -> None:
    """How much a hub is heard beside an ordinary node, by M and by random walks, at distances 1 to L.

    On generated small worlds: a ring with a hub of long-range links, and a graph grown by preferential attachment. Then
    one node of a ring is given followers, and what it sends is followed to the nodes that heard it before.

    Example: panconv influence --plot hub.png --json hub.json
    """
    from panconv.base.checks import checked_positive

    checks.count(nodes, "--nodes", 20, _MOST_NODES)
    checks.count(L, "--L", 1, 5)
    checked_positive(temperature, "--temperature")
    if paths not in PATHS:
        raise ValueError(f"--paths must be one of {', '.join(PATHS)}, got {paths!r}{meant(paths, PATHS)}")
    checks.count(trials, "--trials")
    checks.count(seed, "--seed", 0, 2**32 - 1)
    checks.outputs(plot, json_file)
    from panconv.paper.studies.influence import How, study

    seeds = track(range(seed, seed + trials), "graphs", console=screen.console(stderr=True), transient=True)
    found = study(nodes, seeds, How(L, temperature, paths))
    counted = paths if paths == "walks" else f"{paths.replace('_', '-')} paths"
    _show(found, f"Influence on others: {nodes:,} nodes, {counted}, T = {temperature:g}, {trials} of each graph")
    if plot is not None:
        from panconv.paper.figures.influence import influence_figure

        influence_figure(found, f"How much a hub is heard: {nodes:,} nodes, {counted}, {trials} of each graph", plot)
        screen.say("plot", plot)
    how = {"nodes": nodes, "L": L, "temperature": temperature, "paths": paths, "trials": trials, "seed": seed}
    screen.write_json(json_file, how | found.plain() | {"command": checks.command_line()}, "figures")


def _show(found: Study, how: str) -> None:
    from panconv.paper.studies.influence import FOLLOWERS

    screen.out.print(how)
    for kind in found.rounds:
        summary, (links, _) = found.summary(kind), found.degree(kind)
        usual = found.rounds[kind][0].ordinary_degree
        heading = f"{kind.capitalize()}: a hub of {links:.0f} links over nodes of {usual}"
        _table(heading, [each.ratio for each in summary])
        _table(f"{heading}, same receivers", [each.same for each in summary])
    heading = f"Ring: a node with {FOLLOWERS[-1]} followers over the same node without"
    _table(heading, [[each[-1] for each in of] for of in found.followers])


def _table(heading: str, rows: Sequence[Sequence[Spread]]) -> None:
    from panconv.paper.studies.influence import OPERATORS

    many = len(rows[0]) > 3  # distances, for which the width of a terminal leaves no room for the spread
    columns = [f"d = {d}" if many else f"distance {d}" for d in range(1, len(rows[0]) + 1)]
    shown = screen.table(["operator", *columns], heading)
    for operator, cells in zip(OPERATORS, rows, strict=True):
        shown.add_row(str(operator), *(_cell(mean, None if many else std) for mean, std in cells))
    screen.out.print(shown)


def _cell(mean: float, std: float | None) -> str:
    """To three digits, of which as many stand behind the point in both."""
    if math.isnan(mean):
        return "-"
    digits = min(max(2 - math.floor(math.log10(1.0005 * mean)), 0), 4) if mean else 4
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")
