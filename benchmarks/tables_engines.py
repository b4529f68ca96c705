"""What to read tables with: a table of nodes and a table of edges as texts, by each engine that is installed.

    python benchmarks/tables_engines.py [--nodes 200000] [--columns 20] [--edges 1000000]

Each engine reads both files in a process of its own, once to warm the disk's cache and three times to be timed: the
median, and the peak of memory above what the engine's import takes. Every cell stays a text, as `panconv.read` wants
it (007 is not 7), and then twenty columns become numbers. Last, panconv reads the graph whole. Ratios are to Arrow.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ENGINES = ("pyarrow", "pandas", "polars", "duckdb", "panconv")


def write(folder: Path, nodes: int, columns: int, edges: int) -> None:
    """A planted partition of ten classes as two tables; the ids are large, and no indices."""
    rng = np.random.default_rng(0)
    ids, label = 10**9 + rng.permutation(nodes) * 7, rng.integers(0, 10, nodes)
    names = ",".join(["id", "label", *(f"x{i}" for i in range(columns))])
    x = rng.normal(size=(nodes, columns)) + label[:, None] * 0.1
    shown = np.where(rng.random(nodes) < 0.05, np.char.add("class ", label.astype(str)), "")
    with (folder / "nodes.csv").open("w") as file:
        file.write(names + "\n")
        for node, name, row in zip(ids, shown, x, strict=True):
            file.write(f"{node},{name},{','.join(map('{:.5f}'.format, row))}\n")
    write_edges(folder, ids, label, edges, rng)


def write_edges(folder: Path, ids: np.ndarray, label: np.ndarray, edges: int, rng: np.random.Generator) -> None:
    """A table of edges, seven in ten of them within a class of ten."""
    nodes = len(ids)
    by_class = np.argsort(label, kind="stable")
    start = np.searchsorted(label[by_class], np.arange(11))
    source = rng.integers(0, nodes, edges)
    near = start[label[source]] + (rng.random(edges) * np.diff(start)[label[source]]).astype(int)
    target = np.where(rng.random(edges) < 0.7, by_class[near], rng.integers(0, nodes, edges))
    np.savetxt(folder / "edges.csv", np.stack([ids[source], ids[target]], 1), "%d", ",", header="from,to", comments="")


def read_with(engine: str, nodes: str, edges: str) -> object:
    """Both tables as texts, and the numbers of the nodes."""
    if engine == "pyarrow":
        import pyarrow as pa
        from pyarrow import csv

        names = csv.open_csv(nodes).schema.names
        kinds = csv.ConvertOptions(column_types=dict.fromkeys([*names, "from", "to"], pa.string()))
        tables = [csv.read_csv(path, convert_options=kinds) for path in (nodes, edges)]
        return tables, [tables[0][name].cast(pa.float64()) for name in names[2:]]
    if engine == "pandas":
        import pandas

        tables = [pandas.read_csv(path, dtype=str, keep_default_na=False) for path in (nodes, edges)]
        return tables, tables[0].iloc[:, 2:].astype(float)
    if engine == "polars":
        import polars

        tables = [polars.read_csv(path, infer_schema=False) for path in (nodes, edges)]
        return tables, tables[0].select(polars.exclude("id", "label").cast(polars.Float64))
    if engine == "duckdb":
        import duckdb

        tables = [duckdb.read_csv(path, all_varchar=True).fetchnumpy() for path in (nodes, edges)]
        return tables, [values.astype(float) for name, values in tables[0].items() if name not in ("id", "label")]
    import panconv

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = panconv.read(edges, nodes)
    return graph, graph.adjacency


def measure(engine: str, nodes: str, edges: str) -> dict[str, float]:
    if engine == "panconv":
        pass
    else:
        __import__(engine)
    before = _peak()
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        read_with(engine, nodes, edges)
        seconds.append(time.perf_counter() - began)
    return {"seconds": statistics.median(seconds[1:]), "mib": _peak() - before}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def main(nodes: int, columns: int, edges: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), nodes, columns, edges)
        paths = [str(Path(place) / f"{name}.csv") for name in ("nodes", "edges")]
        size = sum(os.path.getsize(path) for path in paths) / 2**20
        print(f"{nodes:,} nodes with {columns} columns, {edges:,} edges: {size:.0f} MiB of CSV")
        found = {}
        for engine in ENGINES:
            done = subprocess.run([sys.executable, __file__, "--one", engine, *paths], capture_output=True, text=True)
            if done.returncode:
                print(f"{engine:<8} {(done.stderr.strip().splitlines() or ['?'])[-1]}")
                continue
            found[engine] = json.loads(done.stdout)
        base = found["pyarrow"]
        for engine, one in found.items():
            ratios = (
                f"{one['seconds'] / base['seconds']:.2f} × Arrow's time, {one['mib'] / base['mib']:.2f} × its memory"
            )
            print(f"{engine:<8} {one['seconds']:6.2f} s {one['mib']:6.0f} MiB   {ratios}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(*asked.one)))
    else:
        main(asked.nodes, asked.columns, asked.edges)
