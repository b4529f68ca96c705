"""Trains what docs/best.md is made of, within a time, on a machine that need not have the command line's libraries.

    python tools/train_best.py STEP [STEP …] --out FOLDER [--device cuda] [--trials 100] [--seconds 540]

A step is `presets:NAME` or `STUDY:GRAPH`, such as presets:cora, best:cora, alike:pubmed. It trains what has no record
yet in FOLDER or in docs/results/best, and leaves the new records in a file of FOLDER that is named after it. When the
time is up, what has been trained is written, and the steps that are left are named.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from pack_records import pack

from panconv.best.presets import CHOICES
from panconv.best.studies import STUDIES
from panconv.records.record import Results
from panconv.training.runner import Step

RECORDS = Path(__file__).parents[1] / "docs/results/best"


class TimeUp(Exception):
    """The time that was given is over."""


def main() -> None:
    asked = _arguments()
    end = time.monotonic() + asked.seconds
    steps = list(asked.steps)
    while steps:
        began = time.monotonic()
        try:
            _train(steps[0], asked, _until(end))
        except TimeUp:
            print(f"time is up in {steps[0]}; left: {' '.join(steps)}", flush=True)
            return
        print(f"{steps.pop(0)}: {time.monotonic() - began:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="+", metavar="STEP")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    for step in asked.steps:
        kind, _, name = step.partition(":")
        known = CHOICES if kind == "presets" else STUDIES[kind].graphs if kind in STUDIES else ()
        if name not in known:
            parser.error(f"{step!r} is no step: write presets:NAME with one of {', '.join(CHOICES)}, or STUDY:GRAPH")
    return asked


def _until(end: float) -> Callable[[Step], None]:
    def check(step: Step) -> None:
        if time.monotonic() > end:
            raise TimeUp
        if not step.done:  # a batch begins
            one = step.tasks[0]
            named = f"{one.dataset}, {one.model}, {len(step.tasks)} trials, batch {step.batch + 1} of {step.batches}"
            print(f"  {end - time.monotonic():.0f} s left: {named}", flush=True)

    return check


def _train(step: str, asked: argparse.Namespace, callback: Callable[[Step], None]) -> None:
    """One step, in a folder of its own that begins with all records that are known."""
    kind, _, name = step.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        work = Results(folder)
        for place in (RECORDS, asked.out):
            for path in place.glob("*.jsonl") if place.is_dir() else ():
                shutil.copy(path, Path(folder) / f"{place.name}-{path.name}")
        known = {record.key() for record in work.read()}
        how = {"device": asked.device, "command": f"panconv reproduce {kind}", "callback": callback}
        try:
            if kind == "presets":
                CHOICES[name].run(work, **how)
            else:
                STUDIES[kind].train([name], work, trials=asked.trials or STUDIES[kind].trials, **how)
        finally:
            if new := [record for record in work.read() if record.key() not in known]:
                pack(new, _free(asked.out / f"{kind}-{name}.jsonl"))
            for path in Path(folder).glob("*.json"):  # what was seen beside the records
                shutil.copy(path, asked.out)


def _free(file: Path) -> Path:
    """A name that is not taken."""
    names = (file.with_stem(f"{file.stem}-{n}") if n > 1 else file for n in count(1))
    return next(path for path in names if not path.exists())


if __name__ == "__main__":
    main()
