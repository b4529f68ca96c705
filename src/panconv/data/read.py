"""`read`: a graph as people have it, two tables above all, with ids, class names and columns of their own."""

from __future__ import annotations

import logging
import time
import warnings
from pathlib import Path
from typing import Any

from panconv.base.checks import checked_flag, shown
from panconv.data.column_names import ends_of, id_of, label_of, note_unused, refuse_swapped, weight_of
from panconv.data.from_tables import Edges, Nodes, graph_of
from panconv.data.graph import Graph
from panconv.data.remarks import Remarks
from panconv.data.tables import read_table
from panconv.data.without_tables import SUFFIXES as OTHER_FILES
from panconv.data.without_tables import graph_from

_log = logging.getLogger(__name__)


def read(
    edges: Any,
    nodes: Any = None,
    *,
    id: str | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool = False,
    regression: bool = False,
    strict: bool = False,
) -> Graph:
    """A graph from a table of edges and, optionally, a table of nodes.

    Args:
        edges: a file (.csv, .tsv, .txt, .parquet, .jsonl) or a pandas frame with a row per edge. Or a graph that has no
            table: a NetworkX graph (or .graphml), a SciPy matrix A[receiver, sender] (or a .npz that SciPy wrote), a
            list of pairs, a PyG `Data`.
        nodes: a table with a row per node, likewise; beside a SciPy matrix a matrix of features.
        id: the column of `nodes` that edges refer to.
        label: the column of labels; an empty cell is an unknown label.
        source, target, weight: columns of `edges`.
        directed: whether an edge leads from its source to its target alone. NetworkX and PyG say so themselves.
        regression: whether the labels are numbers to predict and no classes: then they are read as a column of features
            is, and what is wrong with one is said by its line.
        strict: refuse what is otherwise mended with a warning. docs/read.md lists both.

    Columns that are left out are guessed where their names are plain; `Graph.notes` says what was guessed. Ids are
    compared as texts, so 7 and "7" are one node and "007" is another.

    >>> graph = read([("ann", "bob"), ("bob", "cy")])
    >>> graph.ids.tolist(), graph.num_edges
    (['ann', 'bob', 'cy'], 2)
    """
    began = time.perf_counter()
    directed, remarks = checked_flag(directed, "directed"), Remarks(checked_flag(strict, "strict"))
    regression = checked_flag(regression, "regression")
    named = {"id": id, "label": label, "source": source, "target": target, "weight": weight}
    for name, value in named.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column, got {shown(value)}")
    if _is_table(edges):
        graph = _from_tables(edges, nodes, named, directed, regression, remarks)
    else:
        graph = graph_from(edges, nodes, named, directed, regression, remarks)
    for note in graph.guessed:
        _log.info("guessed: %s", note)
    for note in graph.mended:
        _log.info("mended: %s", note, extra={"warned": True})  # for whoever shows warnings as well
        warnings.warn(note, stacklevel=2)
    _log.debug("read %s in %.2f s", graph, time.perf_counter() - began)
    return graph


def _is_table(edges: Any) -> bool:
    if isinstance(edges, (str, Path)):
        return Path(edges).suffix.lower() not in OTHER_FILES
    return hasattr(edges, "columns") and hasattr(edges, "to_dict")


def _from_tables(
    edges: Any, nodes: Any, named: dict[str, str | None], directed: bool, regression: bool, remarks: Remarks
) -> Graph:
    lines = read_table(edges, "edges", remarks)
    ends = ends_of(lines, named["source"], named["target"], remarks)
    where = Edges(lines, *ends, weight_of(lines, named["weight"], remarks))
    note_unused(lines, (where.source, where.target, where.weight), remarks)
    if nodes is None:
        for name in ("id", "label"):
            if named[name] is not None:
                raise ValueError(f"{name}={named[name]!r} is a column of nodes, and nodes is missing: name their table")
        return graph_of(where, None, directed, remarks)
    rows = read_table(nodes, "nodes", remarks)
    refuse_swapped(lines, rows, named["source"])
    whose = Nodes(rows, id_of(rows, named["id"], remarks), label_of(rows, named["label"], remarks), regression)
    return graph_of(where, whose, directed, remarks)
