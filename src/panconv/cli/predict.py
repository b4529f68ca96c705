"""panconv predict."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.base.near import missing_file
from panconv.cli import checks, known_ids, screen
from panconv.cli.model_folder import Asked, Folder, Tables
from panconv.cli.options import Columns, Label, Nodes, Strict, json_of
from panconv.cli.truth import truth_in

if TYPE_CHECKING:
    import numpy as np

    from panconv.data import Graph

_WHICH = {
    "with a label": "nodes with a label; which of them it learned from is not known, as the model folder has no "
    f"{known_ids.FILE}",
    "not learned from": "nodes whose label it did not learn from",
    "all with a label": "nodes with a label, some of which it learned from",
    "learned from": "nodes whose label it learned from, which says little: --truth FILE has others",
}


def predict(
    model: Folder,
    graph: Tables = None,
    nodes: Nodes = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the answers as a CSV file.")] = None,
    ids: Annotated[str | None, typer.Option(metavar="ID,...", help="Answer for these nodes only.")] = None,
    ids_file: Annotated[
        Path | None, typer.Option("--nodes", metavar="FILE", help="Answer only for the ids in this file, one per line.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of ids and labels to compare with.")
    ] = None,
    columns: Columns = None,
    label: Label = None,
    directed: Annotated[bool | None, typer.Option("--directed", help="Edges of a table lead one way.")] = None,
    strict: Strict = False,
    json_file: Annotated[Path | None, json_of("what is known of the answers")] = None,
) -> None:
    """Predict the labels of a graph's nodes: of the graph that the model learned from, a later state, or another one.

    Tables are read as the model's run.toml says; command-line options take precedence. Where labels are known, it also
    says how many of the answers are right.

    Example: panconv predict model/ edges.csv nodes.csv --out predicted.csv
    """
    asked = Asked.of(model, graph, nodes, columns, label, directed, strict)
    wanted = _wanted(ids, ids_file)
    if truth is not None and not truth.is_file():
        raise missing_file(truth, "--truth")
    checks.outputs(None, out, json_file, model=model)

    from sklearn.base import is_regressor

    from panconv.estimator.answer_table import answers, header

    estimator = asked.estimator()
    regression = is_regressor(estimator)
    real = None if truth is None else truth_in(truth, regression)
    read = asked.graph(regression)
    rows, learned = _rows(read, wanted), asked.learned(read)
    known = _known(read, regression) if real is None else real.of(read)
    found, names = [*answers(estimator, read, learned, rows)], header(estimator)
    content = {"model": str(model), "graph": str(asked.run.edges), "nodes": len(found)}
    content |= _show(names, found)
    right = _compared(names, found, known if rows is None else [known[row] for row in rows.tolist()])
    for line in right:
        screen.out.print(_sentence(line))
    screen.write_table(out, names, found, "answers")
    screen.write_json(json_file, content | {"compared": right}, "answers")


def _wanted(ids: str | None, file: Path | None) -> list[str] | None:
    """The ids that were typed, or stand in a file."""
    if ids is not None and file is not None:
        raise ValueError("--ids and --nodes both say which nodes are meant: leave one out")
    if file is not None and not file.is_file():
        raise missing_file(file, "--nodes")
    if ids is None and file is None:
        return None
    lines = (ids or "").split(",") if file is None else file.read_text(encoding="utf-8-sig").splitlines()
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise ValueError(f"{'--ids' if file is None else file} names no node: give ids, one after another")
    return found


def _rows(graph: Graph, wanted: list[str] | None) -> np.ndarray | None:
    import numpy as np

    return None if wanted is None else np.array([graph.index(each) for each in wanted], dtype=np.int64)


def _show(names: tuple[str, ...], found: list[list[Any]]) -> dict[str, Any]:
    """The answers in short, on the screen and for machines."""
    if names[1] == "value":
        values = [row[1] for row in found]
        mean = sum(values) / len(values)
        screen.out.print(f"{len(found):,} nodes: {min(values):.4g} to {max(values):.4g}, {mean:.4g} on average")
        return {"least": min(values), "mean": mean, "most": max(values)}
    counts = Counter(row[1] for row in found)
    rows = screen.table(("class", "nodes", "mean probability"), f"{len(found):,} nodes")
    for name, count in counts.most_common():
        sure = sum(row[2] for row in found if row[1] == name) / count
        rows.add_row(screen.one_line(name), f"{count:,}", f"{100 * sure:.0f} %")
    screen.out.print(rows)
    return {"classes": dict(counts)}


def _known(graph: Graph, regression: bool) -> list[Any]:
    """What the graph itself says of its nodes, None where it says nothing."""
    if graph.labels is None:
        return [None] * graph.num_nodes
    if not regression:
        return list(graph.labels.tolist())
    return [None if each != each else each for each in graph.targets.tolist()]


def _compared(names: tuple[str, ...], found: list[list[Any]], truth: list[Any]) -> list[dict[str, Any]]:
    """How good the answers are, on the nodes that were not learned from, and on all whose label is known."""
    known = names.index("known")
    pairs = [(row[1], real, row[known]) for row, real in zip(found, truth, strict=True) if real is not None]
    fresh = [(said, real) for said, real, learned in pairs if learned == "no"]
    parts = {"not learned from": fresh}
    if any(learned is None for *_, learned in pairs):
        parts = {"with a label": [(said, real) for said, real, _ in pairs]}
    elif len(fresh) < len(pairs):
        parts["all with a label" if fresh else "learned from"] = [(said, real) for said, real, _ in pairs]
    judge = _of_numbers if names[1] == "value" else _of_classes
    return [{"nodes": name, "count": len(part), **judge(part)} for name, part in parts.items() if part]


def _of_classes(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    from panconv.estimator.figure import wilson

    share = sum(said == real for said, real in pairs) / len(pairs)
    return {"accuracy": share, "interval": wilson(share, len(pairs))}


def _of_numbers(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    said, true = [each for each, _ in pairs], [each for _, each in pairs]
    mean = sum(true) / len(true)
    spread, lost = sum((t - mean) ** 2 for t in true), sum((t - s) ** 2 for s, t in zip(said, true, strict=True))
    error = sum(abs(t - s) for s, t in zip(said, true, strict=True)) / len(true)
    return {"r2": 1 - lost / spread if spread else None, "mae": error}


def _sentence(one: dict[str, Any]) -> str:
    nodes = f"{one['count']:,} {_WHICH[one['nodes']]}"
    if "accuracy" in one:
        low, high = (100 * each for each in one["interval"])
        return f"right: {100 * one['accuracy']:.1f} % (95 % interval {low:.1f} to {high:.1f}) of {nodes}"
    r2 = "" if one["r2"] is None else f"R² {one['r2']:.3f}, "
    return f"{r2}mean absolute error {one['mae']:.4g}, of {nodes}"
