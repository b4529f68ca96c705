"""panconv similar."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from panconv.cli import checks, given, screen
from panconv.cli.options import WALKS, Columns, Edges, Strict, Walk, json_of


def similar(
    graph: Edges,
    node: Annotated[str, typer.Argument(metavar="ID", help="The node, by its id in the table.")],
    top: Annotated[int, typer.Option(help="So many nodes.")] = 10,
    steps: Annotated[int, typer.Option(help="The length of the walk.")] = 2,
    walk: Walk = None,
    columns: Columns = None,
    strict: Strict = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write them as a CSV file.")] = None,
    json_file: Annotated[Path | None, json_of("them")] = None,
) -> None:
    """The nodes most like a node: those from which walkers come to the same places.

    Example: panconv similar edges.csv cust-418
    """
    checks.one_of(walk, WALKS, "--walk")
    given.check(graph, None, columns)
    checks.count(top, "--top")
    checks.count(steps, "--steps")
    checks.outputs(None, out, json_file)
    known = given.opened(graph, None, columns, strict=strict)

    from panconv.tasks import similar as most_similar

    place = known.place(node)
    found, cosine = most_similar(known.adjacency, place, top, walk or "generic", steps)
    ids = known.ids[found.numpy()].tolist()
    linked = set(known.data.edge_index[1][known.data.edge_index[0] == place].tolist())
    screen.out.print(screen.one_line(f"{known.title}: nodes like {known.ids[place]}"))
    rows = screen.table(("node", "alike", "an edge"))
    lines = [
        (name, round(value, 6), "yes" if number in linked else "no")
        for name, value, number in zip(ids, cosine.tolist(), found.tolist(), strict=True)
    ]
    for name, value, edge in lines:
        rows.add_row(screen.one_line(str(name)), f"{value:.3f}", edge)
    screen.out.print(rows)
    if not lines:
        screen.out.print("no walk leads from it to another node and back")
    screen.write_table(out, ("id", "alike", "edge"), lines, "nodes")
    content = {"graph": known.name, "id": known.ids.tolist()[place], "similar": lines}
    screen.write_json(json_file, content, "nodes")
