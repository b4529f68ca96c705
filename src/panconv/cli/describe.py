"""panconv describe."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from itertools import groupby
from typing import Annotated, Any

import typer

from panconv.cli import given, screen
from panconv.cli.options import Columns, Directed, Edges, Label, Nodes, Strict

_MOST_ALIKE = 5  # columns that are listed one by one; more are a row together


def describe(
    graph: Edges,
    nodes: Nodes = None,
    columns: Columns = None,
    label: Label = None,
    directed: Directed = False,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a graph is before anything is learned from it: its figures, its columns, and what looks wrong.

    The time and memory of each model are estimated from two products that are timed on the graph.

    Example: panconv describe edges.csv nodes.csv --label topic
    """
    given.check(graph, nodes, columns, label)
    if as_json:
        screen.out.quiet = True  # what is guessed is in the JSON
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was mended is shown below
            found, table = _found(given.opened(graph, nodes, columns, label, directed, strict))
    finally:
        screen.out.quiet = False
    if as_json:
        print(json.dumps(found, indent=2))
        return
    _show(found, table)


def _found(known: given.Given) -> tuple[dict[str, Any], list[tuple[str, str, int]]]:
    """The figures, and what each column becomes."""
    import scipy.sparse as sp

    from panconv.data import read
    from panconv.data.described import described
    from panconv.data.features import Features
    from panconv.training.estimate import estimates

    graph = read(known.data) if known.graph is None else known.graph
    found = {"graph": known.name} | described(graph)
    features = Features.fit(graph)
    x = features.transform(graph)
    cells = x.nnz if sp.issparse(x) else x.size
    labelled = sum(found["classes"].values())
    costs = estimates(graph.adjacency, x.shape[1], labelled, len(found["classes"]), cells)
    return found | {"estimates": [each._asdict() for each in costs]}, features.rows()


def _show(found: dict[str, Any], table: list[tuple[str, str, int]]) -> None:
    kind = "directed edges" if found["directed"] else "edges"
    degree, mixed = found["degree"], found["homophily"]
    facts = {
        "nodes": f"{found['nodes']:,}",
        f"{kind}{', weighted' * found['weighted']}": f"{found['edges']:,}",
        "components": f"{found['components']:,}, the largest of {found['largest_component']:,} nodes",
        "nodes without an edge": f"{found['isolated']:,}",
        "degree": f"median {degree['median']:g}, mean {degree['mean']:.1f}, most {degree['most']:,} ({degree['of']})",
    }
    if found["classes"]:
        counts = Counter(found["classes"]).most_common(6)
        facts["labels"] = ", ".join(f"{name} {count:,}" for name, count in counts) + ", …" * (len(found["classes"]) > 6)
        facts["without a label"] = f"{found['unlabelled']:,}"
    if mixed is not None:
        facts["edges within a class"] = (
            f"{100 * mixed['within']:.1f} % of {mixed['edges']:,}; by chance {100 * mixed['chance']:.1f} %"
        )
    rows = screen.table(("", "graph"), screen.title(found["graph"]), ("graph",))
    for name, value in facts.items():
        rows.add_row(name, screen.one_line(value))
    screen.out.print(rows)
    _show_columns(found, table)
    for heading, lines in (("mended", found["mended"]), ("look at this", found["suspicious"])):
        for line in lines:
            screen.out.print(f"{heading}: {screen.one_line(line)}")
    costs = screen.table(("model", "time", "memory"), "On this machine, about", ("model",))
    for each in found["estimates"]:
        costs.add_row(each["model"], _time(each["seconds"]), _memory(each["bytes"]))
    screen.out.print(costs)


def _show_columns(found: dict[str, Any], table: list[tuple[str, str, int]]) -> None:
    missing = {each["name"]: each["missing"] for each in found["columns"]}
    rows = screen.table(("column", "becomes", "columns", "missing"), "As features", ("becomes",))
    for what, run in groupby(table, lambda row: row[1]):
        alike = list(run)
        for part in [alike] if len(alike) > _MOST_ALIKE else [[row] for row in alike]:
            first, last = part[0][0], part[-1][0]
            name = first if len(part) == 1 else f"{first} … {last}"
            gaps = [missing[row[0]] for row in part if missing.get(row[0]) is not None]
            count = sum(row[2] for row in part)
            rows.add_row(screen.one_line(name)[:24], what, f"{count:,}", f"{sum(gaps):,}" if gaps else "")
    screen.out.print(rows)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def _memory(count: float) -> str:
    return f"{max(count / 2**20, 1):,.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"
