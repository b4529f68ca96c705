"""The options that several commands have: their names and what the help says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

BUILT_IN = ("cora", "citeseer", "pubmed", "minesweeper", "tolokers", "squirrel_filtered", "chameleon_filtered")

# By name alone, so that a misspelt one is said before torch is imported; a test compares them with what there is.
WALKS = ("generic", "maximal-entropy")
SPACES = ("random-propagation", "warm", "deep", "heterophilous", "averaged-propagation", "deep-propagation")


def completing(names: Iterable[str]) -> Callable[[str], list[str]]:
    """What a shell completes to one of some names; where none begins so, it completes files."""
    known = [*names]
    return lambda incomplete: [name for name in known if name.startswith(incomplete.lower())]


GRAPH_NAMES = completing(BUILT_IN)
Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", help="cora, citeseer, pubmed, or a folder.", autocompletion=GRAPH_NAMES)
]
# Where tables of one's own are taken too.
Edges = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH|EDGES",
        help="cora, citeseer, pubmed, a folder, or a table of edges.",
        autocompletion=GRAPH_NAMES,
    ),
]
Nodes = Annotated[Path | None, typer.Argument(metavar="[NODES]", help="A table of nodes beside one of edges.")]
Columns = Annotated[
    str | None,
    typer.Option(metavar="NAME=COLUMN,...", help="Columns of the tables: source, target, weight, id, label."),
]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of labels in the table of nodes.")]
Directed = Annotated[bool, typer.Option("--directed", help="Edges of a table lead one way.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at what a table has wrong, rather than mend it.")]
Walk = Annotated[str | None, typer.Option(metavar="|".join(WALKS), help="The walk.", autocompletion=completing(WALKS))]
Method = Annotated[int, typer.Option(help="The method: the paper's 1 to 7, or 8 to 11 on the generic walk.")]
Length = Annotated[int, typer.Option("--L", help="The longest path.")]
Exponent = Annotated[float, typer.Option(help="E(n) = n^alpha, at least 1.")]
Seed = Annotated[int, typer.Option(help="The first trial's seed; the next ones count up.")]
Epochs = Annotated[int | None, typer.Option(help="At most so many epochs.")]
Device = Annotated[
    str, typer.Option(metavar="auto|cpu|cuda", help="Where to compute; auto is a GPU where there is one, else the CPU.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the record of each training goes.")]

RESULTS = Path("results")  # where records go and are looked for


def plot_of(what: str) -> Any:
    """The option --plot where the picture has a name."""
    return typer.Option(metavar="FILE", help=f"Save {what} (png, svg, pdf).")


Plot = Annotated[Path | None, plot_of("a plot")]


def json_of(what: str) -> Any:
    """The option --json, for machines."""
    return typer.Option("--json", metavar="FILE", help=f"Write {what} as JSON.")
