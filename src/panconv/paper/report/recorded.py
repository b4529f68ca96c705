"""Our recorded full run, to set beside what was run here: every cell of Tables 1, 2 and 3. Never imports torch.

The figures are in recorded.json, which tools/recorded.py makes of docs/results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from panconv.paper.report.summary import Cell, Row


@dataclass(frozen=True)
class Recorded:
    """A cell of our full run, in percent."""

    mean: float
    std: float
    trials: int

    def agrees(self, cell: Cell) -> bool:
        """Whether a cell that was run here shows the same; one that was not run has nothing to disagree."""
        if cell.mean is None:
            return True
        return cell.trials == self.trials and max(abs(cell.mean - self.mean), abs(cell.std - self.std)) < 0.05


@cache
def recorded(table: str) -> dict[str, list[Recorded | None]]:
    """The cells of table1, table2 or table3 by the names of their rows, one per graph."""
    content = json.loads(files("panconv.paper.report").joinpath("recorded.json").read_text(encoding="utf-8"))
    return {name: [each and Recorded(*each) for each in cells] for name, cells in content[table].items()}


def plain(rows: Sequence[Row]) -> dict[str, list[list[float] | None]]:
    """The rows of a table as recorded.json has them."""
    return {row.name: [_plain(cell) for cell in row.cells] for row in rows}


def _plain(cell: Cell) -> list[float] | None:
    return None if cell.mean is None else [round(cell.mean, 2), round(cell.std, 2), cell.trials]


def all_agree(table: str, rows: Sequence[Row]) -> bool:
    """Whether every cell that was run here shows what our full run has."""
    ours = recorded(table)
    pairs = [pair for row in rows for pair in zip(row.cells, ours[row.name], strict=True)]
    return all(there is not None and there.agrees(cell) for cell, there in pairs if cell.mean is not None)
