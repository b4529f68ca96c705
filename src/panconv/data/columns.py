"""What a column of a table of nodes is: numbers, categories, dates, text, or nothing that a model could use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from panconv.data.cells import number_in
from panconv.data.dates import Ambiguous, day_in, days_of
from panconv.data.remarks import Remarks, counted, short
from panconv.data.tables import MOSTLY, Table

NUMBER, CATEGORY, DATE, TEXT, UNUSED = "number", "category", "date", "text", "unused"
_WORDS = 3.0  # in the mean, and it is text
_MOST_CATEGORIES = 100
_MOST_KEPT = 1000  # different cells of a column of numbers that is kept as it was written too
_NOTHING = np.empty(0, object)
_TRUTH = {"true": 1.0, "false": 0.0}  # as Arrow has them


@dataclass(frozen=True, eq=False)
class Column:
    """A column of features, a value per node.

    Args:
        name: as in the table.
        kind: "number", "category", "date", "text" or "unused".
        values: (N,), float64 of numbers and of dates (days since 1970), NaN where there is none; texts as objects,
            None where there is none; of an unused column nothing.
        why: why it is not used.
        texts: what its cells hold, as Arrow has it, a text per row of the table: a model that has learned from a column
            of that name, which was of another kind, asks for it. None where `values` say it as well.
        commas: whether its numbers are to be read with a decimal comma.
        notation: of its dates, as in `Dates`.
    """

    name: str
    kind: str
    values: np.ndarray
    why: str = ""
    texts: Any = None
    commas: bool = False
    notation: str = ""

    @property
    def missing(self) -> int:
        """How many nodes have no value."""
        if self.values.dtype == object:
            return sum(each is None for each in self.values)
        return int(np.isnan(self.values).sum())

    # What follows reads it as another kind than its own. Rows of nodes without a row in the table may be left out.

    @cached_property
    def as_numbers(self) -> np.ndarray:
        """(n,), what each cell says as a number, NaN where it says none."""
        if self.kind == NUMBER:
            return self.values

        def read(text: str) -> float:
            number = _TRUTH.get(text.lower(), number_in(text, self.commas))
            return number if np.isfinite(number) else np.nan

        return self._by_cell(read)

    def as_days(self, notation: str) -> np.ndarray:
        """(n,), what each cell says as a date, NaN where it says none; those with two readings by the notation."""
        return self.values if self.kind == DATE else self._by_cell(lambda text: day_in(text, notation))

    @cached_property
    def as_texts(self) -> np.ndarray:
        """(n,), each cell as it was written, None where there is nothing."""
        if self.kind in (CATEGORY, TEXT):
            return self.values
        if self.texts is not None:
            return as_objects(self.texts)
        if self.kind == DATE:
            return _written(self.values)
        return np.array([None if each != each else f"{each:.15g}" for each in self.values.tolist()], dtype=object)

    @cached_property
    def different(self) -> set[str]:
        """The different cells."""
        return {*self.as_texts.tolist()} - {None}

    def _by_cell(self, read: Callable[[str], float]) -> np.ndarray:
        said = {each: read(each) for each in self.different} | {None: np.nan}
        return np.array([said[each] for each in self.as_texts.tolist()], dtype=np.float64)


def column_of(table: Table, name: str, remarks: Remarks) -> Column:
    """A column of a table, by what its cells are.

    A column of numbers with a few cells that are none has numbers and gaps.
    """
    numbers = table.numbers(name)
    if numbers is not None:
        return _of_numbers(table, name, numbers, remarks)
    try:
        if (dates := days_of(table, name, remarks)) is not None:
            return Column(name, DATE, dates.days, texts=_texts_of_dates(table, name), notation=dates.notation)
    except Ambiguous as error:
        return Column(name, UNUSED, _NOTHING, str(error), table.texts(name))
    return _of_texts(table, name, remarks)


def _of_texts(table: Table, name: str, remarks: Remarks) -> Column:
    import pyarrow.compute as pc

    texts = table.texts(name)
    there, unique = len(texts) - texts.null_count, pc.unique(texts.drop_null())
    different = len(unique)
    if not different:
        return Column(name, UNUSED, _NOTHING, "it is empty", texts)
    if _is_mostly_numbers(table, name):
        return _of_numbers(table, name, _parsed(table, name, remarks), remarks)
    commas = table.has_commas(table.known_texts(name))
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(texts))).as_py() or 0.0
    if words >= _WORDS and different > there / 10:
        return Column(name, TEXT, as_objects(texts), commas=commas)
    if different <= min(_MOST_CATEGORIES, max(2, there // 2)):
        return Column(name, CATEGORY, as_objects(texts), commas=commas)
    why = f"{different:,} different values in {there:,} rows are names, of which nothing can be learned"
    return Column(name, UNUSED, _NOTHING, why, texts, commas)


def _of_numbers(table: Table, name: str, numbers: np.ndarray, remarks: Remarks) -> Column:
    numbers = _finite(table, name, numbers, remarks)
    if np.isnan(numbers).all():
        why = "it is empty" if len(numbers) else "the table has no rows"
        return Column(name, UNUSED, _NOTHING, why, table.texts(name))
    return Column(name, NUMBER, numbers, texts=_few(table.texts(name)))


def numbers_of(table: Table, name: str, remarks: Remarks) -> np.ndarray:
    """A column that is to be predicted as numbers, NaN where there is none: read as one to learn from is."""
    numbers = table.numbers(name)
    if numbers is None and _is_mostly_numbers(table, name):
        numbers = _parsed(table, name, remarks)
    elif numbers is None:
        cells, wrong = _no_numbers(table, name, table.parsed(name))
        row = int(wrong.argmax())
        what = f"{table.where(row, name)}: {short(cells[row])} is no number, and numbers are to be predicted"
        raise ValueError(f"{what}: name a column of numbers, or predict classes")
    return _finite(table, name, numbers, remarks)


def _is_mostly_numbers(table: Table, name: str) -> bool:
    """Whether most of its cells are; of very many different ones the first will do to see that."""
    import pyarrow.compute as pc

    some = pc.unique(table.pointed(table.known_texts(name)).drop_null()).slice(0, 10_000).to_pylist()
    return bool(some) and bool(np.isfinite([number_in(each) for each in some]).mean() >= MOSTLY)


def _parsed(table: Table, name: str, remarks: Remarks) -> np.ndarray:
    """The numbers of a column that has a few cells which are none."""
    numbers = table.parsed(name)
    cells, wrong = _no_numbers(table, name, numbers)
    if wrong.any():
        row = int(wrong.argmax())
        what = f"{table.where(row, name)}: {short(cells[row])} is no number, unlike most cells of the column"
        remarks.mend(what, f"{counted(wrong.sum(), 'cell')} taken for missing")
    return numbers


def _no_numbers(table: Table, name: str, numbers: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """The cells of a column, and which of them say something else than a number."""
    cells = table.known_texts(name).to_pylist()
    return cells, np.array([each is not None for each in cells], dtype=bool) & np.isnan(numbers)


def _finite(table: Table, name: str, numbers: np.ndarray, remarks: Remarks) -> np.ndarray:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        what = f"{table.where(row, name)}: {numbers[row]} is no finite number"
        remarks.mend(what, f"{counted(infinite.sum(), 'cell')} taken for missing")
        numbers = np.where(infinite, np.nan, numbers)
    return numbers


def _few(texts: Any) -> Any:
    """Texts of few kinds in little memory; None for those of many, which are no categories."""
    if len(texts.slice(0, 10 * _MOST_KEPT).unique()) > _MOST_KEPT:
        return None
    encoded = texts.dictionary_encode()
    return encoded if len(encoded.dictionary) <= _MOST_KEPT else None


def _texts_of_dates(table: Table, name: str) -> Any:
    """Dates as they were written; None where Arrow knows them to be dates."""
    import pyarrow as pa

    return None if pa.types.is_temporal(table.arrow[name].type) else table.texts(name)


def _written(days: np.ndarray) -> np.ndarray:
    """Days since 1970 as 2024-01-31, with the time where there is one, None for NaN."""
    known = np.flatnonzero(~np.isnan(days))
    moments = np.round(days[known] * 86_400).astype(np.int64).astype("datetime64[s]")
    whole = moments.astype("datetime64[D]")
    found = np.full(len(days), None)
    found[known] = (whole if (whole == moments).all() else moments).astype(str)
    return found


def as_objects(texts: Any) -> np.ndarray:
    """Arrow's texts, None where there is none."""
    return np.array(texts.to_pylist(), dtype=object)
