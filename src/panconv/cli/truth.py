"""What --truth says: a table of ids and labels, read as the labels that a model learns from are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from panconv.cli import screen

if TYPE_CHECKING:
    from panconv.data import Graph
    from panconv.data.remarks import Remarks
    from panconv.data.tables import Table


class Truth(NamedTuple):
    """What is known, by id: classes as texts, or numbers; None where nothing is known."""

    file: Path
    known: dict[str, Any]

    def of(self, graph: Graph) -> list[Any]:
        """Of each node of a graph."""
        ids = graph.ids.astype(str).tolist()
        if not any(each in self.known for each in ids):
            raise ValueError(f"{self.file} names none of the nodes: its ids must be written as in the table of nodes")
        return [self.known.get(each) for each in ids]


def truth_in(file: Path, regression: bool) -> Truth:
    """The truth in a file: numbers, or classes."""
    from panconv.data.from_tables import each_once
    from panconv.data.remarks import Remarks
    from panconv.data.tables import read_table

    remarks = Remarks()
    table = read_table(file, "--truth", remarks)
    key, label = _columns(table, remarks)
    table = each_once(table.only(key, label), key, remarks)
    found = _numbers(table, label, remarks) if regression else _classes(table, label, remarks)
    for note in remarks.guessed:
        screen.remark(f"guessed: {note}")
    for note in remarks.mended:
        warnings.warn(note, stacklevel=2)
    return Truth(file, dict(zip(table.texts(key).to_pylist(), found, strict=True)))


def _columns(table: Table, remarks: Remarks) -> tuple[str, str]:
    """Those of the ids and of the labels."""
    from panconv.data.column_names import id_of, label_of

    key, label = id_of(table, None, remarks), label_of(table, None, remarks)
    if label is None and len(table.columns) == 2:
        label = next(each for each in table.columns if each != key)
    if label is None or label == key:
        raise ValueError(f"{table.name} has no column 'label': name that of the labels so")
    return key, label


def _classes(table: Table, name: str, remarks: Remarks) -> list[Any]:
    from panconv.data.columns import as_objects
    from panconv.data.labels import known_labels

    return list(known_labels(as_objects(table.texts(name)), lambda row: table.where(row, name), remarks).tolist())


def _numbers(table: Table, name: str, remarks: Remarks) -> list[Any]:
    from panconv.data.columns import numbers_of

    return [None if each != each else each for each in numbers_of(table, name, remarks).tolist()]
