from pathlib import Path

from panconv.paper.report import summary
from panconv.paper.tables.baselines import EXPLAIN, REPRODUCED
from panconv.paper.zoo import METHODS
from panconv.paper.zoo.notes import NOTES
from panconv.records.record import Results

KEPT = Path(__file__).parents[3] / "docs/results/zoo"


def test_every_row_that_differs_has_a_note():
    """More than 3 points above the paper's figure, or more than 1.5 below: the kept results ask for a word."""
    assert NOTES.keys() <= METHODS.keys()
    records = Results(KEPT).read()
    for row in summary.table2(records)[:-1]:
        differences = [cell.difference for cell in row.cells if cell.paper is not None]
        assert len(differences) == sum(figure is not None for figure in METHODS[row.key].paper)
        if any(d is None or d > EXPLAIN or d < -REPRODUCED for d in differences):
            assert row.note, row.name


def test_at_least_twenty_rows_are_reproduced():
    rows = summary.table2(Results(KEPT).read())[:-1]
    assert all(cell.mean is not None and cell.trials >= 10 for row in rows for cell in row.cells)
    assert sum(bool(row.reproduced) for row in rows) >= 20
