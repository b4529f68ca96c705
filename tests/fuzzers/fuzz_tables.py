"""Tables made up and damaged at random, read as a graph of edges and nodes.

    python tests/fuzzers/fuzz_tables.py --cases 100000 --seed 1
    python tests/fuzzers/fuzz_tables.py --minutes 60 --seed 2    # goes on after a failure
    python tests/fuzzers/fuzz_tables.py --replay 1:4711

The outcome of each must be a graph that holds together, can be described, and has finite features; or a ValueError of
one line that names the file. Another exception, a crash, or a case of over 20 s is a failure; what replays it is
printed.
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
from decimal import Decimal
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from panconv import read
from panconv.data.described import described
from panconv.data.features import Features

_SECONDS = 20
CELLS = (
    *("", "a", "b", "c", "d", "e", "007", "7", "-1", "1.0", "1e5", "1,5", "nan", "NaN", "inf", "-inf", "n/a", "None"),
    *("1_000", "0x10", "9" * 30, "1e400", "2024-01-31", "2024-02-30", "2024-01-01T10:11", "true", "é", "\u200b", "😀"),
    *('say "hi"', "two\nlines", "a;b", "a,b", "a\tb", "=1+1", "the quick brown fox", " padded ", "x" * 3000, "\ufeff"),
)
BYTES = (b"\0", b"\xff", b'"', b"\r", b"\n", b",", b";", b"\xef\xbb\xbf", b"\xff\xfe", b"\x80\x81", b"\\", b"'")
VALUES = (
    *(None, True, 7, -1, 2**53 + 1, 2**64, 10**30, 0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf"), "7", "a", ""),
    *([], [1], ["a", None], {}, {"a": 1}, "2024-01-31T00:00:00Z", "\ud800", "\u0000", "x" * 3000),
)
MANY = (  # a row that repeats, so that what most of a column is outweighs what is damaged
    *(
        ["1", "2.5", "-3", "1,5", "1.000,5", "1e3", "07", "n/a"],
        ["2024-01-31", "31.01.2024", "2024-02-30", "0001-01-01"],
    ),
    *(["x", "y", "x", ""], ["-1", "0", "1", "2"], ["the quick brown", "fox jumps over it", "a b c d"]),
)
NAMES = ("source", "target", "id", "label", "weight", "from", "to", "x", "y", "", "1", "Source ", "näme", "a\nb")


def case(seed, index):
    """The names and the bytes of two files, and the options they are read with."""
    rng = random.Random(f"{seed}:{index}")
    kind = rng.choice(["csv", "csv", "csv", "tsv", "txt", "jsonl", "jsonl", "npz", "graphml", "parquet", "parquet"])
    if kind in ("npz", "graphml"):
        made = {"npz": _npz, "graphml": _graphml}[kind](rng)
        return [(f"edges.{kind}", _damaged(rng, made)), None], {"strict": rng.random() < 0.1}
    tables = [_table(rng, kind, columns) for columns in (["source", "target"], ["id"])]
    files = [
        (f"{name}.{kind}", _damaged(rng, content)) for name, content in zip(("edges", "nodes"), tables, strict=True)
    ]
    options = {"directed": rng.random() < 0.3, "strict": rng.random() < 0.2}
    for name in ("id", "label", "source", "weight"):
        if rng.random() < 0.1:
            options[name] = rng.choice(NAMES)
    options["regression"] = rng.random() < 0.3
    return [files[0], files[1] if rng.random() < 0.8 else None], options


def _table(rng, kind, columns):
    columns = columns + rng.sample(NAMES, rng.randrange(4)) if rng.random() < 0.8 else rng.sample(NAMES, 3)
    columns = [*dict.fromkeys(columns)] if rng.random() < 0.95 else columns
    if kind == "parquet":
        return _parquet(rng, columns)
    few = rng.sample(VALUES if kind == "jsonl" and rng.random() < 0.7 else CELLS, rng.randrange(2, 8))
    long = rng.random() < 0.5  # ids that differ, beside columns of one kind with a cell that is not
    kinds = [rng.choice(MANY) for _ in columns]
    rows = [
        [
            _likely(rng, each, few, name, i) if long else rng.choice(few)
            for each, name in zip(kinds, columns, strict=True)
        ]
        for i in range(30 if long else rng.choice([0, 1, 3, 12]))
    ]
    return _json(rng, columns, rows) if kind == "jsonl" else _text(rng, columns, rows)


def _likely(rng, cells, odd, name, row):
    if rng.random() < 0.01:
        return rng.choice(odd)
    if name == "id":
        return f"n{row}"
    return f"n{rng.randrange(30)}" if name in ("source", "target") else rng.choice(cells)


def _text(rng, columns, rows):
    file = io.StringIO()
    end, mark = rng.choice(["\n", "\r\n", "\r"]), rng.choice(",,,;;\t| ")
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(file, delimiter=mark, lineterminator=end, quoting=quoting).writerows([columns, *rows])
    return file.getvalue().encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]), "replace")


def _json(rng, columns, rows):
    """Objects, one of which may lack a key or have one more."""
    found = []
    for row in rows:
        one = dict(zip(columns, row, strict=True))
        if one and rng.random() < 0.05:
            one.pop(rng.choice([*one]))
        found.append(json.dumps(one | ({"more": [1]} if rng.random() < 0.02 else {})))
    return "\n".join(found).encode()


def _npz(rng):
    file, of = io.BytesIO(), np.random.default_rng(rng.randrange(99))
    if rng.random() < 0.3:  # an archive of arrays, as it is and as SciPy means it
        kind = rng.choice([b"csr", b"coo", b"csc", b"dia", b"bsr", b"lil", "csr"])
        arrays = {"format": np.array(kind), "shape": np.array(rng.choice([[4, 4], [4], [0, 0], [-4, 4], [4.5, 4]]))}
        for name in rng.sample(["data", "row", "col", "indices", "indptr", "offsets"], rng.randrange(2, 6)):
            arrays[name] = of.integers(-2, 6, rng.choice([0, 4, 5])) * rng.choice([1, 1, 0.5, 1j])
        np.savez(file, **arrays)
        return file.getvalue()
    side = (rng.choice([0, 1, 5]), rng.choice([5, 5, 5, 4]))
    values = rng.choice([lambda n: of.random(n), lambda n: of.choice([np.nan, np.inf, 1, -1], n), np.ones])
    a = sp.random(*side, 0.4, format=rng.choice(["csr", "coo", "csc"]), random_state=1, data_rvs=values)
    sp.save_npz(file, a.astype(rng.choice([float, np.float32, int, bool, complex])))
    return file.getvalue()


def _graphml(rng):
    """Five nodes, with attributes of declared types, whose values may be of others."""
    kinds = rng.sample(["string", "int", "long", "double", "boolean", "nothing"][: rng.choice([5, 5, 5, 6])], 3)
    keys = "".join(
        f'<key id="d{i}" for="{rng.choice(["node", "edge", "all"])}" attr.name="{rng.choice(NAMES[:9])}" '
        f'attr.type="{kind}"/>'
        for i, kind in enumerate(kinds)
    )

    def data():
        return "".join(
            f'<data key="d{rng.randrange(3)}">{rng.choice(["1", "a", "", "true", "nan", "1e400"])}</data>'
            for _ in range(rng.randrange(3))
        )

    nodes = "".join(f'<node id="{i}">{data()}</node>' for i in range(5))
    edges = "".join(f'<edge source="{i}" target="{rng.randrange(6)}">{data()}</edge>' for i in range(5))
    space, way = "http://graphml.graphdrawing.org/xmlns", rng.choice(["directed", "undirected"])
    entity = '<!DOCTYPE g [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' if rng.random() < 0.1 else ""
    return (
        f'{entity}<graphml xmlns="{space}">{keys}<graph edgedefault="{way}">{nodes}{edges}</graph></graphml>'.encode()
    )


def _parquet(rng, columns):
    import pyarrow as pa
    from pyarrow import parquet

    kinds = [
        *(pa.array([1, 2, None]), pa.array([1.0, 2.5, 3.0]), pa.array(["a", "b", "a"]), pa.array([[1], [2], []])),
        *(pa.array([2**63, 1, 2], pa.uint64()), pa.array([1.0, float("nan"), float("inf")]), pa.nulls(3)),
        *(pa.array([b"a", b"\xff", None]), pa.array([True, None, False]), pa.array([{"a": 1}, None, {}])),
        *(pa.array([0, 1, None], pa.date32()), pa.array([0, -(2**62), 2**62], pa.timestamp("us"))),
        *(pa.array([0, 1, 2], pa.timestamp("s", "Asia/Tokyo")), pa.array([0, 1, 2], pa.time32("s"))),
        *(pa.array([0, 1, 2], pa.duration("s")), pa.array(["a", "b", None]).dictionary_encode()),
        *(pa.array([1, 2, None], pa.float16()), pa.array([Decimal("1.50"), None, Decimal(2)]), pa.array(list("cab"))),
    ]
    file = io.BytesIO()
    usual = {"id": pa.array(list("abc")), "source": pa.array(list("abc")), "target": pa.array(list("bca"))}
    arrays = [usual[name] if name in usual and rng.random() < 0.7 else rng.choice(kinds) for name in columns]
    parquet.write_table(pa.table(arrays, names=[*columns]), file)
    return file.getvalue()


def _damaged(rng, content):
    if rng.random() < 0.75:
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
    assert graph.labels is None or options.get("regression") or set(graph.labels) - {None} == set(graph.classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_targets(graph, options.get("regression", False))
        json.dumps(described(graph), allow_nan=False)
        learned = Features.fit(graph)
        x = learned.transform(graph)
    assert x.shape == (N, len(learned.names)), learned
    assert np.isfinite(x.data if sp.issparse(x) else x).all(), learned
    return True


def check_targets(graph, regression):
    """The labels as numbers, which those that were read as classes need not be."""
    if graph.labels is None:
        return
    try:
        targets = graph.targets
    except ValueError as error:
        if regression or "is no" not in str(error):
            raise
        return
    assert len(targets) == graph.num_nodes, targets
    assert not np.isinf(targets).any(), targets
    if regression:
        assert [each is None for each in graph.labels] == np.isnan(targets).tolist(), targets


def failure_of(seed, index):
    """What went wrong with a case and the line that replays it, or None; and whether a graph was read."""
    try:
        return None, check(*case(seed, index))
    except Exception:
        return f"{traceback.format_exc()}\nreplay: python {Path(__file__).resolve()} --replay {seed}:{index}", False


def main(cases, seed=0, first=0):
    """Runs the cases; the line that replays the first failure, or None."""
    read_whole = 0
    for index in range(first, first + cases):
        failure, whole = failure_of(seed, index)
        if failure:
            return failure
        read_whole += whole
    assert read_whole or cases < 50, "nothing was ever read"
    return None


def for_minutes(minutes, seed):
    """Runs cases until the time is out, prints every failure, and returns how many there were."""
    end, index, read_whole, failures = time.monotonic() + 60 * minutes, 0, 0, 0
    while time.monotonic() < end:
        failure, whole = failure_of(seed, index)
        index, read_whole, failures = index + 1, read_whole + whole, failures + (failure is not None)
        if failure:
            print(failure, flush=True)
        if index % 5000 == 0:
            print(f"{index:,} cases, {read_whole:,} read, {failures} failures", flush=True)
    print(f"{index:,} cases, {read_whole:,} read, {failures} failures")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", metavar="SEED:INDEX")
    asked = parser.parse_args()
    if asked.minutes:
        sys.exit(for_minutes(asked.minutes, asked.seed) > 0)
    if asked.replay:
        seed, index = asked.replay.split(":")
        failure = main(1, int(seed), int(index))
    else:
        failure = main(asked.cases, asked.seed)
    print(failure or f"{1 if asked.replay else asked.cases} cases, and no failure")
    sys.exit(failure is not None)
