"""What a column of a table of nodes is: numbers, categories, dates, text, or nothing that a model could use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from panconv.data.dates import Ambiguous, days_of
from panconv.data.remarks import Remarks, counted, short
from panconv.data.tables import MOSTLY, Table, number_in

NUMBER, CATEGORY, DATE, TEXT, UNUSED = "number", "category", "date", "text", "unused"
_WORDS = 3.0  # in the mean, and it is text
_MOST_CATEGORIES = 100
_NOTHING = np.empty(0, object)


@dataclass(frozen=True, eq=False)
class Column:
    """A column of features, a value per node.

    Args:
        name: as in the table.
        kind: "number", "category", "date", "text" or "unused".
        values: (N,), float64 of numbers and of dates (days since 1970), NaN where there is none; texts as objects,
            None where there is none; of an unused column nothing.
        why: why it is not used.
        texts: of an unused column what its cells hold, as Arrow has it, a text per row of the table: a model that has
            learned from a column of that name, in a graph where it was of use, asks for it.
    """

    name: str
    kind: str
    values: np.ndarray
    why: str = ""
    texts: Any = None

    @property
    def missing(self) -> int:
        """How many nodes have no value."""
        if self.values.dtype == object:
            return sum(each is None for each in self.values)
        return int(np.isnan(self.values).sum())


def column_of(table: Table, name: str, remarks: Remarks) -> Column:
    """A column of a table, by what its cells are.

    A column of numbers with a few cells that are none has numbers and gaps.
    """
    numbers = table.numbers(name)
    if numbers is not None:
        return _of_numbers(table, name, numbers, remarks)
    try:
        if (dates := days_of(table, name, remarks)) is not None:
            return Column(name, DATE, dates)
    except Ambiguous as error:
        return Column(name, UNUSED, _NOTHING, str(error))
    return _of_texts(table, name, remarks)


def _of_texts(table: Table, name: str, remarks: Remarks) -> Column:
    import pyarrow.compute as pc

    texts = table.texts(name)
    there, unique = len(texts) - texts.null_count, pc.unique(texts.drop_null())
    different = len(unique)
    if not different:
        return Column(name, UNUSED, _NOTHING, "it is empty")
    # Of very many different cells the first will do to see whether they are numbers.
    some = pc.unique(table.pointed(table.known_texts(name)).drop_null()).slice(0, 10_000).to_pylist()
    if some and np.isfinite([number_in(each) for each in some]).mean() >= MOSTLY:
        return _mostly_numbers(table, name, remarks)
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(texts))).as_py() or 0.0
    if words >= _WORDS and different > there / 10:
        return Column(name, TEXT, as_objects(texts))
    if different <= min(_MOST_CATEGORIES, max(2, there // 2)):
        return Column(name, CATEGORY, as_objects(texts))
    why = f"{different:,} different values in {there:,} rows are names, of which nothing can be learned"
    return Column(name, UNUSED, _NOTHING, why, texts)


def _of_numbers(table: Table, name: str, numbers: np.ndarray, remarks: Remarks) -> Column:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        what = f"{table.where(row, name)}: {numbers[row]} is no finite number"
        remarks.mend(what, f"{counted(infinite.sum(), 'cell')} taken for missing")
        numbers = np.where(infinite, np.nan, numbers)
    if np.isnan(numbers).all():
        return Column(name, UNUSED, _NOTHING, "it is empty" if len(numbers) else "the table has no rows")
    return Column(name, NUMBER, numbers)


def _mostly_numbers(table: Table, name: str, remarks: Remarks) -> Column:
    cells, numbers = table.known_texts(name).to_pylist(), table.parsed(name)
    wrong = np.array([each is not None for each in cells]) & np.isnan(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        what = f"{table.where(row, name)}: {short(cells[row])} is no number, unlike most cells of the column"
        remarks.mend(what, f"{counted(wrong.sum(), 'cell')} taken for missing")
    return _of_numbers(table, name, numbers, remarks)


def as_objects(texts: Any) -> np.ndarray:
    """Arrow's texts, None where there is none."""
    return np.array(texts.to_pylist(), dtype=object)
