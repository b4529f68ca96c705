"""What the paper says of its Table 2, put to the test: PAN's place among the rows, and how many rows came out.

"Overall, the performance of our model can be placed in the top five among all models", by the paper's own figures and
by ours, each as the table prints it. The paper gives no rule for "overall"; here PAN is behind a method whose mean is
higher over the graphs that both have a figure of.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from panconv.paper.published import GRAPHS, TABLE2
from panconv.paper.report.summary import ENOUGH, TITLES, Cell, Row
from panconv.paper.tables.baselines import REPRODUCED

TOP = 5  # "placed in the top five"
_NAMED = 5  # of those ahead, in words

Figure = Callable[[Cell], float | None]


def published(cell: Cell) -> float | None:
    """The paper's figure; None where it has a "-"."""
    return cell.paper


def ours(cell: Cell) -> float | None:
    """Our mean as it is printed, to a tenth of a percent; None where too few trials were run to speak of places."""
    return None if cell.mean is None or cell.trials < ENOUGH else round(cell.mean, 1)


@dataclass(frozen=True)
class Rank:
    """A place among some methods: those ahead, the furthest first, and those with the same figure."""

    ahead: list[str]
    level: list[str]
    among: int  # itself included

    @property
    def place(self) -> int:
        """The first of the places that methods with the same figure share."""
        return len(self.ahead) + 1

    def __str__(self) -> str:
        shared = f"shared with {_listed(self.level)}" if self.level else ""
        behind = f"behind {_listed(self.ahead)}" if self.ahead else ""
        words = ", ".join(filter(None, (behind, shared)))
        return f"{ordinal(self.place)} of {self.among}" + f" ({words})" * bool(words)


def rank(rows: Sequence[Row], figure: Figure, graphs: Iterable[str] = GRAPHS) -> Rank | None:
    """PAN's place by the mean over the graphs that it and the other have a figure of; None where it has none."""
    columns = [GRAPHS.index(graph) for graph in graphs]
    pan = next((row for row in rows if row.name == "PAN"), None)
    mine = {i: value for i in columns if pan and (value := figure(pan.cells[i])) is not None}
    behind = {}  # by how much PAN is
    for row in rows:
        gaps = [value - mine[i] for i in mine if (value := figure(row.cells[i])) is not None]
        if row is not pan and gaps:
            behind[row.name] = round(statistics.fmean(gaps), 9)  # figures of one decimal that add up alike are level
    if not mine:
        return None
    ahead = sorted((name for name, gap in behind.items() if gap > 0), key=lambda name: -behind[name])
    return Rank(ahead, [name for name, gap in behind.items() if gap == 0], len(behind) + 1)


def rank_words(rows: Sequence[Row], graphs: Sequence[str] = GRAPHS) -> list[str]:
    """A line by the paper's figures and one by ours: PAN's place on each graph, and over all of them.

    The claim is about all models: of fewer rows, or while some are not run, nothing is said of the top five.
    """
    lines = []
    for whose, figure in (("the paper's figures", published), ("ours", ours)):
        found = [(TITLES[graph], place) for graph in graphs if (place := rank(rows, figure, [graph]))]
        over_all = rank(rows, figure, graphs)
        if over_all is None or over_all.among == 1:
            continue
        found += [("overall", over_all)] * (len(graphs) > 1)
        words = f"PAN's place by {whose}: {'; '.join(f'{name} {place}' for name, place in found)}"
        if len(graphs) == len(GRAPHS) and over_all.among == len(TABLE2) + 1:
            words += f": {'' if over_all.place <= TOP else 'not '}in the top five"
        lines.append(words)
    return lines


def count_words(rows: Sequence[Row]) -> str:
    """How many baselines came out, on one side and on both, and whether PAN's own row did; empty where none was run."""
    ran = [row for row in rows if not row.ours and row.reproduced is not None]
    words = []
    if ran:
        one_sided, both = sum(bool(row.reproduced) for row in ran), sum(bool(row.within) for row in ran)
        words.append(
            f"{one_sided} of {len(ran)} baselines reproduced: on every graph at or above the paper's figure minus "
            f"{REPRODUCED} points; {both} of {len(ran)} within {REPRODUCED} points of it either way"
        )
    for pan in (row for row in rows if row.name == "PAN" and row.reproduced is not None):
        outcome = f"within {REPRODUCED} points either way" if pan.within else "reproduced, with a figure further above"
        words.append(f"PAN's own row: {outcome if pan.reproduced else 'not reproduced'}")
    return ". ".join(words)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th … 11th … 21st."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _listed(names: Sequence[str]) -> str:
    """A, B and C; of many the first few, and how many more."""
    shown = [*names] if len(names) <= _NAMED + 1 else [*names[:_NAMED], f"{len(names) - _NAMED} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
