"""Lines of records at random: committed ones with something changed, and JSON of any kind, through all that reads them.

A line is read, skipped with a warning, or refused in one line that names it. What is read can be written and read
again, and the page is made of it.

    python tests/fuzzers/fuzz_records.py CASES SEED
"""

import copy
import json
import random
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

from in_process import call

from panconv.paper.report.page import page
from panconv.records.jsonl import line_of, read_lines
from panconv.records.record import SCHEMA, Results, _plain, parsed

COMMITTED = Path(__file__).parents[2] / "docs/results"
DEEP = "[" * 5_000 + "]" * 5_000
# As they stand in a line, some of them no JSON.
VALUES = [
    "null",
    "true",
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e400",
    "1e99",
    "1e300",
    "NaN",
    "-Infinity",
    "9" * 401,
    "9" * 5000,
]
VALUES += [
    '""',
    '"x"',
    '"[/b]"',
    '"\\ud800"',
    '"\\u0000"',
    '"<script>"',
    '"cora"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[1, 2]",
]
VALUES += [
    '{"a": 1}',
    '{"kind": "layers", "of": 3}',
    '{"": [[[[[[[[[1]]]]]]]]]}',
    DEEP,
    "[1e99, 1e99]",
    "9223372036854775808",
]
KINDS = ("run", "zoo", "operator", "record", "landing")  # the last: records of a trained temperature


class Mark(str):
    """Stands in a line for a value that is put in as it is written."""


class Fuzzer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        folders = {"run": COMMITTED, "zoo": COMMITTED / "zoo", "operator": COMMITTED / "operators"}
        self.known = {kind: [content for content, _ in read_lines(folder)] for kind, folder in folders.items()}
        for run in self.known["run"]:  # what a curve holds does not depend on its length
            run["val_loss"], run["val_accuracy"] = run["val_loss"][:9], run["val_accuracy"][:9]
            run["best_epoch"] = min(run["best_epoch"], 9)
        some = [parsed(self.random.choice(lines), "") for lines in self.known.values() for _ in range(9)]
        landed = [replace(some[0], temperatures=T) for T in ([0.1, 0.2], [None, 1e99], [])]
        for kind, records in (("record", some), ("landing", landed)):
            self.known[kind] = [json.loads(line_of(SCHEMA, _plain(record), parsed)) for record in records]

    def line(self, kind):
        """A line with up to three things changed in it, and perhaps not even JSON."""
        content, marks = copy.deepcopy(self.random.choice(self.known[kind])), {}
        for i in range(self.random.choice([0, 1, 1, 2, 3])):
            marks[f"@{i}@"] = self.random.choice(VALUES)
            self.change(content, f"@{i}@")
        line = json.dumps(content)
        for mark, value in marks.items():
            line = line.replace(json.dumps(mark), value)
        line = line.encode("utf-8", "surrogatepass")
        if self.random.random() < 0.1:
            at = self.random.randrange(len(line))
            line = self.random.choice([line[:at], line[:at] + bytes([self.random.randrange(256)]) + line[at + 1 :]])
        return line

    def change(self, content, mark):
        """Puts the mark in place of something, at any depth, or beside it; or takes something out."""
        while True:
            keys = list(content) if isinstance(content, dict) else range(len(content))
            if not keys:
                return
            key = self.random.choice(keys)
            if not isinstance(content[key], (dict, list)) or self.random.random() < 0.4:
                break
            content = content[key]
        if isinstance(content, dict) and self.random.random() < 0.1:
            del content[key]
        elif isinstance(content, dict) and self.random.random() < 0.1:
            content[self.random.choice(["odd", "hiden", ""])] = mark
        else:
            content[key] = mark

    def run(self, place):
        """One line through its reader, and what is read of it."""
        kind = self.random.choice(KINDS)
        line = self.line(kind)
        path = place / "line.jsonl"
        path.write_bytes(line + b"\n")
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = Results(place).read()
        except ValueError as error:
            if type(error) is not ValueError or not str(error).startswith(str(path)) or len(str(error)) > 600:
                raise AssertionError(f"{line[:500]!r} is refused in unclear words") from error
            return kind, None
        assert len(found) == 1 or said, line[:500]
        for record in found:
            path.write_text(line_of(SCHEMA, _plain(record), parsed))
            assert Results(place).read() == [record], line[:500]
        return kind, found[0] if found else None


def main(cases, seed):
    """Runs so many lines through the readers, and what they let through into the page."""
    fuzzer, sound = Fuzzer(seed), {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="panconv-") as name:
        place = Path(name)
        for _ in range(cases):
            kind, record = fuzzer.run(place)
            sound[kind] += [record] if record else []
        assert sound["run"]
        assert sound["zoo"]
        page([record for found in sound.values() for record in found])
        (place / "line.jsonl").unlink()
        for _ in range(max(1, cases // 200)):  # on the command line, several kinds in one folder
            for i in range(3):
                (place / f"{i}.jsonl").write_bytes(fuzzer.line(fuzzer.random.choice(KINDS)) + b"\n")
            done = call("report", "--results", place, "--out", "page.html", cwd=place)
            assert done.code in (0, 2), done
            assert all(line.startswith("panconv: ") for line in done.stderr.splitlines()), done.stderr
    return {kind: len(found) for kind, found in sound.items()}


if __name__ == "__main__":
    print(main(int(sys.argv[1]), int(sys.argv[2])))
