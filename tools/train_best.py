"""Trains what docs/best.md is made of, within a time, on a machine that need not have the command line's libraries.

    python tools/train_best.py STEP [STEP …] --out FOLDER [--device cuda] [--trials 100] [--seconds 540]
    python tools/train_best.py --keep --out FOLDER

A step is `presets:NAME` or `STUDY:GRAPH`, such as presets:cora, best:cora, alike:pubmed, or `STUDY:GRAPH:ROW` for a
row alone, with its search. It trains what has no record yet in FOLDER or in docs/results/best, and adds the records to
FOLDER as they come. When the time is up, the steps that are left are named. Graphs whose neighbours differ are read
from the folder that PANCONV_HETEROPHILOUS names.
With --keep the records of FOLDER are added to docs/results/best, a file per graph, without curves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pack_records import pack

from panconv import load
from panconv.best.depth import DEPTH, seen, write_looks
from panconv.best.presets import CHOICES
from panconv.best.studies import STUDIES
from panconv.best.study import Study
from panconv.records.record import Record, Results
from panconv.training.runner import Step

RECORDS = Path(__file__).parents[1] / "docs/results/best"


class TimeUp(Exception):
    """The time that was given is over."""


class Both(Results):
    """A folder to add to, read together with others."""

    def __init__(self, folder: Path, others: Sequence[Results]) -> None:
        super().__init__(folder)
        self.others = others

    def read(self) -> list[Record]:
        found = {record.key(): record for folder in (self, *self.others) for record in Results.read(folder)}
        return list(found.values())


def main() -> None:
    asked = _arguments()
    if asked.keep:
        keep(asked.out)
        return
    end = time.monotonic() + asked.seconds
    for place, step in enumerate(asked.steps):
        began = time.monotonic()
        try:
            _train(step, asked, until(end))
        except TimeUp:
            print(f"time is up in {step}; left: {' '.join(asked.steps[place:])}", flush=True)
            return
        print(f"{step}: {time.monotonic() - began:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    for step in asked.steps:
        kind, name, _ = _parts(step)
        known = CHOICES if kind == "presets" else STUDIES[kind].graphs if kind in STUDIES else ()
        if name not in known:
            parser.error(f"{step!r} is no step: write presets:NAME with one of {', '.join(CHOICES)}, or STUDY:GRAPH")
        for graph in _graphs(kind, name):
            load(graph, sparse=True)  # a graph that is not here is named before anything is trained
    return asked


def _parts(step: str) -> tuple[str, str, str]:
    """Presets or a study, the name or the graph, and the row, "" for all."""
    kind, name, row = (*step.split(":", 2), "", "")[:3]
    return kind, name, row


def _graphs(kind: str, name: str) -> list[str]:
    if kind != "presets":
        return [name]
    return [each.graph for each in CHOICES[name].searches]


def until(end: float) -> Callable[[Step], None]:
    """A callback that says what begins, and raises `TimeUp` after an end by `time.monotonic`."""

    def check(step: Step) -> None:
        if time.monotonic() > end:
            raise TimeUp
        if not step.done:  # a batch begins
            one = step.tasks[0]
            named = f"{one.dataset}, {one.model}, {len(step.tasks)} trials, batch {step.batch + 1} of {step.batches}"
            print(f"  {end - time.monotonic():.0f} s left: {named}", flush=True)

    return check


def _train(step: str, asked: argparse.Namespace, callback: Callable[[Step], None]) -> None:
    kind, name, row = _parts(step)
    command = f"tools/train_best.py {step}" if kind == "presets" else f"panconv reproduce {kind} --datasets {name}"
    how = {"device": asked.device, "command": command, "callback": callback}
    kept = Both(asked.out, [Results(RECORDS)])
    if kind == "presets":
        CHOICES[name].run(kept, **how)
    else:
        study = _alone(STUDIES[kind], row) if row else STUDIES[kind]
        study.train([name], kept, trials=asked.trials or study.trials, **how)


def _alone(study: Study, name: str) -> Study:
    """A study of one of its rows."""
    return replace(
        study,
        searches=lambda graph: {key: each for key, each in study.searches(graph).items() if key == name},
        rows=lambda graph, chosen: [row for row in study.rows(graph, chosen) if row.name == name],
        before=None,
    )


def keep(folder: Path) -> None:
    """Adds the records of a folder to those that are kept, and what was seen beside them."""
    files: dict[str, dict[str, Record]] = {}
    for record in [*Results(RECORDS).read(), *Results(folder).read()]:
        name = f"{record.dataset}-{'tables' if record.tested else 'searches'}.jsonl"
        files.setdefault(name, {}).setdefault(record.key(), record)
    for name, records in files.items():
        pack(list(records.values()), RECORDS / name)
    for graph in DEPTH.graphs:
        if looks := seen(folder, graph):
            write_looks(RECORDS, graph, {**seen(RECORDS, graph), **looks})


if __name__ == "__main__":
    main()
