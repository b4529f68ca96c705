"""Writes the tables of docs/graphs.md from the records in docs/results/graphs.

python tools/graph_tables.py
"""

from __future__ import annotations

from zoo_tables import DOCS, filled, table

from panconv.records.record import Results
from panconv.whole_graphs.contest import Contest, contests_in, standings

PAGE, RECORDS = DOCS / "graphs.md", DOCS / "results/graphs"
_NOT_YET = "*Not trained yet: there are no records of it in `docs/results/graphs`.*"


def tables() -> dict[str, str]:
    """All parts of the page, by the name of their markers: a table for each set of graphs and way of splitting it."""
    records = Results(RECORDS).read() if RECORDS.is_dir() else []
    found = [_contest(contest, records) for contest in contests_in(records) if not contest.quick]
    return {"contests": "\n\n".join(found) or _NOT_YET}


def _contest(contest: Contest, records: list) -> str:
    rows = []
    for each in standings(contest, records):
        missing = contest.splits - len(each.by_fold)
        name = each.title + (f" ({missing} missing)" if missing else "")
        rows.append([name, f"**{each.mean:.1f}** ± {each.std:.1f}", each.difference, str(each.trainings)])
    splits = "folds" if contest.runs is None else "random splits"
    heading = f"**{contest.dataset}**, {contest.splits} {splits}:"
    first = next((each.title for each in standings(contest, records)), "")
    return f"{heading}\n\n{table(['', 'test (%)', f'change over {first}', 'trainings'], rows)}"


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text(), tables()))


if __name__ == "__main__":
    main()
