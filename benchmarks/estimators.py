"""The estimators beside what people would use instead: scikit-learn, scikit-network and PyG's GCN, in one run.

    python benchmarks/estimators.py [--only reading,linear,accuracy] [--out FOLDER] [--json FILE] [--write PAGE]
                                    [--graphs homophilous,cora] [--splits 20] [--deep-splits 5] [--tables]

- reading: 200,000 nodes with 20 columns of mixed kinds and 1,000,000 edges, from CSV to features and a graph.
- linear: the linear head with its cross-validation beside scikit-learn's, on the same path features of Pubmed.
- accuracy: everybody of contestants.py on the same splits of each graph of contests.py, and paired differences.

With --out each measurement is kept as a line of JSON as soon as there is one. A run that was killed goes on from them,
and tables are made of all that there are. Seconds are those of the CPU, on one thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tables_engines
import torch
from contestants import CONTESTANTS, OURS, Missing
from contests import GRAPHS, split_of, splits_of
from linear_head import path_blocks, sides
from measure import in_a_line, machine
from paired import as_json, rows, table
from tables import fill

from panconv.base.files import replacing
from panconv.records.jsonl import read_lines

SECTIONS = ("reading", "linear", "accuracy")
READING = {"seconds": 30.0, "gib": 4.0}  # the most that it may take
FASTER = {0.01: 1.0, 0.6: 3.0}  # how many times, by the share of labels
DEEP = "pan (panconv)"
WORDS = np.array(["late", "early", "paid", "open", "closed", "refund", "visit", "letter", "shop", "order", "gift"])


class Kept:
    """Measurements of one section, a line of JSON each; in memory alone where there is no folder."""

    def __init__(self, folder: Path | None, section: str) -> None:
        self.path = None if folder is None else folder / f"{section}.jsonl"
        self.records: list[dict[str, Any]] = []
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.records = [each for each, where in read_lines(folder) if where.startswith(str(self.path))]

    def has(self, **key: Any) -> bool:
        return any(all(each.get(name) == value for name, value in key.items()) for each in self.records)

    def add(self, record: dict[str, Any]) -> None:
        self.records.append(record)
        if self.path is not None:
            cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")  # by a kill, in the last line
            with self.path.open("a") as file:
                file.write("\n" * cut + json.dumps(record) + "\n")


# ---------------------------------------------------------------------- reading


def write_mixed(folder: Path, nodes: int, edges: int) -> None:
    """Ten columns of numbers, two of counts, four of categories, two of dates, two of text; one cell in 20 is empty."""
    rng = np.random.default_rng(0)
    ids, label = 10**9 + rng.permutation(nodes) * 7, rng.integers(0, 10, nodes)
    columns = {f"number {i}": np.char.mod("%.5f", rng.normal(size=nodes) + 0.1 * label) for i in range(10)}
    columns |= {f"count {i}": rng.poisson(0.3, nodes).astype(str) for i in range(2)}
    columns |= {f"kind {i}": np.char.add("kind ", rng.integers(0, 4 + 8 * i, nodes).astype(str)) for i in range(4)}
    day = np.datetime64("2020-01-01")
    columns |= {f"date {i}": (day + rng.integers(0, 2000, nodes)).astype(str) for i in range(2)}
    columns |= {f"note {i}": _sentences(rng, nodes) for i in range(2)}
    for name, values in columns.items():
        columns[name] = np.where(rng.random(nodes) < 0.05, "", values)
    shown = np.where(rng.random(nodes) < 0.05, np.char.add("class ", label.astype(str)), "")
    with (folder / "nodes.csv").open("w") as file:
        file.write(",".join(["id", "label", *columns]) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(ids.astype(str), shown, *columns.values(), strict=True))
    tables_engines.write_edges(folder, ids, label, edges, rng)


def _sentences(rng: np.random.Generator, count: int) -> np.ndarray:
    found = WORDS[rng.integers(0, len(WORDS), (6, count))]
    whole = found[0]
    for word in found[1:]:
        whole = np.char.add(np.char.add(whole, " "), word)
    return whole


def read_one(nodes: str, edges: str) -> dict[str, Any]:
    """What reading and preparing takes, in a process of its own: parts and all, and the peak of its memory."""
    import panconv

    warnings.simplefilter("ignore")
    marks = [(time.perf_counter(), time.process_time())]
    for step in ("read", "features", "graph"):
        if step == "read":
            graph = panconv.read(edges, nodes)
        elif step == "features":
            columns = graph.features().shape[1]
        else:
            _ = graph.adjacency
        marks.append((time.perf_counter(), time.process_time()))
    parts = {f"{step} s": marks[i + 1][1] - marks[i][1] for i, step in enumerate(("read", "features", "graph"))}
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {
        **parts,
        "seconds": marks[-1][1] - marks[0][1],
        "wall": marks[-1][0] - marks[0][0],
        "gib": int(peak.split()[1]) / 2**20,
        "columns": columns,
    }


def reading(kept: Kept, asked: argparse.Namespace) -> Iterator[str]:
    size = {"nodes": asked.nodes, "edges": asked.edges}
    if not (asked.tables or kept.has(**size)):
        with tempfile.TemporaryDirectory() as place:
            write_mixed(Path(place), **size)
            command = [sys.executable, __file__, "--one", *(f"{place}/{name}.csv" for name in ("nodes", "edges"))]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        kept.add({**size, **json.loads(done.stdout)})
    for each in kept.records:
        met = each["seconds"] < READING["seconds"] and each["gib"] < READING["gib"]
        yield (
            f"{each['nodes']:,} nodes, 20 columns that become {each['columns']}, {each['edges']:,} edges: "
            f"{each['wall']:.1f} s on the wall, {each['seconds']:.1f} s of CPU (read {each['read s']:.1f}, features "
            f"{each['features s']:.1f}, graph {each['graph s']:.1f}), peak {each['gib']:.2f} GiB; "
            f"goal {met_or_not(met)}"
        )


# ---------------------------------------------------------------------- the linear head


def linear(kept: Kept, asked: argparse.Namespace) -> Iterator[str]:
    blocks = y = None
    for share, goal in FASTER.items():
        for split in range(asked.linear_splits if share < 0.1 else 1):
            key = {"graph": asked.linear_graph, "share": share, "split": split}
            if not (asked.tables or kept.has(**key)):
                if blocks is None:
                    blocks, y = path_blocks(asked.linear_graph, 3)
                kept.add({**key, **{name: each._asdict() for name, each in sides(blocks, y, share, split)}})
        if found := [each for each in kept.records if each["share"] == share]:
            yield _compared(found, share, goal)


def _compared(records: list[dict[str, Any]], share: float, goal: float) -> str:
    ratio = statistics.median(each["scikit-learn"]["seconds"] / each["panconv"]["seconds"] for each in records)
    parts = []
    for name in ("panconv", "scikit-learn"):
        seconds, loss, accuracy = (
            statistics.median(each[name][what] for each in records) for what in ("seconds", "log_loss", "accuracy")
        )
        parts.append(f"{name} {seconds:.2f} s, log loss {loss:.4f}, accuracy {accuracy:.2%}")
    return (
        f"{share:.0%} labels, {len(records)} splits: {'; '.join(parts)}; {ratio:.1f} times faster, "
        f"goal {goal:g} {met_or_not(ratio >= goal)}"
    )


def met_or_not(met: bool) -> str:
    return "met" if met else "not met"


# ---------------------------------------------------------------------- accuracy


def accuracy(kept: Kept, asked: argparse.Namespace) -> Iterator[str]:
    for graph in asked.graphs:
        for number in () if asked.tables else splits_of(graph, asked.splits):
            split = None
            for who in asked.who:
                key = {"graph": graph, "split": number, "who": who}
                if kept.has(**key) or (who == DEEP and number >= asked.deep_splits):
                    continue
                split = split or split_of(graph, number, asked.planted_nodes)
                kept.add({**key, **_judged(who, split)})
        if not (of_graph := [each for each in kept.records if each["graph"] == graph]):
            continue
        who = judged_by(of_graph)
        yield "\n".join([*table(graph, rows(of_graph, who), who), *_absent(of_graph)])


def judged_by(records: list[dict[str, Any]]) -> str:
    """Which of ours the others stand beside: the first that has answers on two splits."""
    answers = [each["who"] for each in records if each["score"] is not None]
    return next((who for who in OURS if answers.count(who) > 1), OURS[0])


def _judged(who: str, split: Any) -> dict[str, Any]:
    """A fit and its score; a peer's failure is told, ours is raised."""
    wall, began = time.perf_counter(), time.process_time()
    record: dict[str, Any] = {"score": None, "metric": split.metric, "labels": len(split.contest.known)}
    try:
        said = CONTESTANTS[who](split.contest)
    except Missing as error:
        return {**record, "note": str(error)}
    except Exception as error:
        if "panconv" in who:
            raise
        return {**record, "note": in_a_line(error)}
    seconds = {"seconds": time.process_time() - began, "wall": time.perf_counter() - wall}
    return {**record, **seconds, "score": split.judged(said.scores), "note": said.note}


def _absent(records: list[dict[str, Any]]) -> list[str]:
    found = sorted({f"{each['who']}: {each['note']}" for each in records if each["score"] is None})
    return ["", *found] if found else []


# ---------------------------------------------------------------------- the command


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parsed(arguments)
    if asked.one:
        print(json.dumps(read_one(*asked.one)))
        return
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", module="sklearn")  # that its iterations did not converge
    print(f"{machine()}\n", flush=True)
    whole: dict[str, Any] = {}
    told = []
    for section in asked.only:
        kept = Kept(asked.out, section)
        for paragraph in {"reading": reading, "linear": linear, "accuracy": accuracy}[section](kept, asked):
            told.append(paragraph)
            print(f"{paragraph}\n", flush=True)
        whole[section] = summed(section, kept.records)
    if asked.write:
        fill(asked.write, "\n\n".join(told) + "\n")
    if asked.json:
        with replacing(asked.json) as temporary:
            temporary.write_text(json.dumps(whole, indent=1) + "\n")


def summed(section: str, records: list[dict[str, Any]]) -> Any:
    """What --json writes of a section."""
    if section != "accuracy":
        return records
    graphs = dict.fromkeys(each["graph"] for each in records)
    by_graph = {graph: [each for each in records if each["graph"] == graph] for graph in graphs}
    return {graph: as_json(rows(found, judged_by(found))) for graph, found in by_graph.items()}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, known in (("only", SECTIONS), ("graphs", GRAPHS), ("who", tuple(CONTESTANTS))):
        parser.add_argument(f"--{name}", type=among(known), default=list(known), help=f"some of {', '.join(known)}")
    parser.add_argument("--out", type=Path, help="a folder for the measurements, and to go on from")
    parser.add_argument("--tables", action="store_true", help="of what is kept alone: nothing is measured")
    parser.add_argument("--write", type=Path, help="a page to fill between its markers")
    parser.add_argument("--json", type=Path, help="a file for the tables")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--deep-splits", type=int, default=5, help="of the head 'pan' by itself, which takes longest")
    parser.add_argument("--planted-nodes", type=int, help="of planted graphs, where not 1,000")
    parser.add_argument("--nodes", type=int, default=200_000, help="of the tables that are read")
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--linear-graph", default="pubmed")
    parser.add_argument("--linear-splits", type=int, default=5, help="at 1 %% of the labels; one at 60 %%")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def among(known: Sequence[str]) -> Any:
    """A parser of names with commas between; the first words of a name are enough."""

    def parse(text: str) -> list[str]:
        found = [next((each for each in known if each.startswith(name.strip())), None) for name in text.split(",")]
        if None in found:
            raise argparse.ArgumentTypeError(f"{text!r} names what is not there: they are {', '.join(known)}")
        return [each for each in found if each]

    return parse


if __name__ == "__main__":
    main()
