"""What the page shows, and in which order: what was run first, the rest folded away. Never imports torch."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from panconv.paper.published import GRAPHS
from panconv.paper.report.own import Own
from panconv.paper.report.recorded import Recorded, all_agree, recorded
from panconv.paper.report.summary import TITLES, Cell, Row


@dataclass(frozen=True)
class Table:
    """A table of the paper: the rows that were run here, and of the others what our full run has."""

    id: str
    title: str
    rows: list[Row]
    others: list[Row]
    shown: bool  # whether it has something that no table before it shows

    @property
    def recorded(self) -> dict[str, list[Recorded | None]]:
        return recorded(self.id)

    @property
    def beside(self) -> bool:
        """Whether our full run has something else to say of the rows that were run here."""
        return not all_agree(self.id, self.rows)


@dataclass(frozen=True)
class Card:
    """A figure of the first screen."""

    title: str
    cell: Cell
    recorded: Recorded | None = None


def tables(table1: Sequence[Row], table2: Sequence[Row], table3: Sequence[Row]) -> list[Table]:
    """The three tables; Table 2 has Table 1 within it, so that it is shown where more of it was run."""
    out = []
    seen: set[str] = set()
    for name, title, rows in (
        ("table1", "Table 1: PAN beside published models", table1),
        ("table2", "Table 2: PAN beside all 24 baselines", table2),
        ("table3", "Table 3: the seven methods", table3),
    ):
        ran = [row for row in rows if was_run(row)]
        new = {row.name for row in ran} - seen
        seen |= new
        out.append(Table(name, title, ran, [row for row in rows if not was_run(row)], bool(new)))
    return out


def was_run(row: Row) -> bool:
    return any(cell.mean is not None for cell in row.cells)


def cards(found: Sequence[Table], own: Sequence[Own]) -> list[Card]:
    """What was run, large: PAN on each graph; without it a method of Table 3, a graph of the user's, a baseline."""
    table1, table2, table3 = found
    pan = [(table1, row) for row in table1.rows if row.ours]
    if row_of := next(iter([*pan, *((table3, row) for row in table3.rows)]), None):
        return _of_row(*row_of)
    if own:
        return [Card(f"{each.name} on {each.graph}", each.cell) for each in own[:3]]
    return _of_row(table2, table2.rows[0]) if table2.rows else []


def _of_row(table: Table, row: Row) -> list[Card]:
    cells = zip(GRAPHS, row.cells, table.recorded[row.name], strict=True)
    return [Card(f"{row.name} on {TITLES[name]}", cell, there) for name, cell, there in cells if cell.mean is not None]


def command_parts(command: str) -> list[str]:
    """A command in parts that a line should not break: what is called, then each option with its value."""
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:  # it was never typed: a quote is open
        return [command]
    parts: list[str] = []
    for word in words:
        if parts and not word.startswith("--") and (not parts[-1].startswith("--") or " " not in parts[-1]):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts
