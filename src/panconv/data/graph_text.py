"""Many graphs in one text file, as the repository of GIN has them: MUTAG.txt, PROTEINS.txt, NCI1.txt.

The number of graphs; for each a line ``n label``, then n lines ``tag m j₁ … j_m``: the tag of a node, the number of its
neighbours, and which they are, from 0.

Source: Xu, Hu, Leskovec, Jegelka, "How Powerful are Graph Neural Networks?", ICLR 2019.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from panconv.data.graph_edges import edges_both_ways
from panconv.data.number_file import NumberFile
from panconv.data.remarks import Remarks, counted


def read(path: Path, remarks: Remarks) -> dict[str, Any]:
    """What a `GraphSet` of a file is made of: the tags one-hot, or the degrees where all nodes have the same tag."""
    file = NumberFile(path)
    numbers = file.whole()
    heads = _heads(file, numbers)
    n, labels = numbers[file.rows[heads]], numbers[file.rows[heads] + 1]
    is_node = np.ones(len(file.per_row), bool)
    is_node[[0, *heads]] = False
    rows = is_node.nonzero()[0]  # a node each
    _check_nodes(file, numbers, rows)
    tags, degree = numbers[file.rows[rows]], file.per_row[rows] - 2
    first = n.cumsum() - n  # node of each graph
    graph = np.repeat(np.repeat(np.arange(len(n)), n), degree)  # of each neighbour that is named
    place = np.repeat(file.rows[rows] + 2 - (degree.cumsum() - degree), degree) + np.arange(degree.sum())
    neighbour = numbers[place]
    wrong = (neighbour < 0) | (neighbour >= n[graph])
    if wrong.any():
        e = int(wrong.argmax())
        what = f"{neighbour[e]} is no node of its graph, whose nodes are 0 … {n[graph[e]] - 1}"
        raise file.error(file.line[place[e]], what)
    edges = edges_both_ways(
        np.repeat(np.arange(len(rows)), degree),
        neighbour + first[graph],
        len(rows),
        remarks,
        lambda e: f"{path}, line {file.line[place[e]]}",
    )
    classes, y = np.unique(labels, return_inverse=True)
    told = len(rows) > 0 and bool((tags != tags[0]).any())
    return {
        "tags": tags[:, None] if told else None,
        "edge_index": edges,
        "ptr": np.append(first, n.sum()),
        "y": y,
        "classes": classes,
        "name": path.stem,
    }


def _heads(file: NumberFile, numbers: np.ndarray) -> np.ndarray:
    """The rows where each graph begins, (G,).

    A row of n is followed by the next so many rows further on. Which rows these are is found for all at once: 2ᵏ graphs
    further on is twice as far as 2ᵏ⁻¹ graphs.
    """
    R, G, lines = len(file.per_row), int(numbers[0]), file.row_line
    if file.per_row[0] != 1 or G < 1:
        raise file.error(lines[0], "it must say how many graphs there are, one number of at least 1")
    if G > R - 1:
        raise file.error(
            lines[0], f"it says {counted(G, 'graph')}, and the file has {counted(R - 1, 'line')} more: is it cut short?"
        )
    size = numbers[file.rows[:-1]]
    step = np.full(R + 2, R + 1)  # from a row; R is the end, and R + 1 beyond it
    step[:R] = np.where((size < 0) | (size > R), R + 1, np.minimum(np.arange(1, R + 1) + np.minimum(size, R), R + 1))
    heads = np.array([1])
    while len(heads) <= G:
        heads = np.concatenate([heads, step[heads]])
        step = step[step]
    heads, end = heads[:G], heads[G]
    there = heads[heads < R]
    odd = (file.per_row[there] != 2) | (size[there] < 0)
    if odd.any():
        k = int(odd.argmax())
        what = f"graph {k} of {G} begins here, with its number of nodes and its label, two numbers"
        raise file.error(lines[there[k]], f"{what}; got {counted(file.per_row[there[k]], 'number')}")
    if len(there) < G or end > R:
        k = len(there) - 1
        what = f"graph {k} of {G} has {counted(size[there[k]], 'node')}, but the file ends before: is it cut short?"
        raise file.error(lines[there[k]], what)
    if end < R:
        raise file.error(lines[end], f"more follows after the {counted(G, 'graph')} that line {lines[0]} says")
    return there


def _check_nodes(file: NumberFile, numbers: np.ndarray, rows: np.ndarray) -> None:
    """Refuses a node whose line is not ``tag m j₁ … j_m``."""
    count = file.per_row[rows]
    says = numbers[np.minimum(file.rows[rows] + 1, len(numbers) - 1)]
    wrong = (count < 2) | (says != count - 2)
    if wrong.any():
        k = int(wrong.argmax())
        what = f"it says {counted(says[k], 'neighbour')} and names {count[k] - 2}" if count[k] > 1 else "got one number"
        raise file.error(file.row_line[rows[k]], f"a node has its tag, the number of its neighbours, and these: {what}")
