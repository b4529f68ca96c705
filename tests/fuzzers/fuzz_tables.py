"""Tables made up and damaged at random, read as a graph of edges and nodes.

    python tests/fuzzers/fuzz_tables.py --cases 100000 --seed 1
    python tests/fuzzers/fuzz_tables.py --replay 1:4711

The outcome of each must be a graph that holds together, or a ValueError of one line that names the file. Another
exception, a crash, or a case of over 20 s is a failure, and its replay is printed.
"""

import argparse
import csv
import io
import json
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from panconv import read

_SECONDS = 20
CELLS = (
    *("", "a", "b", "c", "d", "e", "007", "7", "-1", "1.0", "1e5", "1,5", "nan", "NaN", "inf", "-inf", "n/a", "None"),
    *("1_000", "0x10", "9" * 30, "1e400", "2024-01-31", "2024-02-30", "2024-01-01T10:11", "true", "é", "\u200b", "😀"),
    *('say "hi"', "two\nlines", "a;b", "a,b", "a\tb", "=1+1", "the quick brown fox", " padded ", "x" * 3000, "\ufeff"),
)
BYTES = (b"\0", b"\xff", b'"', b"\r", b"\n", b",", b";", b"\xef\xbb\xbf", b"\xff\xfe", b"\x80\x81", b"\\", b"'")
NAMES = ("source", "target", "id", "label", "weight", "from", "to", "x", "y", "", "1", "Source ", "näme", "a\nb")


def case(seed, index):
    """The names and the bytes of two files, and the options they are read with."""
    rng = random.Random(f"{seed}:{index}")
    kind = rng.choice(["csv", "csv", "csv", "tsv", "txt", "jsonl", "npz", "graphml", "parquet"])
    if kind in ("npz", "graphml", "parquet"):
        made = {"npz": _npz, "graphml": _graphml, "parquet": _parquet}[kind](rng)
        return [(f"edges.{kind}", _damaged(rng, made)), None], {}
    few = rng.sample(CELLS, rng.randrange(2, 8))
    tables = []
    for columns in (["source", "target"], ["id"]):
        columns = columns + rng.sample(NAMES, rng.randrange(4)) if rng.random() < 0.8 else rng.sample(NAMES, 3)
        rows = [[rng.choice(few) for _ in columns] for _ in range(rng.choice([0, 1, 3, 12]))]
        tables.append(_json(columns, rows) if kind == "jsonl" else _text(rng, columns, rows))
    files = [
        (f"{name}.{kind}", _damaged(rng, content)) for name, content in zip(("edges", "nodes"), tables, strict=True)
    ]
    options = {"directed": rng.random() < 0.3, "strict": rng.random() < 0.2}
    for name in ("id", "label", "source", "weight"):
        if rng.random() < 0.1:
            options[name] = rng.choice(NAMES)
    return [files[0], files[1] if rng.random() < 0.8 else None], options


def _text(rng, columns, rows):
    file = io.StringIO()
    end, mark = rng.choice(["\n", "\r\n", "\r"]), rng.choice(",,,;\t|")
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(file, delimiter=mark, lineterminator=end, quoting=quoting).writerows([columns, *rows])
    return file.getvalue().encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]), "replace")


def _json(columns, rows):
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows).encode()


def _npz(rng):
    file = io.BytesIO()
    sp.save_npz(file, sp.random(5, 5, 0.4, format=rng.choice(["csr", "coo"]), random_state=rng.randrange(99)))
    return file.getvalue()


def _graphml(rng):
    lines = "".join(f'<node id="{i}"/><edge source="{i}" target="{rng.randrange(5)}"/>' for i in range(5))
    space = "http://graphml.graphdrawing.org/xmlns"
    return f'<graphml xmlns="{space}"><graph edgedefault="directed">{lines}</graph></graphml>'.encode()


def _parquet(rng):
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    kinds = [pa.array([1, 2, None]), pa.array([1.0, 2.5, 3.0]), pa.array(["a", "b", "a"]), pa.array([[1], [2], []])]
    parquet.write_table(pa.table({"source": rng.choice(kinds), "target": rng.choice(kinds)}), file)
    return file.getvalue()


def _damaged(rng, content):
    if rng.random() < 0.4:
        return content
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at, size = rng.randrange(len(content) + 1), rng.choice([0, 1, 1, 4, 20])
        content[at : at + size] = rng.choice([*BYTES, rng.randbytes(3), bytes(content[:10])])
    return bytes(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.1 else content)


def check(files, options):
    """Raises AssertionError, or what the reader raises wrongly."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [each and Path(folder) / each[0] for each in files]
        for path, each in zip(paths, files, strict=True):
            if each:
                path.write_bytes(each[1])
        began = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = read(*paths, **options)
        except ValueError as error:
            refused = error
        else:
            refused = None
        assert time.monotonic() - began < _SECONDS, "too slow"
    if refused is not None:
        assert type(refused) is ValueError, f"{type(refused).__name__}: {refused}"
        assert "\n" not in str(refused), str(refused)
        assert len(str(refused)) < 2500, str(refused)
        return False
    N, ends = graph.num_nodes, graph.edge_index
    assert len({*graph.ids.tolist()}) == N > 0
    assert ends.numel() == 0 or 0 <= int(ends.min()) <= int(ends.max()) < N
    assert bool((ends[0] != ends[1]).all())
    assert ends.unique(dim=1).size(1) == ends.size(1)
    if graph.edge_weight is not None:
        assert len(graph.edge_weight) == ends.size(1)
        assert bool(graph.edge_weight.isfinite().all())
    for column in graph.columns.values():
        assert len(column.values) == (0 if column.kind == "unused" else N), column
        assert column.values.dtype == object or not np.isinf(column.values).any()
    assert graph.labels is None or set(graph.labels) - {None} == set(graph.classes)
    return True


def main(cases, seed=0, first=0):
    """Runs the cases; the line that replays the first failure, or None."""
    read_whole = 0
    for index in range(first, first + cases):
        try:
            read_whole += check(*case(seed, index))
        except BaseException:  # noqa: PERF203
            return f"{traceback.format_exc()}\nreplay: python {Path(__file__).resolve()} --replay {seed}:{index}"
    assert read_whole or cases < 50, "nothing was ever read"
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", metavar="SEED:INDEX")
    asked = parser.parse_args()
    if asked.replay:
        seed, index = asked.replay.split(":")
        failure = main(1, int(seed), int(index))
    else:
        failure = main(asked.cases, asked.seed)
    print(failure or f"{1 if asked.replay else asked.cases} cases, and no failure")
    sys.exit(failure is not None)
