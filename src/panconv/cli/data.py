"""panconv data."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from panconv.base.near import meant
from panconv.cli import checks, screen
from panconv.cli.options import BUILT_IN, completing

_EXPORTED = BUILT_IN[:3]  # those that come with the package


def data(
    action: Annotated[
        str | None,
        typer.Argument(metavar="[export", help="Write a graph as tables.", autocompletion=completing(["export"])),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Argument(metavar="GRAPH]", help="cora, citeseer or pubmed.", autocompletion=completing(_EXPORTED)),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="As CSV: edges.csv, nodes.csv and truth.csv.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where the tables go; by default GRAPH/.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the graphs that are built in, with their figures; or write one as its owner would have it.

    nodes.csv has the labels of the training nodes alone, and truth.csv has all labels.

    Example: panconv data export cora --csv
    """
    from panconv.data import DATASETS

    if action is not None or graph is not None or csv or out is not None:
        _export(action, graph, csv, out)
        return
    if as_json:
        print(json.dumps({name: asdict(card) for name, card in DATASETS.items()}, indent=2))
        return
    rows = screen.table(("name", "nodes", "edges", "features", "classes", "train / val / test"), "Built-in graphs")
    for name, card in DATASETS.items():
        figures = [f"{n:,}" for n in (card.nodes, card.edges, card.features, card.classes)]
        rows.add_row(name, *figures, " / ".join(f"{n:,}" for n in card.split))
    screen.out.print(rows)


def _export(action: str | None, graph: str | None, csv: bool, out: Path | None) -> None:
    """Writes a built-in graph as tables."""
    if action != "export" or graph is None or not csv:
        raise ValueError("to write a graph as tables takes a graph and --csv: data export cora --csv")
    name = graph.lower()
    if name not in _EXPORTED:
        raise ValueError(f"{graph!r} is none of the built-in graphs {', '.join(_EXPORTED)}{meant(name, _EXPORTED)}")
    from panconv.data.export import FILES, export

    out = Path(name) if out is None else out
    for file in FILES:
        checks.outputs(None, out / file)
    for path in export(name, out):
        screen.say("written", path)
