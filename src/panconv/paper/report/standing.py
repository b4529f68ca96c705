"""What the rows of a table say together: who is ahead, what M changes, where there are few trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from panconv.paper.published import GRAPHS
from panconv.paper.report.summary import ENOUGH, TITLES, Cell, Row
from panconv.paper.settings import PAPER
from panconv.paper.tables.baselines import Baseline

_TRIALS = 10  # of a cell, as the paper has it


@dataclass(frozen=True)
class Place:
    """A method's place on a graph."""

    name: str
    mean: float
    cell: Cell
    ours: bool
    epochs: int = 0  # at most, where nothing is cut short; 0: not by epochs

    @property
    def enough(self) -> bool:
        """Whether it may be said to be ahead of another, or behind."""
        return self.cell.trials >= ENOUGH and self.cell.epochs >= self.epochs


def places(rows: Sequence[Row], graph: str) -> list[Place]:
    """The methods that were run on a graph, by our mean, best first."""
    at = [(row, row.cells[GRAPHS.index(graph)]) for row in rows]
    ran = [Place(row.name, each.mean, each, row.ours, _epochs(row, graph)) for row, each in at if each.mean is not None]
    return sorted(ran, key=lambda place: -place.mean)


def _epochs(row: Row, graph: str) -> int:
    """The epochs of a method's full settings."""
    return PAPER[graph].epochs if row.ours else Baseline(row.key, graph).settings().get("epochs", 0)


def comparable(ranked: Sequence[Place]) -> bool:
    """Whether a rank means something: no place is of too few trials, or of fewer epochs than it should have."""
    return all(place.enough for place in ranked)


def ranked_graphs(rows: Sequence[Row], graphs: Sequence[str] = GRAPHS) -> dict[str, list[Place]]:
    """The places on each graph that has two methods to compare."""
    found = {graph: places(rows, graph) for graph in graphs}
    return {graph: ranked for graph, ranked in found.items() if len(ranked) > 1}


def spread(cell: Cell) -> str:
    """A mean with its standard deviation, which one trial does not have."""
    return f"{cell.mean:.1f}" + (f" ± {cell.std:.1f}" if cell.trials > 1 else "")


def ranked_words(ranked: Sequence[Place]) -> str:
    """Who leads, and how many others lie within the spread of the seeds; nothing of it after a first look."""
    if not comparable(ranked):
        short = ", ".join(place.name for place in ranked if not place.enough)
        return f"A first look: of fewer than {ENOUGH} trials, or of fewer epochs than planned, are {short}."
    first, *others = ranked
    near = [place for place in others if first.mean - place.mean <= max(first.cell.std, place.cell.std)]
    names = f": {', '.join(place.name for place in near)}" if near else ""
    return (
        f"{first.name} leads with {spread(first.cell)}; {len(near) or 'none'} of the others "
        f"{'is' if len(near) == 1 else 'are'} within one standard deviation of it{names}."
    )


def on_m_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows with a figure on M."""
    return [row for row in rows if row.on_m and any(row.on_m)]


def on_m_words(rows: Sequence[Row]) -> str:
    """What M in place of a method's own changes, as the data say."""
    found = [each for row in rows for each in row.on_m or () if each is not None and each.trials >= ENOUGH]
    if not found:
        return ""
    better, worse = (sum(each.clear and sign * each.change > 0 for each in found) for sign in (1, -1))
    return (
        f"Of {len(found)} cells, M is better by more than the spread of the change in {better}, worse in {worse}, and "
        f"neither in {len(found) - better - worse}."
    )


def few_trials(rows: Sequence[Row]) -> str:
    """Which cells have fewer than ten trials, and their largest number of epochs; empty if there are none."""
    ran = [(row, name, each) for row in rows for name, each in zip(GRAPHS, row.cells, strict=True) if each.trials]
    groups: dict[tuple[int, int], dict[str, list[str]]] = {}
    for row, name, each in ran:
        if each.trials < _TRIALS:
            groups.setdefault((each.trials, each.epochs), {}).setdefault(row.name, []).append(TITLES[name])
    parts = []
    for (trials, epochs), names in groups.items():
        every = sum(map(len, names.values())) == len(ran)
        where = "all" if every else ", ".join(f"{name} ({', '.join(graphs)})" for name, graphs in names.items())
        at_most = f" of at most {epochs} epochs" if epochs else ""
        parts.append(f"{trials} trial{'s' * (trials > 1)}{at_most}: {where}")
    return f"Cells of fewer than ten trials. {'; '.join(parts)}." if parts else ""
