"""Adds the records of further questions to those of our full run: one file per question, without curves nobody draws.

    python tools/pack_records.py FOLDER [FOLDER ...]

Each folder is one that `panconv reproduce QUESTION --out FOLDER` has filled.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from panconv.base.files import replacing
from panconv.paper.tables.further import FURTHER, wanted
from panconv.records.jsonl import line_of
from panconv.records.record import SCHEMA, Record, Results, _plain, parsed

HOME = Path(__file__).parents[1] / "docs/results"
FURTHER_HOME = HOME / "further"
DRAWN = ("scale",)


def main(folders: list[str]) -> None:
    known = {record.key() for record in Results(HOME).read()}
    new = {record.key(): record for folder in folders for record in Results(folder).read()}
    for question in FURTHER:
        tasks, later = wanted(question, list(new.values()))
        keys = [task.key() for task in tasks if task.key() not in known]
        if later or not all(key in new for key in keys):
            print(f"{question}: not complete in these folders, left as it is")
            continue
        known.update(keys)
        pack([new[key] for key in keys], FURTHER_HOME / f"{question}.jsonl", question in DRAWN)
        print(f"{question}: {len(keys)} records")


def pack(records: Sequence[Record], file: Path, curves: bool = False) -> None:
    """Writes records into one file, with or without their curves."""
    if not curves:
        records = [replace(record, loss_curve=[], accuracy_curve=[]) for record in records]
    with replacing(file) as path:
        path.write_text("".join(line_of(SCHEMA, _plain(record), parsed).strip() + "\n" for record in records))


if __name__ == "__main__":
    main(sys.argv[1:])
