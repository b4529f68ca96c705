"""Contests over whole graphs: what `panconv graphs` leaves, as tables of the page. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from panconv.records.record import Record
from panconv.whole_graphs.contest import Contest, Standing, contests_in, standings
from panconv.whole_graphs.menu import recorded


@dataclass(frozen=True)
class WholeTable:
    """The table of a set of graphs."""

    contest: Contest
    rows: list[Standing]
    command: str  # by which the first of its models was trained

    @property
    def title(self) -> str:
        splits = "folds" if self.contest.runs is None else "random splits"
        looks = ": a first look" if self.contest.quick else ""
        return f"{self.contest.title}, {self.contest.splits} {splits}{looks}"


def whole_graphs(records: Sequence[Record]) -> list[WholeTable]:
    """A table for each set of graphs and way of splitting it."""
    found = []
    for contest in contests_in(records):
        rows = standings(contest, records)
        if rows:
            model = recorded(rows[0].name)
            mine = (each for each in records if each.model == model and each.dataset == contest.dataset)
            found.append(WholeTable(contest, rows, next(mine).command))
    return found
