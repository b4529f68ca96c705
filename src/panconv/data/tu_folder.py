"""Folders of the TU collection: files DS_A.txt, DS_graph_indicator.txt, DS_graph_labels.txt and others of one set DS.

Nodes, graphs and edges are lines, the nodes and graphs numbered from 1.

Source: Morris, Kriege, Bause, Kersting, Mutzel, Neumann, "TUDataset: A collection of benchmark datasets for learning
with graphs", ICML 2020 workshop.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from panconv.base.checks import checked_count
from panconv.data.graph_edges import edges_both_ways
from panconv.data.number_file import NumberFile
from panconv.data.remarks import Remarks, counted

_BEHIND = 5  # graphs without an edge at the end of a set, from which on its file of edges looks cut short
_LEFT_OUT = ("edge_labels", "edge_attributes")


def read(folder: Path, name: str, remarks: Remarks, target: int | None = None) -> dict[str, Any]:
    """What a `GraphSet` of a folder is made of.

    Args:
        folder: where the files lie.
        name: of the set, DS.
        remarks: takes what was mended.
        target: the column of DS_graph_attributes.txt that is to be learned; None for the labels of the graphs, where
            there are such.
    """

    def file(part: str) -> NumberFile:
        path = folder / f"{name}_{part}.txt"
        return NumberFile(path, True, f"the set {name} has {name}_A.txt, {name}_graph_indicator.txt and its labels")

    def has(part: str) -> bool:
        return (folder / f"{name}_{part}.txt").exists()

    indicator, learned = file("graph_indicator"), _targets(file, has, target)
    G = len(learned["y"])
    graph, order = _graphs(indicator, G, remarks)
    edges = _edges(file("A"), graph, order, remarks)
    tags = _rows(file("node_labels"), order, whole=True) if has("node_labels") else None
    attributes = _rows(file("node_attributes"), order, whole=False) if has("node_attributes") else None
    for part in _LEFT_OUT:
        if has(part):
            remarks.guess(f"{name}_{part}.txt is left out")
    ptr = np.searchsorted(graph[order], np.arange(G + 1))
    return {**learned, "tags": tags, "attributes": attributes, "edge_index": edges, "ptr": ptr, "name": name}


def _targets(file: Any, has: Any, target: int | None) -> dict[str, Any]:
    """y (G,) and the names of the classes, if these are what is to be learned."""
    if target is None and has("graph_labels"):
        labels = file("graph_labels")
        table = labels.table(labels.whole())
        if table.shape[1] != 1:
            raise labels.error(labels.line[0], f"a graph has one label, got {table.shape[1]}")
        classes, y = np.unique(table[:, 0], return_inverse=True)
        return {"y": y, "classes": classes}
    if target is None and not has("graph_attributes"):
        file("graph_labels")  # which says that it is not there
    numbers = file("graph_attributes")
    table, path = numbers.table(numbers.real()), numbers.path
    if target is None and table.shape[1] > 1:
        raise ValueError(f"{path} has {table.shape[1]} numbers per graph: say which to learn, target=0 and so on")
    column = 0 if target is None else checked_count(target, "target", 0)
    if column >= table.shape[1]:
        raise ValueError(f"target must be a column of {path}, 0 … {table.shape[1] - 1}, got {column}")
    return {"y": table[:, column], "classes": ()}


def _graphs(indicator: NumberFile, G: int, remarks: Remarks) -> tuple[np.ndarray, np.ndarray]:
    """The graph of each node as the file has them, from 0, (N,), and the order that puts them graph by graph."""
    graph = indicator.table(indicator.whole()) - 1
    if graph.shape[1] != 1:
        raise indicator.error(indicator.line[0], f"a node is in one graph, got {graph.shape[1]} numbers")
    graph = graph[:, 0]
    wrong = (graph < 0) | (graph >= G)
    if wrong.any():
        node = int(wrong.argmax())
        what = f"there is no graph {graph[node] + 1}: the file of labels has those of {counted(G, 'graph')}, from 1"
        raise indicator.error(indicator.line[node], what)
    falls = np.diff(graph) < 0
    if falls.any():
        place = int(falls.argmax()) + 1
        where = f"{indicator.path}, line {indicator.line[place]}"
        remarks.mend(f"{where}: nodes do not stand graph by graph", "they are put in that order")
    return graph, graph.argsort(kind="stable")


def _edges(file: NumberFile, graph: np.ndarray, order: np.ndarray, remarks: Remarks) -> Any:
    """The edge_index (2, E) of nodes in their order."""
    N = len(graph)
    if not len(file):
        remarks.mend(f"{file.path} has no edge", "no graph has one")
        return edges_both_ways(np.empty(0, np.int64), np.empty(0, np.int64), N, remarks, str)
    pairs = file.table(file.whole()) - 1
    if pairs.shape[1] != 2:
        raise file.error(file.line[0], f"an edge is two nodes, got {counted(pairs.shape[1], 'number')}")
    wrong = ((pairs < 0) | (pairs >= N)).any(1)
    if wrong.any():
        e = int(wrong.argmax())
        node = pairs[e, 0] if not 0 <= pairs[e, 0] < N else pairs[e, 1]
        what = f"there is no node {node + 1}: the file of graph indicators has {counted(N, 'node')}, from 1"
        raise file.error(file.row_line[e], what)
    across = graph[pairs[:, 0]] != graph[pairs[:, 1]]
    if across.any():
        e = int(across.argmax())
        (s, t), (a, b) = pairs[e] + 1, graph[pairs[e]] + 1
        raise file.error(
            file.row_line[e], f"node {s} is in graph {a} and node {t} in graph {b}: an edge joins one's own"
        )
    behind = int(graph.max() - graph[pairs].max())
    if behind >= _BEHIND:
        what = f"{file.path}: the last {behind} of {graph.max() + 1} graphs have no edge, as if the file were cut short"
        remarks.mend(what, "they are taken as they are")
    place = np.empty(N, np.int64)
    place[order] = np.arange(N)
    source, target = place[pairs.T]
    return edges_both_ways(source, target, N, remarks, lambda e: f"{file.path}, line {file.row_line[e]}")


def _rows(file: NumberFile, order: np.ndarray, whole: bool) -> np.ndarray:
    """The numbers of each node, (N, D), in their order."""
    table = file.table(file.whole() if whole else file.real())
    if len(table) != len(order):
        raise ValueError(
            f"{file.path} has {counted(len(table), 'line')}, but the set has {counted(len(order), 'node')}"
        )
    return table[order]
