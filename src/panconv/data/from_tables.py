"""A graph from a table of edges and a table of nodes: which row is which node, and what has no row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from panconv.data.columns import UNUSED, Column, as_objects, column_of, numbers_of
from panconv.data.edge_list import edges_from
from panconv.data.graph import Graph, as_ids
from panconv.data.labels import known_labels, later_numbers, look_at, sorted_classes
from panconv.data.remarks import Remarks, counted, short
from panconv.data.tables import Table


@dataclass(frozen=True)
class Edges:
    """A table of edges, and its columns."""

    table: Table
    source: str
    target: str
    weight: str | None


@dataclass(frozen=True)
class Nodes:
    """A table of nodes, its columns, and whether the labels are numbers to predict."""

    table: Table
    id: str
    label: str | None
    regression: bool = False


def graph_of(edges: Edges, nodes: Nodes | None, directed: bool, remarks: Remarks) -> Graph:
    """The graph of two tables, or of one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = edges.table
    ends = [_complete(lines, column) for column in (edges.source, edges.target)]
    weights = None if edges.weight is None else _weights(lines, edges.weight)
    known = pa.array([], pa.large_string())
    if nodes is not None:
        nodes = replace(nodes, table=each_once(nodes.table, nodes.id, remarks))
        known = _complete(nodes.table, nodes.id)
    every = pc.unique(pa.concat_arrays([known, *ends]))
    if not len(every):
        raise ValueError(f"{lines.name} has no edges, and there are no nodes: there is no graph in it")
    if nodes is not None and len(every) > len(known):
        _note_unknown(edges, ends, known, len(every) - len(known), remarks)
    s, t = (pc.index_in(each, every).to_numpy(zero_copy_only=False).astype(np.int64) for each in ends)
    edge_index, edge_weight = edges_from(s, t, weights, directed, remarks, lines.where)
    told = {} if nodes is None else _of_nodes(nodes, len(every), remarks)
    return Graph(
        ids=as_ids(every.to_pylist()),
        edge_index=edge_index,
        edge_weight=edge_weight,
        **told,
        directed=directed,
        guessed=tuple(remarks.guessed),
        mended=tuple(remarks.mended),
    )


def _complete(table: Table, column: str) -> Any:
    """A column of ids, none of them missing."""
    texts = table.texts(column)
    if texts.null_count:
        row = int(np.argmax(texts.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(f"{table.where(row, column)}: an id is missing; fill it in, or take the row out")
    return texts


def each_once(table: Table, key: str, remarks: Remarks) -> Table:
    """The table with each id once: rows that say the same again are left out, others are refused."""
    import pyarrow.compute as pc

    texts = _complete(table, key)
    unique = pc.unique(texts)
    if len(unique) == len(texts):
        return table
    places = pc.index_in(texts, unique).to_numpy(zero_copy_only=False)
    first = np.full(len(unique), len(texts))
    np.minimum.at(first, places, np.arange(len(texts)))
    again = np.flatnonzero(first[places] != np.arange(len(texts)))
    former = first[places[again]]
    for name in table.columns:
        cells = table.texts(name)
        code = pc.fill_null(pc.index_in(cells, pc.unique(cells)), -1).to_numpy(zero_copy_only=False)
        if (differ := code[again] != code[former]).any():
            row, before = int(again[differ.argmax()]), int(former[differ.argmax()])
            what = f"the id {short(texts[row])} stood in {table.where(before).removeprefix(table.name + ', ')}"
            raise ValueError(f"{table.where(row, name)}: {what}, with another value here; take one of the rows out")
    what = f"{table.where(int(again[0]), key)}: the id {short(texts[int(again[0])])} stands there a second time"
    remarks.mend(what, f"{counted(len(again), 'repeated row')} left out")
    return table.without(again)


def _note_unknown(edges: Edges, ends: list[Any], known: Any, count: int, remarks: Remarks) -> None:
    """Says which ends of edges have no row among the nodes; refuses tables that have no id in common."""
    import pyarrow.compute as pc

    missing = [pc.invert(pc.is_in(each, known)).to_numpy(zero_copy_only=False) for each in ends]
    place = 0 if missing[0].any() else 1
    row, column = int(missing[place].argmax()), (edges.source, edges.target)[place]
    what = f"{edges.table.where(row, column)}: {short(ends[place][row])} is no node of the other table"
    if len(known) and all(each.all() for each in missing):
        some = ", ".join(map(short, known.slice(0, 3)))
        raise ValueError(f"{what}, and so is no other end; its ids are such as {some}: name their column with id=…")
    remarks.mend(what, f"nodes without features and label: {count:,} of them")


def _weights(table: Table, column: str) -> np.ndarray:
    numbers = table.numbers(column)
    if numbers is None:
        numbers = table.parsed(column)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        value = table.texts(column)[row].as_py() or ""
        raise ValueError(f"{table.where(row, column)}: the weight {short(value)} is no finite number; mend it")
    return numbers


def _of_nodes(nodes: Nodes, N: int, remarks: Remarks) -> dict[str, Any]:
    """What a graph knows of its nodes."""
    return {"columns": _columns(nodes, N, remarks), **_labels(nodes, N, remarks)}


def _columns(nodes: Nodes, N: int, remarks: Remarks) -> dict[str, Column]:
    """The features, by node. The rows of the table are the first nodes, and others have no row."""
    table, columns = nodes.table, {}
    for name in table.columns:
        if name not in (nodes.id, nodes.label):
            found = column_of(table, name, remarks)
            columns[name] = replace(found, values=_padded(found.values, N))
            if found.kind == UNUSED:
                remarks.guess(f"{table.name}: the column {name!r} is not learned from: {found.why}")
    return columns


def _labels(nodes: Nodes, N: int, remarks: Remarks) -> dict[str, Any]:
    """What a graph knows of its labels, by node."""
    if (name := nodes.label) is None:
        return {}
    table, what = nodes.table.only(name), f"{nodes.table.name}, column {name!r}"
    labels = as_objects(table.texts(name))
    if nodes.regression:
        numbers = numbers_of(table, name, remarks)
        labels[np.isnan(numbers)] = None
        numbers = _padded(numbers, N)
        if np.isnan(numbers).all():
            remarks.mend(f"{what}: there is no number", "nothing can be learned")
        read: Callable[[], np.ndarray] = numbers.copy
    else:
        labels = known_labels(labels, lambda row: table.where(row, name), remarks)
        look_at(labels, what, remarks)
        read = partial(later_numbers, table, name, N, remarks.strict)
    found: dict[str, Any] = {"label": name}
    if any(each is not None for each in labels):
        found |= {"labels": _padded(labels, N), "numbers": read}
        found |= {} if nodes.regression else {"classes": sorted_classes(labels)}
    return found


def _padded(values: np.ndarray, N: int) -> np.ndarray:
    """Values of the first nodes, with nothing for the others; an unused column has no values."""
    if not len(values):
        return values
    empty: Any = None if values.dtype == object else np.nan
    return np.concatenate([values, np.full(N - len(values), empty, dtype=values.dtype)])
