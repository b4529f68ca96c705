"""Runs the contest over a set of graphs within a time, on a machine that need not have the command line's libraries.

    python tools/train_graphs.py NCI1 --model pan,gin --out FOLDER [--device cuda] [--runs 10] [--seconds 540] [--quick]

What `panconv graphs` trains, with the same records: what has one in FOLDER or in docs/results/graphs already is not
trained again, and when the time is up, the models that are left are named. Sets are found as `panconv graphs` finds
them. `python tools/graph_tables.py` makes the tables of docs/graphs.md once the records are kept.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from train_best import Both, TimeUp, until

from panconv.records.record import Results
from panconv.whole_graphs.contest import FOLDS, Contest
from panconv.whole_graphs.menu import MENU
from panconv.whole_graphs.parts import named_graphs, recorded_name
from panconv.whole_graphs.trainer import WholeGraphs

RECORDS = Path(__file__).parents[1] / "docs/results/graphs"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--model", default="pan,gin,structure-free", help=f"some of {', '.join(MENU)}")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args(arguments)
    models = asked.model.split(",")
    if unknown := [name for name in models if name not in MENU]:
        parser.error(f"--model must be some of {', '.join(MENU)}, got {unknown[0]!r}")
    graphs, end = named_graphs(asked.source), time.monotonic() + asked.seconds
    print(graphs, flush=True)
    for place, name in enumerate(models):
        began = time.monotonic()
        contest = Contest(recorded_name(graphs), (name,), folds=asked.folds, runs=asked.runs, quick=asked.quick)
        command = f"tools/train_graphs.py {asked.source} --model {name}"
        how = {"device": asked.device, "command": command, "callback": until(end)}
        try:
            contest.train(WholeGraphs(graphs), Both(asked.out, [Results(RECORDS)]), **how)
        except TimeUp:
            print(f"time is up in {name}; left: {','.join(models[place:])}", flush=True)
            return
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
