"""Dates in the ways that they are written, and those that could be two days."""

import datetime

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from panconv.data.columns import column_of  # noqa: E402
from panconv.data.remarks import Remarks  # noqa: E402
from panconv.data.tables import Table  # noqa: E402


def read(cells, remarks=None):
    return column_of(Table("it", pa.table({"c": cells})), "c", remarks or Remarks())


def days(*moments):
    epoch = datetime.datetime(1970, 1, 1)
    return [(datetime.datetime(*each) - epoch) / datetime.timedelta(days=1) for each in moments]


CASES = {
    "points": (["31.01.2024", "1.2.1969"], days((2024, 1, 31), (1969, 2, 1))),
    "slashes, the year first": (["2024/01/31", "1969/2/1"], days((2024, 1, 31), (1969, 2, 1))),
    "the day first": (["03/04/2024", "13/04/2024"], days((2024, 4, 3), (2024, 4, 13))),
    "the month first": (["03/04/2024", "04/13/2024"], days((2024, 3, 4), (2024, 4, 13))),
    "one day either way": (["03/03/2024", "04/04/2024"], days((2024, 3, 3), (2024, 4, 4))),
    "times": (
        ["2024-01-31 10:15", "2024-01-31T10:15:30.25"],
        days((2024, 1, 31, 10, 15), (2024, 1, 31, 10, 15, 30, 250000)),
    ),
    "zones": (
        ["2024-01-31T10:00:00Z", "2024-01-31T10:00+02:00", "2024-01-31T10:00-0130"],
        days((2024, 1, 31, 10), (2024, 1, 31, 8), (2024, 1, 31, 11, 30)),
    ),
    "Arrow's own": (pa.array([0, 1, None], pa.date32()), [0, 1, np.nan]),
}


@pytest.mark.parametrize("name", CASES)
def test_ways_of_writing_a_date(name):
    cells, expected = CASES[name]
    found = read(cells)
    assert found.kind == "date"
    np.testing.assert_allclose(found.values, expected, atol=1e-9)


def test_a_date_that_could_be_two_is_not_used_and_said():
    found = read(["03/04/2024", "05/06/2024"])
    assert found.kind == "unused"
    assert found.why == "dates such as '03/04/2024' can be read in two ways: write them as 2024-01-31"


@pytest.mark.parametrize("odd", ["soon", "2024-02-30", "2024-01-31T25:00"])
def test_a_cell_that_is_no_date_is_missing_and_named(odd):
    cells, remarks = [*["2024-01-31"] * 6, odd, *["2024-02-01"] * 6], Remarks()
    found = read(cells, remarks)
    assert (found.kind, found.missing) == ("date", 1)
    what = f"it, row 7, column 'c': {odd!r} is no date, unlike most cells of the column"
    assert remarks.mended == [f"{what}: 1 cell taken for missing"]
    with pytest.raises(ValueError, match="is no date, unlike most cells of the column; mend it"):
        read(cells, Remarks(strict=True))


@pytest.mark.parametrize("cells", [["30.02.2024"] * 3, ["2024-13-01"] * 3, ["2024-01-31", "soon"] * 3, ["12:30"] * 3])
def test_what_is_mostly_no_date_is_none(cells):
    assert read(cells).kind == "category"
