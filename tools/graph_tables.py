"""Writes the tables of docs/graphs.md from the records in docs/results/graphs.

    python tools/graph_tables.py                       # the tables
    python tools/graph_tables.py FOLDER [FOLDER ...]   # with the records of these folders, which are added

Each folder is one that `panconv graphs SOURCE --out FOLDER` has filled; first looks are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pack_records import pack
from zoo_tables import DOCS, filled, table

from panconv.records.record import Record, Results, Task
from panconv.whole_graphs.contest import Contest, contests_in, standings

PAGE, RECORDS = DOCS / "graphs.md", DOCS / "results/graphs"
_NOT_YET = "*Not trained yet: there are no records of it in `docs/results/graphs`.*"


def tables() -> dict[str, str]:
    """All parts of the page, by the name of their markers: a table for each set of graphs and way of splitting it."""
    records = _recorded()
    found = [_contest(contest, records) for contest in contests_in(records) if not contest.quick]
    return {"contests": "\n\n".join(found) or _NOT_YET}


def add(folders: Sequence[str]) -> None:
    """Adds records to those that are there, a file for each set of graphs."""
    old = _recorded()
    new = {record.key(): record for folder in folders for record in Results(folder).read()}
    known = {record.key(): record for record in old} | new
    wanted = [contest for contest in contests_in(list(known.values())) if not contest.quick]
    by_set: dict[str, list[Record]] = {}
    for contest in wanted:
        tasks = [task for model in contest.models for task in _tasks(contest, model, list(known.values()))]
        by_set.setdefault(contest.title, []).extend(known[task.key()] for task in tasks if task.key() in known)
    for name, records in by_set.items():
        pack(records, RECORDS / f"{name}.jsonl")
        print(f"{name}: {len(records)} records")


def _tasks(contest: Contest, model: str, records: Sequence[Record]) -> list[Task]:
    """The trainings that chose, and those of the choices."""
    tested = contest.tested(model, contest.choices(model, records)).values()
    return [*contest.tried(model), *(task for tasks in tested for task in tasks)]


def _recorded() -> list[Record]:
    return Results(RECORDS).read() if RECORDS.is_dir() else []


def _contest(contest: Contest, records: Sequence[Record]) -> str:
    rows = []
    for each in standings(contest, records):
        missing = contest.splits - len(each.by_fold)
        name = each.title + (f" ({missing} missing)" if missing else "")
        rows.append([name, f"**{each.mean:.1f}** ± {each.std:.1f}", each.difference, str(each.trainings)])
    splits = "folds" if contest.runs is None else "random splits"
    heading = f"**{contest.title}**, {contest.splits} {splits}:"
    first = next((each.title for each in standings(contest, records)), "")
    return f"{heading}\n\n{table(['', 'test (%)', f'change over {first}', 'trainings'], rows)}"


def main(folders: Sequence[str] = ()) -> None:
    if folders:
        add(folders)
    PAGE.write_text(filled(PAGE.read_text(), tables()))


if __name__ == "__main__":
    main(sys.argv[1:])
