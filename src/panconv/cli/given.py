"""The graph that was typed: a built-in one, a folder, or tables of one's own, whose ids every answer has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panconv.base.files import expanded
from panconv.base.near import a_folder, missing_file, nearest
from panconv.cli import checks, screen
from panconv.cli.options import BUILT_IN

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from panconv.data import Graph
    from panconv.graph import Adjacency

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".jsonl", ".ndjson", ".graphml")
_COLUMNS = ("source", "target", "weight", "id", "label")


@dataclass(frozen=True)
class Given:
    """A graph and what it is called.

    Args:
        name: as it was typed, or the path as a record has it.
        ids: (N,), those of the file; the numbers of the nodes where there is none.
        data: as PyG has it; without features where tables were read.
        graph: what was read; None of a built-in one.
    """

    name: str
    ids: Any
    data: Data
    graph: Graph | None = None

    @property
    def title(self) -> str:
        return screen.title(self.name)

    def place(self, node: str) -> int:
        """The number of a node."""
        if self.graph is not None:
            return self.graph.index(node)
        if not node.isdigit() or int(node) >= len(self.ids):
            raise ValueError(f"there is no node {node!r} in {self.name}: nodes are 0 … {len(self.ids) - 1}")
        return int(node)

    @property
    def adjacency(self) -> Adjacency:
        from panconv.graph import Adjacency

        if self.graph is not None:
            return self.graph.adjacency
        return Adjacency.from_edge_index(self.data.edge_index, num_nodes=self.data.num_nodes)


def is_table(name: str) -> bool:
    """Whether a name is that of a table, by how it ends; it need not be there."""
    return Path(name).suffix.lower() in SUFFIXES


def check(name: str, nodes: Path | None = None, columns: str | None = None, label: str | None = None) -> None:
    """Refuses what is not there, by its likely name. Imports no torch: a misspelt word is said at once."""
    check_named(name, nodes, columns_of(columns, label))


def check_named(name: str, nodes: Path | None, named: Mapping[str, str]) -> None:
    """The same, where the columns are known by what they hold."""
    if not is_table(name):
        _check_other(name, nodes)
        return
    for path, what in ((Path(name), "edges"), (nodes, "nodes")):
        if path is not None and not os.path.exists(expanded(path)):
            raise missing_file(path, what)
    from panconv.data.tables import check_names

    for path, arguments in ((Path(name), _COLUMNS[:3]), (nodes, _COLUMNS[3:])):
        if path is not None:
            check_names(expanded(path), {each: named[each] for each in arguments if each in named})


def _check_other(name: str, nodes: Path | None) -> None:
    """Refuses what is no table and no graph that is known by its name, nor a folder that may hold one."""
    path = expanded(name)
    if name.lower() not in BUILT_IN:  # which wins over a folder of that name, ./cora
        if os.path.isdir(path) and _holds_tables(path):
            raise a_folder(path, "edges", SUFFIXES)
        if os.path.isfile(path) and path.suffix.lower() != ".npz":
            from panconv.data.tables import other_kind

            raise other_kind(name, "edges")
        if not os.path.exists(path):
            _check_spelling(name, path, nodes)
    if nodes is not None:
        raise ValueError(f"a table of nodes, {str(nodes)!r}, goes with a table of edges, and {name!r} is none")


def _check_spelling(name: str, path: Path, nodes: Path | None) -> None:
    """Refuses what is not there and is likely meant for a table that is, or for a built-in graph."""
    if path.suffix and (nodes is not None or _is_near_table(path)):
        raise missing_file(path, "edges")
    if (near := nearest(name, BUILT_IN)) is not None and "/" not in name:
        graphs = ", ".join(BUILT_IN[:3])
        raise ValueError(f"source {name!r} is neither a built-in graph ({graphs}) nor a folder: did you mean {near!r}?")


def _is_near_table(path: Path) -> bool:
    """Whether a table that is there has nearly this name."""
    beside = os.listdir(path.parent) if os.path.isdir(path.parent) else []
    return nearest(path.name, filter(is_table, beside)) is not None


def _holds_tables(folder: Path) -> bool:
    """Whether there are tables in it, and no files of Planetoid's."""
    names = os.listdir(folder)
    return any(map(is_table, names)) and not any(name.startswith("ind.") for name in names)


def opened(
    name: str,
    nodes: Path | None = None,
    columns: str | None = None,
    label: str | None = None,
    directed: bool = False,
    strict: bool = False,
) -> Given:
    """The graph, read; what was guessed of it is said."""
    check(name, nodes, columns, label)
    named = columns_of(columns, label)
    if not is_table(name):
        for option, value in (("--columns", columns), ("--label", label), ("--directed", directed)):
            if value:
                raise ValueError(f"{option} goes with a table of edges, and {name!r} is none: leave it out")
        return _built_in(checks.canonical(name))
    from torch_geometric.data import Data

    graph = tables(name, nodes, named, directed, strict)
    data = Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes)
    return Given(str(Path(name).expanduser().resolve()), graph.ids, data, graph)


def tables(
    name: str,
    nodes: Path | None,
    named: dict[str, str],
    directed: bool = False,
    strict: bool = False,
    regression: bool = False,
    tell: bool = True,
) -> Graph:
    """The graph of tables, `named` being their columns; what was guessed of it is said, unless it was said before."""
    from panconv.data import read

    graph = read(Path(name), nodes, directed=directed, strict=strict, regression=regression, **named)
    for note in graph.guessed if tell else ():
        screen.remark(f"guessed: {note}")
    return graph


def whole(name: str, nodes: Path | None, named: dict[str, str], **how: bool) -> Graph:
    """A graph with its features and labels: of tables, or a built-in one, whose ids are row numbers."""
    if is_table(name):
        return tables(name, nodes, named, **how)
    from panconv.data import load, read

    return read(load(checks.canonical(name), sparse=True))


def _built_in(name: str) -> Given:
    import numpy as np

    from panconv.data import load

    data = load(name, sparse=True)
    return Given(name, np.arange(data.num_nodes), data)


def columns_of(text: str | None, label: str | None = None) -> dict[str, str]:
    """What --columns and --label name, as `read` takes it."""
    found: dict[str, str] = {} if label is None else {"label": label}
    for part in (text or "").split(",") if text is not None else ():
        name, _, column = part.partition("=")
        if name.strip() not in _COLUMNS or not column:
            near = nearest(name.strip(), _COLUMNS)
            hint = f"did you mean {near}=…?" if near and near != name.strip() else "such as source=from,target=to"
            raise ValueError(f"--columns must be {', '.join(f'{each}=…' for each in _COLUMNS)}, got {part!r}: {hint}")
        found[name.strip()] = column
    return found


def own_nodes(graphs: list[str], columns: str | None, label: str | None) -> tuple[str, Path | None] | None:
    """The tables of edges and nodes, where these were typed in place of names of graphs; none of them misspelt."""
    if not any(map(is_table, graphs)):
        for name in graphs:
            check(name)
        return None
    if len(graphs) == 2 and not is_table(graphs[0]):
        check(graphs[0], Path(graphs[1]))
    if not is_table(graphs[0]) or len(graphs) > 2:
        raise ValueError(f"a graph of tables is EDGES and NODES alone, got {' '.join(graphs)}: train one at a time")
    tables = graphs[0], Path(graphs[1]) if len(graphs) > 1 else None
    check(*tables, columns, label)
    return tables
