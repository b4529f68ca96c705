"""Files of many graphs made up and damaged at random, in both formats.

    python tests/fuzzers/fuzz_graph_files.py --cases 100000 --seed 1
    python tests/fuzzers/fuzz_graph_files.py --minutes 10 --seed 2    # goes on after a failure
    python tests/fuzzers/fuzz_graph_files.py --replay 1:4711

The outcome of each must be a set of graphs that holds together, or a ValueError of one line that names the file or the
folder. Another exception, or a case of over 10 s, is a failure; what replays it is printed.
"""

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch

from panconv.data import read_graphs

_SECONDS = 10
BYTES = (
    *(
        b"",
        b" ",
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b",",
        b"-",
        b"--1",
        b"0",
        b"1",
        b"7",
        b"99",
        b"-1",
        b"1.5",
        b"1e5",
        b"1e999",
    ),
    *(
        b"9" * 18,
        b"9" * 19,
        b"9" * 400,
        b"nan",
        b"inf",
        b"a",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"1_0",
        b"+3",
    ),
    *(b"\n\n", b"0 0\n", b"1 1\n0 0\n", b"\xc2\xa0", "٣".encode()),
)


def graphs(rng):
    """Some small undirected graphs: nodes, their tags, pairs, and a label."""
    found = []
    for _ in range(rng.choice([1, 2, 3, 6])):
        n = rng.choice([0, 1, 2, 3, 5, 9])
        pairs = {(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randrange(2 * n))} if n else set()
        both = {*pairs, *((t, s) for s, t in pairs)} if rng.random() < 0.8 else pairs
        tags = [rng.choice([0, 1, 2, 5, -3]) for _ in range(n)]
        found.append((n, tags, sorted(both), rng.choice([0, 1, 1, -1, 7])))
    return found


def text(rng):
    """One file, as GIN's repository has them."""
    lines, many = [], graphs(rng)
    for n, tags, pairs, label in many:
        lines.append([n, label])
        near = [[t for s, t in pairs if s == v] for v in range(n)]
        lines += [[tag, len(each), *each] for tag, each in zip(tags, near, strict=True)]
    body = "\n".join(" ".join(map(str, line)) for line in [[len(many)], *lines])
    return {"SET.txt": body.encode() + rng.choice([b"", b"\n", b"\n\n"])}


def folder(rng):
    """The files of one set of the TU collection."""
    many, first, edges, files = graphs(rng), 1, [], {}
    for n, _, pairs, _ in many:
        edges += [f"{s + first}, {t + first}" for s, t in pairs]
        first += n
    files["A"] = edges
    files["graph_indicator"] = [str(i) for i, (n, *_) in enumerate(many, 1) for _ in range(n)]
    files["graph_labels"] = [str(label) for *_, label in many]
    nodes = [tag for _, tags, *_ in many for tag in tags]
    if rng.random() < 0.5:
        files["node_labels"] = [f"{tag}" if rng.random() < 0.98 else f"{tag},{tag}" for tag in nodes]
    if rng.random() < 0.5:
        files["node_attributes"] = [f"{tag / 3}, {rng.random():.3g}" for tag in nodes]
    if rng.random() < 0.4:
        files["graph_attributes"] = [f"{rng.random()}" for _ in many]
    if rng.random() < 0.2:
        files.pop(rng.choice([*files]))
    if rng.random() < 0.1:
        rng.shuffle(files[rng.choice([*files])])
    return {f"SET_{name}.txt": "\n".join(lines).encode() + b"\n" for name, lines in files.items()}


def case(seed, index):
    """The names and contents of files, and the options they are read with."""
    rng = random.Random(f"{seed}:{index}")
    files = rng.choice([text, folder])(rng)
    if rng.random() < 0.75:
        name = rng.choice([*files])
        files[name] = damaged(rng, files[name])
    options = {"strict": rng.random() < 0.1}
    return files, options | ({"target": rng.choice([0, 0, 1])} if rng.random() < 0.1 else {})


def damaged(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at, size = rng.randrange(len(content) + 1), rng.choice([0, 1, 1, 2, 20])
        content[at : at + size] = rng.choice(BYTES)
    return bytes(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.2 else content)


def check(files, options):
    """Raises AssertionError, or what the reader raises wrongly; whether a set was read."""
    with tempfile.TemporaryDirectory() as place:
        for name, content in files.items():
            (Path(place) / name).write_bytes(content)
        began = time.monotonic()
        try:
            found = read_graphs(Path(place) / "SET.txt" if "SET.txt" in files else place, **options)
        except ValueError as error:
            found, refused = None, error
        assert time.monotonic() - began < _SECONDS, "too slow"
    if found is None:
        assert type(refused) is ValueError, f"{type(refused).__name__}: {refused}"
        assert "\n" not in str(refused), str(refused)
        assert len(str(refused)) < 500, str(refused)
        assert place in str(refused), str(refused)
        return False
    N, ends = len(found.x), found.edge_index
    assert int(found.ptr[-1]) == N > 0
    assert found.x.isfinite().all()
    assert (ends[0] != ends[1]).all()
    assert found.adjacency.is_symmetric
    assert found.adjacency.num_edges == ends.size(1)
    key = ends[0] * N + ends[1]
    assert torch.equal(key, key.unique())
    assert sum(data.num_nodes for data in found) == N
    assert sum(data.num_edges for data in found) == ends.size(1)
    if found.classes:
        assert 0 <= int(found.y.min()) <= int(found.y.max()) < found.num_classes
    json.dumps(found.describe(), allow_nan=False)
    return True


def failure_of(seed, index):
    """What went wrong with a case and the line that replays it, or None; and whether a set was read."""
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
