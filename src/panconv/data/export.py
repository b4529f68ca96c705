"""A built-in graph as its owner would have it: a table of edges, one of nodes, and the truth apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from panconv.data import builtin
from panconv.data.csv_writing import write_csv

FILES = ("edges.csv", "nodes.csv", "truth.csv")
# As LINQS' original table names them; of the other two graphs the names have not come down with the data.
CLASSES = {
    "cora": (
        *("Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods"),
        *("Case_Based", "Rule_Learning"),
    )
}


def export(name: str, folder: Path) -> list[Path]:
    """Writes edges.csv, nodes.csv with the labels of the training nodes alone, and truth.csv with all labels.

    Ids are texts, such as cora-17: whoever takes them for indices finds out.
    """
    raw = builtin.read(name)
    N, F = raw.features.shape
    ids = [f"{name}-{node}" for node in range(N)]
    number = CLASSES.get(name) or tuple(f"class {place}" for place in range(int(raw.y.max()) + 1))
    labels = [number[place] for place in raw.y.tolist()]
    part = dict.fromkeys(range(N), "")
    for where, nodes in (("train", raw.train), ("val", raw.val), ("test", raw.test)):
        part |= dict.fromkeys(nodes.tolist(), where)

    whole = bool((raw.features.data % 1 == 0).all())
    values = raw.features.astype(np.int64) if whole else raw.features.astype(np.float64).round(6)

    def rows() -> Iterator[list[Any]]:
        for node in range(N):
            label = labels[node] if part[node] == "train" else None
            yield [ids[node], label, *values[node].toarray()[0].tolist()]

    paths = [folder / file for file in FILES]
    write_csv(paths[0], ("source", "target"), ((ids[s], ids[t]) for s, t in raw.edges.T.tolist()))
    write_csv(paths[1], ("id", "label", *(f"w{place}" for place in range(F))), rows())
    write_csv(paths[2], ("id", "label", "part"), ([ids[node], labels[node], part[node]] for node in range(N)))
    return paths
