"""What a column is, by what stands in it."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from panconv.data.columns import column_of  # noqa: E402
from panconv.data.remarks import Remarks  # noqa: E402
from panconv.data.tables import Table  # noqa: E402

CASES = {
    "numbers": (["1", "2.5", "", "-3e2", " 4 "], "number", [1, 2.5, np.nan, -300, 4]),
    "unknown numbers": (["1", "n/a", "NULL", "-", "2"], "number", [1, np.nan, np.nan, np.nan, 2]),
    "few numbers": (["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "x"], "number", [*range(1, 11), np.nan]),
    "codes": (["007", "007", "008", "008"], "category", ["007", "007", "008", "008"]),
    "categories": (["a", "b", None, "a", "b"], "category", ["a", "b", None, "a", "b"]),
    "dates": (["1970-01-02", None, "1970-01-01T12:00"], "date", [1, np.nan, 0.5]),
    "no dates": (["2024-02-30", "2024-02-30"], "category", ["2024-02-30"] * 2),
    "text": (["the quick brown", "fox jumps over", "the lazy dog"], "text", None),
    "names": (["a", "b", "c", "d"], "unused", None),
    "nothing": (["", None, " "], "unused", None),
    "whole": ([1, 2, None], "number", [1, 2, np.nan]),
    "truth": ([True, False, None], "number", [1, 0, np.nan]),
    "lists": ([1.5, 2.5, float("nan")], "number", [1.5, 2.5, np.nan]),
    "half precision": (pa.array(np.array([0.5, 1.5, 2.5], np.float16)), "number", [0.5, 1.5, 2.5]),
    "beyond whole numbers": ([1e300, 2.0, -1e19], "number", [1e300, 2.0, -1e19]),
}


@pytest.mark.parametrize("name", CASES)
def test_kinds(name):
    cells, kind, values = CASES[name]
    found = column_of(Table("it", pa.table({"c": cells})), "c", Remarks())
    assert found.kind == kind
    if values is not None:
        if kind in ("number", "date"):
            np.testing.assert_equal(found.values, np.array(values, float))
        else:
            assert found.values.tolist() == values
        assert found.missing == sum(each is None or each != each for each in values)
    assert bool(found.why) == (kind == "unused")


def test_a_column_that_is_no_text_is_refused():
    table = Table("it", pa.table({"c": pa.array([[1], [2]])}))
    with pytest.raises(ValueError, match=r"it, column 'c' holds list<.*>, which is no text"):
        column_of(table, "c", Remarks())


def test_texts_of_numbers_that_arrow_cannot_cast():
    cells = {"half": pa.array(np.array([1, 2], np.float16)), "huge": [1e19, 2.0]}
    table = Table("it", pa.table(cells))
    assert table.texts("half").to_pylist() == ["1", "2"]
    assert [float(each) for each in table.texts("huge").to_pylist()] == [1e19, 2.0]
